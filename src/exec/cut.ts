/** Redacted output: everything, or what is left of its beginning and its end with a gap in between. */
export interface KeptOutput {
  readonly head: Uint8Array
  /** Bytes between head and tail that were not kept. 0 means that the head is all there is. */
  readonly gapBytes: number
  readonly tail: Uint8Array
}

export interface CutOutput {
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
