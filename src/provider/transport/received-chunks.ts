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
  const read = async (): Promise<Uint8Array | null> => {
    if (isOver || reader === undefined) return null
    if (bytes > 0) attempt.limit("betweenMs")
    const { value, done } = await attempt.within(reader.read())
    if (done) return null
    attempt.pause()
    bytes += value.byteLength
    if (bytes > replyBytesMax)
      throw new ReplyFault(
        modelFailure("malformed", `the answer of ${name} is longer than ${replyBytesMax} bytes`),
      )
    return value
  }
  const iterator: AsyncIterator<Uint8Array> = {
    async next() {
      try {
        const value = await read()
        if (value !== null) return { done: false, value }
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
