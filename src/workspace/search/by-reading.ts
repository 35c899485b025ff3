import { closeSync, constants, openSync, readFileSync } from "node:fs"
import { errnoOf } from "../../base/assert.ts"
import type { Clock } from "../../base/clock.ts"
import { Failure } from "../../domain/failure.ts"
import type { SearchRow } from "../contract.ts"
import { fileFailure } from "../failures.ts"
import { pin } from "../pin.ts"
import { decodeText } from "../text-format.ts"
import { walkFiles } from "../tree/walk.ts"
import { compileLineMatcher, type LineMatcher } from "./line-matcher.ts"
import { type FoundRows, rowLengthMax, type SearchScope } from "./scope.ts"

/** Longer files are not searched, and the result says that it is not all. */
const fileBytesMax = 16 * 1024 * 1024

/** The engine for machines without ripgrep: the same dialect, bounded in time and in the size of files. */
export function searchByReading(scope: SearchScope, clock: Clock): FoundRows {
  const matcher = compileLineMatcher(scope.pattern)
  const deadline = clock.monotonicMs() + scope.timeoutMs
  const files = scope.isFile ? [scope.start] : walkFiles(scope.root.path, scope.start, scope.isHidden)
  const rows: SearchRow[] = []
  let truncated = false
  for (const path of files) {
    if (clock.monotonicMs() > deadline) return { rows, truncated: true }
    if (!scope.accepts(path)) continue
    const content = contentOf(scope, path)
    if (content === "tooLarge" && scope.isFile)
      throw fileFailure("tooLarge", path, `is larger than the ${fileBytesMax} bytes that are searched`)
    if (content === "tooLarge") truncated = true
    if (content === null || content === "tooLarge") continue
    if (!collect(matcher, path, content, scope.matchesMax + 1, rows, () => clock.monotonicMs() > deadline))
      return { rows, truncated: true }
  }
  return { rows, truncated }
}

/** False when there is no room or no time for more. */
function collect(
  matcher: LineMatcher,
  path: string,
  bytes: Uint8Array,
  rowsMax: number,
  rows: SearchRow[],
  isLate: () => boolean,
): boolean {
  const { required } = matcher
  const isPlain = bytes[0] !== 0xff && bytes[0] !== 0xfe
  if (
    required !== null &&
    isPlain &&
    !Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(required)
  )
    return true
  const text = decodeText(bytes)?.text ?? ""
  let number = 0
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf("\n", start)
    const end = newline < 0 ? text.length : newline
    number += 1
    const line = text.slice(start, end).replace(/\r$/, "")
    start = end + 1
    if (number % 1000 === 0 && isLate()) return false
    if (required !== null && !line.includes(required)) continue
    if (!matcher.matches(line)) continue
    if (rows.length >= rowsMax) return false
    rows.push({ file_path: path, line_number: number, line: line.slice(0, rowLengthMax) })
  }
  return true
}

/** Null for what is no text, no file any more, or not readable: nothing is found in it. */
function contentOf({ root }: SearchScope, path: string): Uint8Array | "tooLarge" | null {
  try {
    using file = pin(root, path, "never")
    if (!file?.stat.isFile()) return null
    if (file.stat.size > fileBytesMax) return "tooLarge"
    const fd = openSync(file.at, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      return readFileSync(fd)
    } finally {
      closeSync(fd)
    }
  } catch (error) {
    if (error instanceof Failure || errnoOf(error) !== null) return null
    throw error
  }
}
