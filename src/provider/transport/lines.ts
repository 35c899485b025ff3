import { modelFailure } from "../failures.ts"
import { ReplyFault } from "../reply-fault.ts"

const lineBytesMax = 16 * 1024 * 1024
const lineFeed = 0x0a
const carriageReturn = 0x0d

/**
 * Lines that end with LF, CR or CRLF, wherever the chunks are cut. They are cut as bytes and decoded whole, so that no
 * character is ever half. A last line without an end counts. They come together as their chunk did, because waiting for
 * each one takes longer than reading it; those of one chunk have to be read before the next are asked for.
 */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Iterable<string>> {
  let parts: Uint8Array[] = []
  let bytes = 0
  let isFirst = true
  let isAfterReturn = false
  const take = (part: Uint8Array) => {
    bytes += part.byteLength
    if (bytes > lineBytesMax)
      throw new ReplyFault(
        modelFailure("malformed", `the answer has a line of more than ${lineBytesMax} bytes`),
      )
    parts.push(part)
  }
  const finish = () => {
    const line = decoded(parts, isFirst)
    parts = []
    bytes = 0
    isFirst = false
    return line
  }
  const linesIn = function* (chunk: Uint8Array): Generator<string> {
    let start = 0
    for (let index = 0; index < chunk.byteLength; index++) {
      const byte = chunk[index]
      const isSecondOfPair = isAfterReturn && byte === lineFeed
      isAfterReturn = byte === carriageReturn
      if (byte !== lineFeed && byte !== carriageReturn) continue
      if (!isSecondOfPair) {
        take(chunk.subarray(start, index))
        yield finish()
      }
      start = index + 1
    }
    if (start < chunk.byteLength) take(chunk.subarray(start))
  }
  for await (const chunk of chunks) yield linesIn(chunk)
  if (bytes > 0) yield [finish()]
}

function decoded(parts: readonly Uint8Array[], isFirst: boolean): string {
  const line = Buffer.concat(parts).toString("utf8")
  // A byte order mark is no part of what is said.
  return isFirst && line.startsWith("\ufeff") ? line.slice(1) : line
}
