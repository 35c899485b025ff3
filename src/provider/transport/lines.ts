import { modelFailure } from "../failures.ts"
import { ReplyFault } from "../reply-fault.ts"

const lineLengthMax = 16 * 1024 * 1024

/** Cuts what comes into lines that end with LF, CR or CRLF, wherever its chunks end. */
export interface LineReader {
  /** The lines that are whole now. They have to be read before the next chunk is taken. */
  take(chunk: Uint8Array): Iterable<string>
  /** A last line needs no end. */
  rest(): Iterable<string>
}

/** A byte order mark at the beginning is no part of what is said. Throws `ReplyFault` at a line that is too long. */
export function createLineReader(): LineReader {
  const decoder = new TextDecoder("utf-8")
  let begun = ""
  let isAfterReturn = false
  const linesIn = function* (decoded: string): Generator<string> {
    const text = isAfterReturn && decoded.startsWith("\n") ? decoded.slice(1) : decoded
    if (decoded !== "") isAfterReturn = decoded.endsWith("\r")
    const lines = text.includes("\r") ? text.split(/\r\n|\r|\n/) : text.split("\n")
    const last = lines.length - 1
    for (let index = 0; index <= last; index++) {
      begun += lines[index] ?? ""
      if (begun.length > lineLengthMax) throw tooLong()
      if (index === last) return
      const line = begun
      begun = ""
      yield line
    }
  }
  return {
    take: chunk => linesIn(decoder.decode(chunk, { stream: true })),
    *rest() {
      yield* linesIn(decoder.decode())
      if (begun !== "") yield begun
    },
  }
}

function tooLong(): ReplyFault {
  return new ReplyFault(
    modelFailure("malformed", `the answer has a line of more than ${lineLengthMax} characters`),
  )
}
