import {
  isOpen,
  lengthOfNoUnit,
  readUnit,
  sequenceBytesMax,
  type Unit,
  unitPairs,
  unitTriggers,
} from "./readable-unit.ts"
import type { Edits } from "./stage.ts"

/**
 * A text as its reader sees it: without terminal sequences, with the escapes of JSON, XML and nested shell quotes
 * decoded. Secrets are searched for in `bytes`, so that no decoration hides one; the original text is replaced.
 */
export interface ReadableText {
  /** The decoded bytes; the given array itself when it has no decoration. */
  readonly bytes: Uint8Array
  /** The length of the covered source; a sequence whose end has not arrived is not covered. */
  readonly sourceEnd: number
  /** Returns the position of a byte in the source, behind the sequences before it. */
  startOf(at: number): number
  /** Returns the end of the byte before `at` in the source, in front of the sequences behind it. */
  endOf(at: number): number
  /** Returns the number of readable bytes before a position of the source. */
  readableAt(source: number): number
  /** Returns the link targets, window titles and other invisible texts between two positions of the source. */
  payloads(from: number, to: number): readonly Payload[]
}

interface Payload {
  readonly start: number
  readonly end: number
}

/** The deepest nesting. In JSON that contains XML the ampersands of escapes are escaped as well. */
const levelsMax = 3

export function readableText(source: Uint8Array, isFinal: boolean, level = 1): ReadableText {
  const first = firstTrigger(source, isFinal)
  if (first < 0) return asWritten(source, source.length)
  const decoder = new Decoder(source)
  const sourceEnd = readUnits(source, first, isFinal, decoder)
  if (decoder.starts.length === 0) return asWritten(source, sourceEnd)
  const text = decoder.finish(sourceEnd)
  return decoder.mayNest && level < levelsMax
    ? nested(text, readableText(text.bytes, isFinal, level + 1))
    : text
}

/** Decodes a text that was decoded from another one, with positions of the original source. */
function nested(outer: ReadableText, inner: ReadableText): ReadableText {
  if (inner.bytes === outer.bytes) return outer
  return {
    bytes: inner.bytes,
    sourceEnd: inner.sourceEnd === outer.bytes.length ? outer.sourceEnd : outer.startOf(inner.sourceEnd),
    startOf: at => outer.startOf(inner.startOf(at)),
    endOf: at => outer.endOf(inner.endOf(at)),
    readableAt: source => inner.readableAt(outer.readableAt(source)),
    payloads: outer.payloads,
  }
}

/** Copies a stretch of the source and redacts its invisible texts separately. */
export function keepText(
  source: Uint8Array,
  text: ReadableText,
  edits: Edits,
  from: number,
  to: number,
  redactPayload: (payload: Uint8Array) => Uint8Array,
): void {
  let copied = from
  for (const { start, end } of text.payloads(from, to)) {
    const payload = source.subarray(start, end)
    const redacted = redactPayload(payload)
    if (redacted === payload) continue
    edits.keep(copied, start)
    edits.add(redacted)
    copied = end
  }
  edits.keep(copied, to)
}

function asWritten(source: Uint8Array, sourceEnd: number): ReadableText {
  return {
    bytes: sourceEnd === source.length ? source : source.subarray(0, sourceEnd),
    sourceEnd,
    startOf: at => at,
    endOf: at => at,
    readableAt: at => at,
    payloads: () => [],
  }
}

const singleQuote = 39
const doubleQuote = 34
const quotePairs = [`''`, `'"`, `"'`, `""`]

/** Returns the earliest position at which the first unit can begin; -1 when none can, as in nearly every text. */
function firstTrigger(source: Uint8Array, isFinal: boolean): number {
  const view = Buffer.from(source.buffer, source.byteOffset, source.length)
  let first = -1
  for (const pair of quotePairs) first = earlier(first, view.indexOf(pair))
  for (const byte of [27, 92, 38]) first = earlier(first, source.indexOf(byte))
  if (!isFinal)
    for (const quote of [singleQuote, doubleQuote])
      first = earlier(first, source.indexOf(quote, Math.max(0, source.length - 4)))
  // A quote before a backslash may belong to it.
  return first > 0 ? first - 1 : first
}

function earlier(first: number, second: number): number {
  return first < 0 || (second >= 0 && second < first) ? second : first
}

/** Collects the units and returns the start of the first incomplete one, or the end. */
function readUnits(source: Uint8Array, first: number, isFinal: boolean, decoder: Decoder): number {
  const unit: Unit = { isFinal, character: 0, payloadStart: 0, payloadEnd: 0 }
  let [runStart, runEnd] = [-1, -1]
  let at = first
  const last = source.length - 1
  while (at <= last) {
    const mayBegin =
      at < last ? unitPairs[((source[at] ?? 0) << 8) | (source[at + 1] ?? 0)] === 1 : isTrigger(source, at)
    if (!mayBegin) {
      at += 1
      continue
    }
    const end = readUnit(source, at, unit)
    if (end === isOpen && !isFinal) return at
    if (end <= at) {
      at += lengthOfNoUnit(source, at)
      continue
    }
    if (unit.character === 0) {
      if (runEnd !== at) runStart = at
      runEnd = end
    }
    // Only this much consecutive decoration is skipped, which bounds the bytes that are held back.
    if (unit.character !== 0 || end - runStart <= sequenceBytesMax) decoder.add(at, end, unit)
    at = end
  }
  return source.length
}

function isTrigger(source: Uint8Array, at: number): boolean {
  return unitTriggers.has(source[at] ?? 0)
}

const backslash = 92
const ampersand = 38
/** Characters that stay escaped: an escaped quote is inside quotes and must not end them. */
const escapedCharacters: ReadonlySet<number> = new Set([34, 39, 92, 96])
const shortRun = 48

/** Writes the readable text, and records the positions of each unit in both texts. */
class Decoder {
  readonly starts: number[] = []
  /** Set when decoded characters may begin another escape. */
  mayNest = false
  private readonly ends: number[] = []
  /** The start and end of each unit in the readable text. */
  private readonly places: number[] = []
  private readonly placeEnds: number[] = []
  private readonly links: Payload[] = []
  private bytes: Buffer = Buffer.alloc(0)
  private length = 0
  private copied = 0

  constructor(private readonly source: Uint8Array) {}

  add(start: number, end: number, { character, payloadStart, payloadEnd }: Unit): void {
    if (this.starts.length === 0) this.bytes = Buffer.allocUnsafeSlow(this.source.length)
    this.copyTo(start)
    this.starts.push(start)
    this.ends.push(end)
    this.places.push(this.length)
    // Two quotes may join the parts of a word.
    if (character === ampersand || escapedCharacters.has(character)) this.mayNest = true
    if (escapedCharacters.has(character)) this.bytes[this.length++] = backslash
    if (character !== 0) this.bytes[this.length++] = character
    this.placeEnds.push(this.length)
    this.copied = end
    if (payloadEnd > payloadStart) this.links.push({ start: payloadStart, end: payloadEnd })
  }

  finish(sourceEnd: number): ReadableText {
    this.copyTo(sourceEnd)
    const { starts, ends, places, placeEnds, links } = this
    const count = starts.length
    return {
      bytes: this.bytes.subarray(0, this.length),
      sourceEnd,
      startOf: at => {
        const last = lastWhere(count, index => (places[index] ?? 0) < at || (placeEnds[index] ?? 0) <= at)
        if (last < 0) return at
        const behind = placeEnds[last] ?? 0
        return behind > at ? (starts[last] ?? 0) : (ends[last] ?? 0) + at - behind
      },
      endOf: at => {
        const last = lastWhere(count, index => (places[index] ?? 0) < at)
        return last < 0 ? at : (ends[last] ?? 0) + Math.max(0, at - (placeEnds[last] ?? 0))
      },
      readableAt: place => {
        const last = lastWhere(count, index => (ends[index] ?? 0) <= place)
        return last < 0 ? place : (placeEnds[last] ?? 0) + place - (ends[last] ?? 0)
      },
      payloads: (from, to) => links.filter(({ start, end }) => start >= from && end <= to),
    }
  }

  /** Copies byte by byte, because a native copy of a few bytes takes longer. */
  private copyTo(end: number): void {
    if (end - this.copied > shortRun) this.bytes.set(this.source.subarray(this.copied, end), this.length)
    else
      for (let at = this.copied; at < end; at++)
        this.bytes[this.length + at - this.copied] = this.source[at] ?? 0
    this.length += end - this.copied
  }
}

/**
 * Returns the last index below `count` for which the condition is true, given that it is true for all before; -1 when
 * for none.
 */
function lastWhere(count: number, holds: (index: number) => boolean): number {
  let [low, high] = [-1, count - 1]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (holds(middle)) low = middle
    else high = middle - 1
  }
  return low
}
