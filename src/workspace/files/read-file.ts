import { closeSync } from "node:fs"
import type { FileLines, ReadRange, TextFormat, WholeContent, WholeText } from "../contract.ts"
import { fileFailure, onPath } from "../failures.ts"
import type { Pace } from "../pace.ts"
import { bounded, chunksOf, hashChunks, passingChunksOf } from "./durable.ts"
import { openPinned, pinFile } from "./pinned-name.ts"
import type { WorkspaceRoot } from "./root.ts"
import { bomOf, decodeText, detectFormat, isUtf8, isWide } from "./text-format.ts"

/**
 * Reads lines in one pass and bounded memory, whatever the size of the file. Throws ACODE-FS-009 for binary content.
 */
export function readLines(root: WorkspaceRoot, typed: string, range: ReadRange): FileLines {
  const reading = readingLines(root, typed, range)
  for (;;) {
    const step = reading.next()
    if (step.done === true) return step.value
  }
}

/** Reads lines as `readLines` does, and lets signals run in between, for a file that may be huge. */
export async function readLinesPaced(
  root: WorkspaceRoot,
  typed: string,
  range: ReadRange,
  pace: Pace,
): Promise<FileLines> {
  // Disposing the generator closes the file when the reading is stopped.
  using reading = readingLines(root, typed, range)
  for (;;) {
    const step = reading.next()
    if (step.done === true) return step.value
    if (pace.isDue()) await pace.rest()
  }
}

/** Yields after each piece of the file. */
function* readingLines(
  root: WorkspaceRoot,
  typed: string,
  range: ReadRange,
): Generator<undefined, FileLines, undefined> {
  const fromLine = Math.max(1, range.fromLine ?? 1)
  const lineCount = Math.max(0, range.lineCount ?? Number.MAX_SAFE_INTEGER)
  using file = pinFile(root, typed)
  const { sizeMax = Number.POSITIVE_INFINITY } = range
  if (file.stat.size > sizeMax) throw tooLarge(typed, sizeMax)
  const fd = openPinned(file, typed)
  try {
    const window = new LineWindow({ fromLine, lineCount, bytesMax: range.bytesMax })
    const seen = yield* pass(fd, window, typed, bounded(sizeMax, tooLarge(typed, sizeMax)))
    const { bytes, totalLines, cut } = window.end()
    const { text, encoding } = shownText(cut ? wholeCharacters(bytes) : bytes, seen.format)
    return {
      path: file.relative,
      text,
      fromLine,
      lineCount: countLines(text),
      totalLines,
      truncated: cut,
      encoding,
      sizeBytes: seen.sizeBytes,
      sha256: seen.sha256,
    }
  } finally {
    closeSync(fd)
  }
}

export function readWholeText(root: WorkspaceRoot, typed: string, bytesMax: number): WholeText {
  const { path, bytes, sha256 } = readWhole(root, typed, bytesMax)
  const decoded = decodeText(bytes)
  if (decoded === null) throw fileFailure("notText", typed, "is not text")
  return { path, text: decoded.text, format: decoded.format, sha256 }
}

export function readWhole(root: WorkspaceRoot, typed: string, bytesMax: number): WholeContent {
  using file = pinFile(root, typed)
  if (file.stat.size > bytesMax) throw tooLarge(typed, bytesMax)
  const fd = openPinned(file, typed)
  try {
    const pieces: Uint8Array[] = []
    let leftBytes = bytesMax
    const { sha256 } = onPath(typed, () =>
      hashChunks(chunksOf(fd), chunk => {
        // The file may grow while it is read, and some files report no size before they are read.
        leftBytes -= chunk.length
        if (leftBytes < 0) throw tooLarge(typed, bytesMax)
        pieces.push(chunk)
      }),
    )
    return { path: file.relative, bytes: Buffer.concat(pieces), sha256 }
  } finally {
    closeSync(fd)
  }
}

function* pass(fd: number, window: LineWindow, typed: string, count: (chunk: Uint8Array) => void) {
  const hasher = new Bun.CryptoHasher("sha256")
  let format: TextFormat | null = null
  let decoder: TextDecoder | null = null
  let sizeBytes = 0
  const chunks = passingChunksOf(fd)
  for (;;) {
    const { value: chunk, done } = onPath(typed, () => chunks.next())
    if (done === true) break
    count(chunk)
    hasher.update(chunk)
    let body = chunk
    if (sizeBytes === 0) {
      format = detectFormat(chunk)
      if (format === null) throw fileFailure("notText", typed, "is not text")
      decoder = isWide(format.encoding) ? new TextDecoder(format.encoding, { ignoreBOM: true }) : null
      if (format.bom) body = chunk.subarray(bomOf(format.encoding).length)
    }
    sizeBytes += chunk.length
    window.push(decoder === null ? body : Buffer.from(decoder.decode(body, { stream: true }), "utf8"))
    yield
  }
  // Half a character at the end is shown as a replacement character, so that it is visible.
  if (decoder !== null) window.push(Buffer.from(decoder.decode(), "utf8"))
  return { format, sizeBytes, sha256: hasher.digest("hex") }
}

/**
 * Decodes text for display. Wide text arrives as UTF-8; bytes that claim to be UTF-8 and are not are shown one by one.
 */
function shownText(bytes: Uint8Array, format: TextFormat | null) {
  const encoding = format?.encoding ?? "utf-8"
  if (isWide(encoding) || isUtf8(bytes)) return { text: Buffer.from(bytes).toString("utf8"), encoding }
  return { text: Buffer.from(bytes).toString("latin1"), encoding: "latin1" as const }
}

/** Removes a character that the cut divided; its first bytes alone would make the rest look like another encoding. */
function wholeCharacters(bytes: Uint8Array): Uint8Array {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if (byte < 0x80) return bytes
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 0
    if (length > 0) return back < length ? bytes.subarray(0, bytes.length - back) : bytes
  }
  return bytes
}

function countLines(text: string): number {
  let ends = 0
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) ends += 1
  return text === "" || text.endsWith("\n") ? ends : ends + 1
}

function tooLarge(typed: string, bytesMax: number) {
  return fileFailure("tooLarge", typed, `is larger than ${bytesMax} bytes`)
}

/** The lines to keep, counted from 1, and the most bytes of them. */
interface LineRange {
  readonly fromLine: number
  readonly lineCount: number
  readonly bytesMax: number
}

/**
 * Keeps one range of the lines of a file that is pushed through it. Nothing else is kept, so memory depends neither on
 * the size of the file nor on the length of its longest line.
 */
export class LineWindow {
  private readonly kept: Uint8Array[] = []
  private keptBytes = 0
  private newlines = 0
  private lastByte = newline
  private cut = false

  constructor(private readonly range: LineRange) {}

  push(chunk: Uint8Array): void {
    if (chunk.length === 0) return
    // The line that the next byte belongs to.
    let line = this.newlines + 1
    const { fromLine, lineCount } = this.range
    const lineAfter = fromLine + lineCount
    let start = line < fromLine ? chunk.length : 0
    let end = line < lineAfter ? chunk.length : 0
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, at + 1)) {
      line += 1
      if (line === fromLine) start = at + 1
      if (line === lineAfter) end = at + 1
    }
    this.newlines = line - 1
    this.lastByte = chunk[chunk.length - 1] ?? newline
    if (start < end) this.keep(chunk.subarray(start, end))
  }

  end(): { readonly bytes: Uint8Array; readonly totalLines: number; readonly cut: boolean } {
    return {
      bytes: Buffer.concat(this.kept),
      totalLines: this.newlines + (this.lastByte === newline ? 0 : 1),
      cut: this.cut,
    }
  }

  private keep(piece: Uint8Array): void {
    const leftBytes = this.range.bytesMax - this.keptBytes
    if (piece.length > leftBytes) this.cut = true
    if (leftBytes <= 0) return
    // A copy, because the memory of a chunk is reused for the next one.
    const part = new Uint8Array(piece.subarray(0, leftBytes))
    this.kept.push(part)
    this.keptBytes += part.length
  }
}

const newline = 0x0a
