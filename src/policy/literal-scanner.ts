/** A literal is text in which each character stands for one byte, so that it can name any bytes. */
export interface Literal {
  readonly text: string
  readonly ignoreCase: boolean
}

/** Finds any of many literals in one pass over the bytes, whose speed hardly depends on how many there are. */
export interface LiteralScanner {
  readonly lengthMax: number
  /** The first position at or after `from` where a literal lies completely before `end`, or -1. */
  find(bytes: Uint8Array, from: number, end: number): number
  /** Indexes of the literals at this position, the longest first. */
  literalsAt(bytes: Uint8Array, position: number, end: number): readonly number[]
  /** The first position at or after `from` where the bytes up to `end` could be the beginning of a literal. */
  findOpen(bytes: Uint8Array, from: number, end: number): number
}

interface Entry {
  readonly index: number
  readonly length: number
  readonly lower: Uint8Array
  readonly upper: Uint8Array
}

const lengthMin = 3
const nothing: readonly Entry[] = []

/**
 * Wu and Manber's scan: the last two bytes of a window as long as the shortest literal tell how far the window may
 * move; where it may not, the first three bytes choose the few literals to compare. A regular expression with the
 * same alternatives measured half as fast on build logs.
 */
export function createLiteralScanner(literals: readonly Literal[]): LiteralScanner {
  const entries = literals.map(entryOf).sort((a, b) => b.length - a.length)
  const window = Math.min(200, ...entries.map(entry => entry.length))
  const lengthMax = Math.max(0, ...entries.map(entry => entry.length))
  const shifts = shiftsOf(entries, window)
  const { buckets, isUsed } = bucketsOf(entries)

  function entriesAt(bytes: Uint8Array, position: number, end: number): readonly Entry[] {
    const bucket = buckets.get(hashAt(bytes, position)) ?? nothing
    return bucket.filter(
      entry => position + entry.length <= end && agrees(entry, bytes, position, entry.length),
    )
  }

  function isAt(bytes: Uint8Array, position: number, end: number): boolean {
    const hash = hashAt(bytes, position)
    if (isUsed[hash] !== 1) return false
    const bucket = buckets.get(hash) ?? nothing
    for (let index = 0; index < bucket.length; index++) {
      const entry = bucket[index]
      if (entry === undefined || position + entry.length > end) continue
      if (agrees(entry, bytes, position, entry.length)) return true
    }
    return false
  }

  return {
    lengthMax,
    literalsAt: (bytes, position, end) => entriesAt(bytes, position, end).map(entry => entry.index),
    find: (bytes, from, end) => {
      if (entries.length === 0) return -1
      const last = end - 1
      let index = from + window - 2
      while (index < last) {
        const shift = shifts[((bytes[index] ?? 0) << 8) | (bytes[index + 1] ?? 0)] ?? 1
        if (shift > 0) index += shift
        else if (isAt(bytes, index - window + 2, end)) return index - window + 2
        else index += 1
      }
      return -1
    },
    findOpen: (bytes, from, end) => {
      for (let position = Math.max(from, end - lengthMax + 1); position < end; position++) {
        const held = end - position
        const isOpen = entries.some(entry => entry.length > held && agrees(entry, bytes, position, held))
        if (isOpen) return position
      }
      return end
    },
  }
}

function entryOf(literal: Literal, index: number): Entry {
  const { text, ignoreCase } = literal
  if (text.length < lengthMin) throw new RangeError(`a literal needs ${lengthMin} bytes: ${text}`)
  return {
    index,
    length: text.length,
    lower: Buffer.from(ignoreCase ? text.toLowerCase() : text, "latin1"),
    upper: Buffer.from(ignoreCase ? text.toUpperCase() : text, "latin1"),
  }
}

function shiftsOf(entries: readonly Entry[], window: number): Uint8Array {
  const shifts = new Uint8Array(0x10000).fill(Math.max(1, window - 1))
  for (const entry of entries)
    for (let offset = 0; offset + 1 < window; offset++)
      for (const [first = 0, second = 0] of spellingsAt(entry, offset, 2)) {
        const block = (first << 8) | second
        shifts[block] = Math.min(shifts[block] ?? 0, window - 2 - offset)
      }
  return shifts
}

function bucketsOf(entries: readonly Entry[]): {
  buckets: ReadonlyMap<number, readonly Entry[]>
  isUsed: Uint8Array
} {
  const buckets = new Map<number, Entry[]>()
  const isUsed = new Uint8Array(0x10000)
  for (const entry of entries)
    for (const hash of new Set(spellingsAt(entry, 0, 3).map(bytes => hashAt(Uint8Array.from(bytes), 0)))) {
      buckets.set(hash, [...(buckets.get(hash) ?? []), entry])
      isUsed[hash] = 1
    }
  return { buckets, isUsed }
}

/** Every way to write these bytes of a literal in upper and lower case. */
function spellingsAt(entry: Entry, offset: number, count: number): number[][] {
  let spellings: number[][] = [[]]
  for (let index = offset; index < offset + count; index++) {
    const cases = [...new Set([entry.lower[index] ?? 0, entry.upper[index] ?? 0])]
    spellings = spellings.flatMap(spelling => cases.map(byte => [...spelling, byte]))
  }
  return spellings
}

function hashAt(bytes: Uint8Array, position: number): number {
  const first = bytes[position] ?? 0
  const second = bytes[position + 1] ?? 0
  return ((first << 8) ^ (second << 5) ^ (bytes[position + 2] ?? 0)) & 0xffff
}

function agrees(entry: Entry, bytes: Uint8Array, position: number, length: number): boolean {
  const { lower, upper } = entry
  // Backwards, because literals that begin alike seldom end alike.
  for (let offset = length - 1; offset >= 0; offset--) {
    const byte = bytes[position + offset]
    if (byte !== lower[offset] && byte !== upper[offset]) return false
  }
  return true
}
