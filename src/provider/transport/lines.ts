import type { Json } from "../../base/canonical.ts"
import { modelFailure, ReplyFault } from "../reply-fault.ts"
import type { PieceReader } from "../streamed-items.ts"
import { foreignJson } from "./foreign-json.ts"

const lineLengthMax = 16 * 1024 * 1024

/**
 * Splits chunks into lines that end with LF, CR or CRLF, wherever a chunk ends; the last line needs no end. A byte
 * order mark at the beginning is removed. Throws `ReplyFault` for a line that is too long.
 */
export function lineReader(lines: PieceReader<string>): PieceReader<Uint8Array> {
  const decoder = new TextDecoder("utf-8")
  let begun = ""
  let isAfterReturn = false
  const take = (decoded: string) => {
    const text = isAfterReturn && decoded.startsWith("\n") ? decoded.slice(1) : decoded
    if (decoded !== "") isAfterReturn = decoded.endsWith("\r")
    const pieces = text.includes("\r") ? text.split(/\r\n|\r|\n/) : text.split("\n")
    const last = pieces.length - 1
    for (let index = 0; index <= last; index++) {
      begun += pieces[index] ?? ""
      if (begun.length > lineLengthMax) throw tooLong()
      if (index === last) return
      const line = begun
      begun = ""
      lines.take(line)
    }
  }
  return {
    take: chunk => take(decoder.decode(chunk, { stream: true })),
    end: () => {
      take(decoder.decode())
      if (begun !== "") lines.take(begun)
      lines.end()
    },
  }
}

function tooLong(): ReplyFault {
  return new ReplyFault(
    modelFailure("malformed", `the answer has a line of more than ${lineLengthMax} characters`),
  )
}

/** Parses one value for each line that is not blank. Throws `ReplyFault` for a line that is not JSON. */
export function jsonLineReader(values: PieceReader<Json>): PieceReader<Uint8Array> {
  return lineReader({
    take: line => {
      if (line.trim() !== "") values.take(foreignJson(line))
    },
    end: () => values.end(),
  })
}
