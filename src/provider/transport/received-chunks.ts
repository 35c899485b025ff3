import { modelFailure } from "../failures.ts"
import { ReplyFault } from "../reply-fault.ts"
import type { Attempt } from "./attempt.ts"
import { httpFailure } from "./http-failure.ts"

const replyBytesMax = 64 * 1024 * 1024

/**
 * A body piece by piece, under the limits of its attempt, which ends with it. Not a generator: one that was never
 * started ignores that it is returned, and the connection would stay.
 */
export function receivedChunks(
  body: ReadableStream<Uint8Array> | null,
  attempt: Attempt,
  name: string,
): AsyncIterable<Uint8Array> {
  const reader = body?.getReader()
  if (reader === undefined) attempt.end()
  let bytes = 0
  let isOver = reader === undefined
  const end = () => {
    isOver = true
    attempt.end()
  }
  const iterator: AsyncIterator<Uint8Array> = {
    async next() {
      if (isOver || reader === undefined) return { done: true, value: undefined }
      try {
        if (bytes > 0) attempt.limit("betweenMs")
        const piece = await attempt.within(reader.read())
        attempt.pause()
        if (!piece.done) {
          bytes += piece.value.byteLength
          if (bytes > replyBytesMax) throw tooLong(name)
          return piece
        }
      } catch (error) {
        end()
        throw new ReplyFault(httpFailure(error, name))
      }
      end()
      return { done: true, value: undefined }
    },
    async return() {
      end()
      return { done: true, value: undefined }
    },
  }
  return { [Symbol.asyncIterator]: () => iterator }
}

function tooLong(name: string): ReplyFault {
  return new ReplyFault(
    modelFailure("malformed", `the answer of ${name} is longer than ${replyBytesMax} bytes`),
  )
}
