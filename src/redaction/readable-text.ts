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
 * A text as its reader sees it: without the sequences that colour it on a terminal, with the escapes of JSON, XML and
 * nested shell quotes decoded. Secrets are looked for in `bytes`, so that no decoration hides one; what is found is
 * replaced in the text as it was written.
 */
export interface ReadableText {
  /** The very array that was given when nothing in it is decorated. */
  readonly bytes: Uint8Array
  /** How much of what was given is covered; a sequence whose end has not arrived is not. */
  readonly sourceEnd: number
  /** Where a byte stands in the source, behind the sequences before it. */
  startOf(at: number): number
  /** Where the byte before `at` ends in the source, in front of the sequences behind it. */
  endOf(at: number): number
  /** How many readable bytes stand before a place of the source. */
  readableAt(source: number): number
  /** The link targets, window titles and so on between two places of the source: text that nobody sees. */
  payloads(from: number, to: number): readonly Payload[]
}

interface Payload {
  readonly start: number
  readonly end: number
}

/** XML in a string of JSON has the ampersands of its escapes escaped; nobody nests deeper than this. */
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

/** How a text reads that is itself what another one reads like. */
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

/** Keeps a stretch of the source, with what only a terminal reads redacted by itself. */
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

/** Where the first unit can begin at the earliest; -1 when there is none, as in nearly every text. */
function firstTrigger(source: Uint8Array, isFinal: boolean): number {
  const view = Buffer.from(source.buffer, source.byteOffset, source.length)
  let first = view.indexOf(`'"'`)
  for (const byte of [27, 92, 38]) first = earlier(first, source.indexOf(byte))
  if (!isFinal) first = earlier(first, source.indexOf(singleQuote, Math.max(0, source.length - 4)))
  // A quote before a backslash may belong to it.
  return first > 0 ? first - 1 : first
}

function earlier(first: number, second: number): number {
  return first < 0 || (second >= 0 && second < first) ? second : first
}

/** Collects the units, and answers where the one begins that is not complete; the end when there is none. */
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
    // As much decoration in a row is skipped and no more: bounds what has to be held back.
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
/** A quote that is escaped stands inside quotes, and stays told apart from those around it. */
const escapedCharacters: ReadonlySet<number> = new Set([34, 39, 92, 96])
const shortRun = 48

/** Writes the readable text, and remembers for each unit where it stands here and there. */
class Decoder {
  readonly starts: number[] = []
  /** Whether what was decoded may be the beginning of another escape. */
  mayNest = false
  private readonly ends: number[] = []
  /** Where what stands for a unit begins and ends in the readable text. */
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
    if (character === ampersand || character === backslash) this.mayNest = true
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

  /** A native copy of a few bytes takes longer than copying them. */
  private copyTo(end: number): void {
    if (end - this.copied > shortRun) this.bytes.set(this.source.subarray(this.copied, end), this.length)
    else
      for (let at = this.copied; at < end; at++)
        this.bytes[this.length + at - this.copied] = this.source[at] ?? 0
    this.length += end - this.copied
  }
}

/** The last index below `count` for which the condition holds, which holds for all before it; -1 when for none. */
function lastWhere(count: number, holds: (index: number) => boolean): number {
  let [low, high] = [-1, count - 1]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (holds(middle)) low = middle
    else high = middle - 1
  }
  return low
}
