/** A file as text, with the way from positions in the text to bytes and lines of the file. */
export interface SourceText {
  readonly text: string
  /** The offset in the file of a position in the text. */
  byteAt(index: number): number
  /** Counted from 1. */
  lineAt(index: number): number
}

/** Returns the text of a file, or why it is not read. */
export function decodeSource(
  bytes: Uint8Array,
  lineCharactersMax: number,
): SourceText | { readonly reason: string } {
  if (bytes.includes(0)) return { reason: "it contains a NUL byte: it is binary, or UTF-16" }
  let text: string
  try {
    text = strictUtf8.decode(bytes)
  } catch {
    // Thrown for bytes that are not UTF-8, and for nothing else.
    return { reason: "it is not UTF-8" }
  }
  const lineStarts = lineStartsOf(text)
  if (longestLine(text, lineStarts) > lineCharactersMax)
    return { reason: `a line is longer than ${lineCharactersMax} characters` }
  const byteAt = byteOffsets(text, bytes.length)
  return { text, byteAt, lineAt: index => lastAtMost(lineStarts, index) + 1 }
}

const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

function lineStartsOf(text: string): readonly number[] {
  const starts = [0]
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1)
  return starts
}

function longestLine(text: string, starts: readonly number[]): number {
  let longest = 0
  for (const [index, start] of starts.entries())
    longest = Math.max(longest, (starts[index + 1] ?? text.length) - start)
  return longest
}

/** Text of ASCII alone needs no table. */
function byteOffsets(text: string, byteCount: number): (index: number) => number {
  if (text.length === byteCount) return index => index
  const offsets = new Uint32Array(text.length + 1)
  let offset = 0
  for (let index = 0; index < text.length; index++) {
    offsets[index] = offset
    offset += utf8Length(text.charCodeAt(index))
  }
  offsets[text.length] = offset
  return index => offsets[index] ?? offset
}

/** Each half of a surrogate pair counts for two of its four bytes. */
function utf8Length(unit: number): number {
  if (unit < 0x80) return 1
  if (unit < 0x800) return 2
  return unit >= 0xd800 && unit <= 0xdfff ? 2 : 3
}

function lastAtMost(sorted: readonly number[], value: number): number {
  let low = 0
  let high = sorted.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((sorted[middle] ?? 0) <= value) low = middle
    else high = middle - 1
  }
  return low
}
