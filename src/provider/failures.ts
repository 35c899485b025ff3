import type { ModelFailure, ModelFailureKind, ModelItem } from "./contract.ts"

/** Kinds that may be gone when the same is asked again. */
const retryableKinds: ReadonlySet<ModelFailureKind> = new Set([
  "rateLimited",
  "overloaded",
  "timeout",
  "unavailable",
  "truncated",
  "malformed",
])

export function modelFailure(kind: ModelFailureKind, message: string): ModelFailure {
  return { kind, message, retryable: retryableKinds.has(kind), retryAfterMs: null }
}

export function failed(kind: ModelFailureKind, message: string): ModelItem {
  return { kind: "failure", failure: modelFailure(kind, message) }
}

export const abortedFailure = modelFailure("aborted", "the request was stopped")

/** The same items until the signal fires, and then only that they were stopped. Nothing follows the end of a reply. */
export async function* untilAborted(
  items: AsyncIterable<ModelItem>,
  signal: AbortSignal,
): AsyncGenerator<ModelItem> {
  for await (const item of items) {
    if (signal.aborted) return yield { kind: "failure", failure: abortedFailure }
    yield item
    if (item.kind === "end" || item.kind === "failure") return
  }
}
