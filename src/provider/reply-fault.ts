import { messageOf } from "../base/assert.ts"
import type { ModelFailure, ModelFailureKind, ModelItem } from "./contract.ts"
import type { Items } from "./streamed-items.ts"

/** Thrown inside this folder when a reply cannot be obtained or read; the caller gets it as an item. */
export class ReplyFault extends Error {
  constructor(readonly failure: ModelFailure) {
    super(failure.message)
  }
}

type Batches = AsyncIterable<Items> | Iterable<Items>

/**
 * Yields the items of a reply for the caller: an error becomes the last item, and so does an abort; nothing follows the
 * end. Removes secrets from the server's texts, all of which pass through here.
 */
export async function* itemsWithFailure(
  ask: () => Batches | Promise<Batches>,
  signal: AbortSignal,
  withoutSecret = (text: string) => text,
): AsyncGenerator<ModelItem> {
  try {
    for await (const items of await ask())
      for (const item of items) {
        if (signal.aborted) return yield { kind: "failure", failure: abortedFailure }
        yield readable(item, withoutSecret)
        if (item.kind === "end" || item.kind === "failure") return
      }
  } catch (error) {
    const failure = signal.aborted ? abortedFailure : failureOf(error)
    yield readable({ kind: "failure", failure }, withoutSecret)
  }
}

function readable(item: ModelItem, withoutSecret: (text: string) => string): ModelItem {
  if (item.kind === "problem") return { ...item, text: withoutSecret(item.text) }
  if (item.kind !== "failure") return item
  const { failure } = item
  return { kind: "failure", failure: { ...failure, message: withoutSecret(failure.message) } }
}

export function failureOf(error: unknown): ModelFailure {
  if (error instanceof ReplyFault) return error.failure
  return modelFailure("malformed", `the reply cannot be read: ${messageOf(error)}`)
}

/** Kinds of failure that may not occur when the request is repeated. */
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

export function failedItem(kind: ModelFailureKind, message: string): ModelItem {
  return { kind: "failure", failure: modelFailure(kind, message) }
}

export const abortedFailure = modelFailure("aborted", "the request was stopped")
