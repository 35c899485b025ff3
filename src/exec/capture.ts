import { isUtf8 } from "node:buffer"
import { sha256Hex } from "../base/canonical.ts"
import type { TruncatedStream } from "../domain/command-result.ts"
import type { Redactor } from "../redaction/contract.ts"

/** One output stream of a process, however much of it there is. */
export interface Capture {
  add(chunk: Uint8Array): void
  /** Redacts the kept bytes, once, and returns the text of the result. Call it after the last `add`. */
  finish(redactor: Redactor): CapturedStream
}

export interface CapturedStream {
  readonly text: string
  readonly truncation: TruncatedStream | null
  readonly artifact: Artifact | null
}

export interface Artifact {
  readonly ref: string
  readonly bytes: Uint8Array
}

export interface CaptureLimits {
  /** The number of bytes kept in the result. */
  readonly outputBytesMax: number
  /** The number of bytes kept as an artifact when the output is longer than the result may be; 0 keeps none. */
  readonly artifactBytesMax: number
}

/**
 * Bytes kept beyond each edge of a gap. They are redacted with the rest and then thrown away, so that a secret that
 * lies across the edge is recognised whole. No secret is longer than this.
 */
const marginBytes = 16 * 1024

export const nothingCaptured: CapturedStream = { text: "", truncation: null, artifact: null }

/** Keeps the head and the tail, the true size and the hash of all of it; the middle of a long stream is let go. */
export function createCapture(limits: CaptureLimits): Capture {
  const edgeBytes = Math.ceil(Math.max(limits.outputBytesMax, limits.artifactBytesMax) / 2) + marginBytes
  const head = new ByteWindow(edgeBytes)
  const tail = new ByteWindow(edgeBytes)
  const hasher = new Bun.CryptoHasher("sha256")
  let originalBytes = 0

  return {
    add: chunk => {
      originalBytes += chunk.length
      hasher.update(chunk)
      const room = edgeBytes - head.bytes
      if (room > 0) head.push(chunk.subarray(0, room))
      if (room >= chunk.length) return
      tail.push(chunk.subarray(Math.max(0, room)))
    },
    finish: redactor => {
      const gapBytes = Math.max(0, originalBytes - head.bytes - edgeBytes)
      const kept =
        gapBytes > 0
          ? redactedEdges(head.take(), gapBytes, tail.take(), redactor)
          : { head: redactor.redactBytes(joined(head.take(), tail.take())), gapBytes, tail: none }
      return captured(kept, originalBytes, () => hasher.digest("hex"), limits)
    },
  }
}

const none = new Uint8Array(0)

function joined(head: Uint8Array, tail: Uint8Array): Uint8Array {
  return tail.length === 0 ? head : Buffer.concat([head, tail])
}

/**
 * Redacts both edges and cuts the margins off. A secret that the gap cut through is still there, unrecognised, at the
 * very edge, and being shorter than the margin it goes with it.
 */
function redactedEdges(head: Uint8Array, gapBytes: number, tail: Uint8Array, redactor: Redactor): KeptOutput {
  const [before = none, after = none] = redactor.redactParts([head, tail])
  const end = safeEnd(before, Math.max(0, before.length - marginBytes))
  const start = safeStart(after, Math.min(after.length, marginBytes))
  return {
    head: before.subarray(0, end),
    gapBytes: gapBytes + (before.length - end) + start,
    tail: after.subarray(start),
  }
}

function captured(
  kept: KeptOutput,
  originalBytes: number,
  digest: () => string,
  { outputBytesMax, artifactBytesMax }: CaptureLimits,
): CapturedStream {
  const shown = cutOutput(kept, outputBytesMax)
  const isWhole = shown.omittedBytes === 0
  const artifact = isWhole && isUtf8(shown.bytes) ? null : artifactOf(kept, artifactBytesMax)
  // The mark at the beginning of a file belongs to the output; a decoder would drop it by default.
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(shown.bytes)
  if (isWhole) return { text, truncation: null, artifact }
  const keptBytes = Math.max(0, originalBytes - shown.omittedBytes)
  return {
    text,
    truncation: { originalBytes, keptBytes, sha256: digest(), artifact: artifact?.ref ?? null },
    artifact,
  }
}

function artifactOf(kept: KeptOutput, bytesMax: number): Artifact | null {
  if (bytesMax === 0) return null
  const { bytes } = cutOutput(kept, bytesMax)
  return { ref: `sha256:${sha256Hex(bytes)}`, bytes }
}

const smallBytes = 64 * 1024

/**
 * Keeps the newest bytes of a stream, up to a capacity, in one buffer of its own. Keeping the chunks themselves would
 * save the copy and cost far more: a chunk that is dropped after a while has grown old, and the collector leaves old
 * garbage lying until there are a hundred megabytes of it.
 */
export class ByteWindow {
  private buffer = new Uint8Array(0)
  /** The position of the next byte. */
  private end = 0
  private isWrapped = false

  constructor(readonly capacity: number) {}

  get bytes(): number {
    return this.isWrapped ? this.capacity : this.end
  }

  push(chunk: Uint8Array): void {
    const wanted = chunk.length > this.capacity ? chunk.subarray(chunk.length - this.capacity) : chunk
    this.makeRoom(wanted.length)
    const first = wanted.subarray(0, this.buffer.length - this.end)
    this.buffer.set(first, this.end)
    this.end += first.length
    const rest = wanted.subarray(first.length)
    if (rest.length === 0) return
    this.buffer.set(rest, 0)
    this.end = rest.length
    this.isWrapped = true
  }

  /** Gives the bytes away, oldest first, and is empty then. */
  take(): Uint8Array {
    const taken = this.buffer.subarray(0, this.bytes)
    if (this.isWrapped) rotate(taken, this.end)
    this.buffer = new Uint8Array(0)
    this.end = 0
    this.isWrapped = false
    return taken
  }

  /**
   * Small output is the rule and gets a small buffer. Beyond it the whole capacity is taken at once: memory that is not
   * written to costs nothing, while growing step by step would leave as much garbage as it gains.
   */
  private makeRoom(more: number): void {
    const wanted = this.end + more
    if (wanted <= this.buffer.length || this.buffer.length === this.capacity) return
    const grown = new Uint8Array(wanted <= smallBytes ? Math.min(smallBytes, this.capacity) : this.capacity)
    grown.set(this.buffer.subarray(0, this.end))
    this.buffer = grown
  }
}

/** Moves the first `count` bytes behind the others, in place: turning both parts and then the whole needs no copy. */
function rotate(bytes: Uint8Array, count: number): void {
  bytes.subarray(0, count).reverse()
  bytes.subarray(count).reverse()
  bytes.reverse()
}

/** Redacted output: all of it, or its head and its tail with a gap in between. */
export interface KeptOutput {
  readonly head: Uint8Array
  /** Bytes between head and tail that were not kept. 0 means that the head is all there is. */
  readonly gapBytes: number
  readonly tail: Uint8Array
}

interface CutOutput {
  readonly bytes: Uint8Array
  /** 0 when nothing is missing. */
  readonly omittedBytes: number
}

/**
 * Cuts output to a size: half from its beginning, half from its end, and a line in between that says how much is
 * missing. No character and no `[REDACTED:…]` is cut through. The line comes on top of the size.
 */
export function cutOutput({ head, gapBytes, tail }: KeptOutput, bytesMax: number): CutOutput {
  if (gapBytes === 0 && head.length <= bytesMax) return { bytes: head, omittedBytes: 0 }
  const half = Math.floor(bytesMax / 2)
  const last = gapBytes === 0 ? head : tail
  const end = safeEnd(head, Math.min(half, head.length))
  const start = safeStart(last, Math.max(0, last.length - (bytesMax - half)))
  const missing = gapBytes === 0 ? start - end : gapBytes + (head.length - end) + start
  const first = head.subarray(0, end)
  const bytes = Buffer.concat([first, Buffer.from(marker(first, missing)), last.subarray(start)])
  return { bytes, omittedBytes: missing }
}

function marker(before: Uint8Array, omittedBytes: number): string {
  const isAtLineStart = before.length === 0 || before.at(-1) === 0x0a
  return `${isAtLineStart ? "" : "\n"}[OUTPUT TRUNCATED: ${omittedBytes} bytes omitted]\n`
}

/** The last place at or before `wanted` where output may end. */
export function safeEnd(bytes: Uint8Array, wanted: number): number {
  const redaction = redactionAround(bytes, wanted)
  return redaction === null ? characterStart(bytes, wanted, -1) : redaction.start
}

/** The first place at or after `wanted` where output may begin. */
export function safeStart(bytes: Uint8Array, wanted: number): number {
  const redaction = redactionAround(bytes, wanted)
  return redaction === null ? characterStart(bytes, wanted, 1) : redaction.end
}

const redactionOpening = "[REDACTED:"
const redactionBytesMax = 64

/** The `[REDACTED:kind]` that the place `at` lies strictly inside of. */
function redactionAround(bytes: Uint8Array, at: number): { start: number; end: number } | null {
  if (at === 0) return null
  const from = Math.max(0, at - redactionBytesMax)
  const window = Buffer.from(
    bytes.buffer,
    bytes.byteOffset + from,
    Math.min(bytes.length, at + redactionBytesMax) - from,
  )
  const start = window.lastIndexOf(redactionOpening, at - from - 1, "latin1")
  if (start < 0) return null
  const close = window.indexOf("]", start)
  return close < 0 || from + close < at ? null : { start: from + start, end: from + close + 1 }
}

/** Moves off the inside of a UTF-8 character; in bytes that are no UTF-8 it gives up after three. */
function characterStart(bytes: Uint8Array, wanted: number, step: 1 | -1): number {
  for (let moved = 0; moved <= 3; moved++) {
    const place = wanted + moved * step
    if (place <= 0 || place >= bytes.length || ((bytes[place] ?? 0) & 0xc0) !== 0x80) return place
  }
  return wanted
}
