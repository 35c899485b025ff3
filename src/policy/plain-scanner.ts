import type { Literal, LiteralScanner } from "./literal-scanner.ts"

/** Up to here looking at every place takes less time than building the tables that let most be skipped. */
export const plainBytesMax = 1024

interface Entry {
  readonly index: number
  readonly lower: Uint8Array
  readonly upper: Uint8Array
}

const keyLength = 3

/** The same answers as the literal scanner's, for the few short texts that are all a short command has. */
export function createPlainScanner(literals: readonly Literal[]): LiteralScanner {
  const entries = literals
    .map(({ text, ignoreCase }, index) => ({
      index,
      lower: Buffer.from(ignoreCase ? text.toLowerCase() : text, "latin1"),
      upper: Buffer.from(ignoreCase ? text.toUpperCase() : text, "latin1"),
    }))
    .sort((a, b) => b.lower.length - a.lower.length)
  const byKey = new Map<number, Entry[]>()
  for (const entry of entries) {
    const key = keyAt(entry.lower, 0)
    const alike = byKey.get(key)
    if (alike === undefined) byKey.set(key, [entry])
    else alike.push(entry)
  }
  const lengthMax = entries[0]?.lower.length ?? 0
  const isAt = (entry: Entry, bytes: Uint8Array, at: number) =>
    at + entry.lower.length <= bytes.length && agrees(entry, bytes, at, entry.lower.length)

  return {
    lengthMax,
    find: (bytes, from) => {
      for (let at = from; at + keyLength <= bytes.length; at++)
        if (byKey.get(keyAt(bytes, at))?.some(entry => isAt(entry, bytes, at)) === true) return at
      return -1
    },
    literalsAt: (bytes, position) =>
      (byKey.get(keyAt(bytes, position)) ?? [])
        .filter(entry => isAt(entry, bytes, position))
        .map(entry => entry.index),
    findOpen: (bytes, from) => {
      const end = bytes.length
      for (let at = Math.max(from, end - lengthMax + 1); at < end; at++) {
        const held = end - at
        const begun = held < keyLength ? entries : (byKey.get(keyAt(bytes, at)) ?? [])
        if (begun.some(entry => entry.lower.length > held && agrees(entry, bytes, at, held))) return at
      }
      return end
    },
  }
}

/** The first bytes of a literal, whatever their case. */
function keyAt(bytes: Uint8Array, at: number): number {
  return (folded(bytes[at] ?? 0) << 16) | (folded(bytes[at + 1] ?? 0) << 8) | folded(bytes[at + 2] ?? 0)
}

function folded(byte: number): number {
  return byte >= 65 && byte <= 90 ? byte + 32 : byte
}

function agrees({ lower, upper }: Entry, bytes: Uint8Array, at: number, length: number): boolean {
  for (let offset = 0; offset < length; offset++) {
    const byte = bytes[at + offset]
    if (byte !== lower[offset] && byte !== upper[offset]) return false
  }
  return true
}
