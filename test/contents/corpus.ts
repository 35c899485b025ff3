import type { Random } from "../soak/random.ts"

const KiB = 1024
const MiB = 1024 * KiB

/** Sizes at which a reader in pieces of 64 or 128 KiB goes wrong first, the small ones and the large ones apart. */
export const smallSizes: readonly number[] = [
  0,
  1,
  ...[64 * KiB, 128 * KiB].flatMap(size => [size - 1, size, size + 1]),
]
export const largeSizes: readonly number[] = [MiB, 10 * MiB]

/** How a text is spelled in a file: the oracle of every test knows the text and makes the bytes by itself. */
export interface Shape {
  readonly name: string
  readonly bom: Buffer
  encode(text: string): Buffer
  /** Bytes of the narrowest character. */
  readonly unit: 1 | 2
  readonly newline: () => string
  /** What is laid across each boundary. */
  readonly straddlers: readonly string[]
  readonly isEnded: boolean
  readonly isOneLine: boolean
}

/** A text, the file that holds it, and texts in it that occur once. */
export interface Sample {
  readonly name: string
  readonly shape: Shape
  readonly text: string
  readonly bytes: Buffer
  /** Each lies across a boundary, or at an end of the text. */
  readonly landmarks: readonly string[]
}

const nothing = Buffer.alloc(0)
const utf8 = (text: string) => Buffer.from(text, "utf8")
const utf16 = (text: string) => Buffer.from(text, "utf16le")
const wide = ["\u{1f600}", "\r\n", "\u{10ffff}"]
const plain: Shape = {
  name: "utf-8",
  bom: nothing,
  encode: utf8,
  unit: 1,
  newline: () => "\n",
  straddlers: ["é", "€", "\u{1f600}"],
  isEnded: true,
  isOneLine: false,
}

/** `\n` and `\r\n` in turn, as files have them that several people edited. */
function mixedEnds(): () => string {
  let lines = 0
  return () => (++lines % 3 === 0 ? "\r\n" : "\n")
}

export function shapesOf(): readonly Shape[] {
  return [
    plain,
    { ...plain, name: "crlf", newline: () => "\r\n", straddlers: ["\r\n", "\r\n\r\n"] },
    { ...plain, name: "mixed ends", newline: mixedEnds(), straddlers: ["\r\n", "\n\r\n", "é\r\n"] },
    { ...plain, name: "bom", bom: utf8("\ufeff") },
    { ...plain, name: "utf-16le", bom: utf16("\ufeff"), encode: utf16, unit: 2, straddlers: wide },
    {
      ...plain,
      name: "utf-16be",
      bom: utf16("\ufeff").swap16(),
      encode: text => utf16(text).swap16(),
      unit: 2,
      newline: () => "\r\n",
      straddlers: wide,
    },
    { ...plain, name: "no final newline", isEnded: false },
    { ...plain, name: "one line", newline: () => "", isEnded: false, isOneLine: true },
    { ...plain, name: "latin1", encode: text => Buffer.from(text, "latin1"), straddlers: ["é\n", "\xa0ü"] },
  ]
}

const boundaryBytes = 64 * KiB
const landmarksMax = 12

/** A file of exactly this size, or one byte less where a character has two. */
export function sampleOf(shape: Shape, sizeBytes: number, random: Random): Sample {
  const { bom, unit, isEnded, encode } = shape
  const text = new SampleText(shape, random)
  const size = sizeBytes < bom.length ? 0 : sizeBytes - ((sizeBytes - bom.length) % unit)
  const boundaries = boundariesBelow(size, random)
  const landmarks = boundaries.flatMap(boundary => text.straddle(boundary, size) ?? [])
  const end = isEnded ? shape.newline() : ""
  text.fillTo(size - encode(end).length)
  if (text.at + encode(end).length <= size) text.add(end)
  text.fillTo(size)
  const whole = text.pieces.join("")
  const bytes = size < bom.length ? nothing : Buffer.concat([bom, encode(whole)])
  return { name: `${shape.name}, ${bytes.length} bytes`, shape, text: whole, bytes, landmarks }
}

/** The first ones, which every file of the size has, and some of the others. */
function boundariesBelow(size: number, random: Random): number[] {
  const all = Array.from(
    { length: Math.floor(size / boundaryBytes) },
    (_, index) => (index + 1) * boundaryBytes,
  )
  const chosen = new Set(all.slice(0, 4))
  for (const last of all.slice(-1)) chosen.add(last)
  while (chosen.size < Math.min(all.length, landmarksMax)) chosen.add(random.oneOf(all))
  return [...chosen].sort((a, b) => a - b)
}

/** Text in the making, with its length in bytes. */
class SampleText {
  readonly pieces: string[] = []
  at: number
  private marks = 0
  private lines = 0

  constructor(
    private readonly shape: Shape,
    private readonly random: Random,
  ) {
    this.at = shape.bom.length
  }

  add(text: string): void {
    this.pieces.push(text)
    this.at += this.shape.encode(text).length
  }

  /** Lays a landmark across a boundary, or gives null where there is no room for it. */
  straddle(boundary: number, size: number): string | null {
    const { encode, unit, straddlers } = this.shape
    const across = this.random.oneOf(straddlers)
    const width = encode(across).length
    const before = unit * (1 + this.random.whole(Math.max(1, width / unit - 1)))
    const [head, tail] = [`<mark ${++this.marks}>`, `</mark ${this.marks}>`]
    const start = boundary - before - encode(head).length
    const landmark = head + across + tail
    if (start < this.at || start + encode(landmark).length > size) return null
    this.fillTo(start)
    this.add(landmark)
    return landmark
  }

  /** Lines that are told apart by their number, the last one cut to fit. */
  fillTo(target: number): void {
    const { unit, newline } = this.shape
    const room = Math.floor((target - this.at) / unit)
    if (room <= 0) return
    const parts: string[] = []
    let length = 0
    while (length < room) {
      const line = `${++this.lines} ${words.slice(0, this.random.whole(words.length))}${newline()}`
      parts.push(line)
      length += line.length
    }
    // A cut must not leave half of a line end behind.
    const filling = parts.join("").slice(0, room).replace(/\r$/, ".")
    this.pieces.push(filling)
    this.at += filling.length * unit
  }
}

const words =
  "the quick brown fox jumps over the lazy dog and then some, until the line is long enough to be one"
