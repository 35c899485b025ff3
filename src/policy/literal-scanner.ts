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
  readonly lower: Uint8Array
  readonly upper: Uint8Array
}

/**
 * Wu and Manber's scan: the last two bytes of a window as long as the shortest literal tell how far the window may
 * move. A regular expression with the same alternatives measured half as fast on build logs.
 */
export function createLiteralScanner(literals: readonly Literal[]): LiteralScanner {
  const entries = literals.map(entryOf).sort((a, b) => b.lower.length - a.lower.length)
  const window = Math.min(200, ...entries.map(entry => entry.lower.length))
  const lengthMax = Math.max(0, ...entries.map(entry => entry.lower.length))
  const shifts = shiftsOf(entries, window)
  const byFirst = Array.from({ length: 256 }, (_, byte) =>
    entries.filter(entry => entry.lower[0] === byte || entry.upper[0] === byte),
  )
  const literalsAt = (bytes: Uint8Array, position: number, end: number) =>
    (byFirst[bytes[position] ?? 0] ?? [])
      .filter(
        entry => position + entry.lower.length <= end && agrees(entry, bytes, position, entry.lower.length),
      )
      .map(entry => entry.index)
  const isAt = (bytes: Uint8Array, position: number, end: number) => {
    for (const entry of byFirst[bytes[position] ?? 0] ?? []) {
      if (position + entry.lower.length > end) continue
      if (agrees(entry, bytes, position, entry.lower.length)) return true
    }
    return false
  }
  return {
    lengthMax,
    literalsAt,
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
        for (const entry of byFirst[bytes[position] ?? 0] ?? [])
          if (entry.lower.length > held && agrees(entry, bytes, position, held)) return position
      }
      return end
    },
  }
}

function entryOf(literal: Literal, index: number): Entry {
  if (literal.text.length < 2) throw new RangeError(`a literal needs two bytes: ${literal.text}`)
  if (!literal.ignoreCase) {
    const exact = Buffer.from(literal.text, "latin1")
    return { index, lower: exact, upper: exact }
  }
  return {
    index,
    lower: Buffer.from(literal.text.toLowerCase(), "latin1"),
    upper: Buffer.from(literal.text.toUpperCase(), "latin1"),
  }
}

function shiftsOf(entries: readonly Entry[], window: number): Uint8Array {
  const shifts = new Uint8Array(0x10000).fill(Math.max(1, window - 1))
  for (const { lower, upper } of entries)
    for (let offset = 0; offset + 1 < window; offset++)
      for (const first of [lower[offset] ?? 0, upper[offset] ?? 0])
        for (const second of [lower[offset + 1] ?? 0, upper[offset + 1] ?? 0]) {
          const block = (first << 8) | second
          shifts[block] = Math.min(shifts[block] ?? 0, window - 2 - offset)
        }
  return shifts
}

function agrees(entry: Entry, bytes: Uint8Array, position: number, length: number): boolean {
  for (let offset = 0; offset < length; offset++) {
    const byte = bytes[position + offset]
    if (byte !== entry.lower[offset] && byte !== entry.upper[offset]) return false
  }
  return true
}
