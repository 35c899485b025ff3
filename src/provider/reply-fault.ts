import { messageOf } from "../base/assert.ts"
import type { ModelFailure, ModelItem } from "./contract.ts"
import { modelFailure } from "./failures.ts"

/** A reply cannot be had or read. Thrown only inside of this room: whoever asks gets it as an item. */
export class ReplyFault extends Error {
  constructor(readonly failure: ModelFailure) {
    super(failure.message)
  }
}

/** The same items, with what is thrown told as the last one. */
export async function* faultsAsItems(items: AsyncIterable<ModelItem>): AsyncGenerator<ModelItem> {
  try {
    yield* items
  } catch (error) {
    yield { kind: "failure", failure: failureOf(error) }
  }
}

export function failureOf(error: unknown): ModelFailure {
  if (error instanceof ReplyFault) return error.failure
  return modelFailure("malformed", `the reply cannot be read: ${messageOf(error)}`)
}
