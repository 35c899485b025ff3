import type { RedactedSpan } from "./contract.ts"
import type { StageMaker } from "./stage.ts"

/** Passes a whole text through one stage. */
export type RunStage = (create: StageMaker, bytes: Uint8Array) => Uint8Array

/**
 * Returns the spans that the stages replace in a text one after the other. `redact` passes the text through all of
 * them.
 */
export function redactionSpans(
  text: string,
  redact: (bytes: Uint8Array, run: RunStage) => Uint8Array,
): readonly RedactedSpan[] {
  const source = encodeLossless(text)
  let spans: readonly ByteSpan[] = []
  const redacted = redact(source, (create, bytes) => {
    const replaced: ByteSpan[] = []
    const stage = create((from, to, replacement) => replaced.push({ from, to, length: replacement.length }))
    const result = stage.push(bytes, true)
    spans = replaced.length === 0 ? spans : composed(spans, replaced)
    return result
  })
  return spans.length === 0 ? [] : textSpans(text, source, redacted, spans)
}

/** A span of the input, and the length of its replacement in the output. */
interface ByteSpan {
  readonly from: number
  readonly to: number
  readonly length: number
}

/**
 * Composes the replacements of two stages. Spans of both that overlap in the text between them become one, with its
 * ends in the input and in the output.
 */
function composed(first: readonly ByteSpan[], second: readonly ByteSpan[]): ByteSpan[] {
  const writes = outputsOf(first)
  const stretches = [...writes, ...second].toSorted((a, b) => a.from - b.from || a.to - b.to)
  const merged: { from: number; to: number }[] = []
  for (const { from, to } of stretches) {
    const last = merged.at(-1)
    if (last !== undefined && from < last.to) last.to = Math.max(last.to, to)
    else merged.push({ from, to })
  }
  const toInput = carryOf(writes, first)
  const toOutput = carryOf(second, outputsOf(second))
  return merged.map(({ from, to }) => {
    const outputStart = toOutput(from)
    return { from: toInput(from), to: toInput(to), length: toOutput(to) - outputStart }
  })
}

/** Returns the positions of the replacements in the output. */
function outputsOf(spans: readonly ByteSpan[]): ByteSpan[] {
  let shift = 0
  return spans.map(({ from, to, length }) => {
    const start = from + shift
    shift += length - (to - from)
    return { from: start, to: start + length, length }
  })
}

/** Translates an edge of a span from one text to another. Calls must be in order, so each list is read once. */
function carryOf(here: readonly ByteSpan[], there: readonly ByteSpan[]): (edge: number) => number {
  let passed = 0
  return edge => {
    while (passed < here.length && (here[passed]?.to ?? 0) <= edge) passed += 1
    return edge + (there[passed - 1]?.to ?? 0) - (here[passed - 1]?.to ?? 0)
  }
}

function textSpans(
  text: string,
  source: Uint8Array,
  redacted: Uint8Array,
  spans: readonly ByteSpan[],
): readonly RedactedSpan[] {
  const isTorn = (edge: number) => ((source[edge] ?? 0) & 0xc0) === 0x80
  // A pattern of bytes can match half a character, which has no position in a text: then all of it is one span.
  if (spans.some(({ from, to }) => isTorn(from) || isTorn(to)))
    return [{ start: 0, end: text.length, replacement: decodeLossless(redacted) }]
  let [at, end, written] = [0, 0, 0]
  return spans.map(({ from, to, length }) => {
    const start = end + decodeLossless(source.subarray(at, from)).length
    written += from - at
    end = start + decodeLossless(source.subarray(from, to)).length
    const replacement = decodeLossless(redacted.subarray(written, written + length))
    written += length
    at = to
    return { start, end, replacement }
  })
}

/**
 * Encodes a text without loss. A lone surrogate has no UTF-8 form; it becomes the three bytes of the same scheme,
 * which valid UTF-8 never contains. Replacing it by U+FFFD would alter text outside secrets.
 */
export function encodeLossless(text: string): Uint8Array {
  if (text.isWellFormed()) return Buffer.from(text, "utf8")
  return Buffer.concat(
    text.split(/([\ud800-\udfff])/u).map((piece, index) => {
      if (index % 2 === 0) return Buffer.from(piece, "utf8")
      const unit = piece.charCodeAt(0)
      return Buffer.from([0xed, 0x80 | ((unit >> 6) & 0x3f), 0x80 | (unit & 0x3f)])
    }),
  )
}

export function decodeLossless(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  let text = ""
  let from = 0
  for (let at = buffer.indexOf(0xed); at >= 0; at = buffer.indexOf(0xed, at + 1)) {
    const second = buffer[at + 1] ?? 0
    if (second < 0xa0) continue
    const unit = 0xd000 | ((second & 0x3f) << 6) | ((buffer[at + 2] ?? 0) & 0x3f)
    text += buffer.toString("utf8", from, at) + String.fromCharCode(unit)
    from = at + 3
  }
  return text + buffer.toString("utf8", from)
}
