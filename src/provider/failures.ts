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
