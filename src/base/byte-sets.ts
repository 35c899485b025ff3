/** A set of bytes: the entry of a byte is 1 if the byte belongs to the set. */
export type Alphabet = Uint8Array

const everyByte = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)).toString("latin1")

/**
 * Returns the set of the bytes that match a pattern. Testing a pattern for each byte of a text would slow down
 * startup.
 */
export function alphabetOf(pattern: RegExp): Alphabet {
  const members = new Uint8Array(256)
  for (const { index } of everyByte.matchAll(new RegExp(pattern.source, `${pattern.flags}g`)))
    members[index] = 1
  return members
}

/**
 * Returns all bytes except blanks, control characters and the given ones. Bytes beyond ASCII are part of some
 * character.
 */
export function visibleBut(excluded: string): Alphabet {
  const members = new Uint8Array(256).fill(1, 0x21)
  members[0x7f] = 0
  for (const character of excluded) members[character.charCodeAt(0)] = 0
  return members
}

export const wordBytes = alphabetOf(/[A-Za-z0-9_]/)
export const tokenBytes = alphabetOf(/[A-Za-z0-9_-]/)
export const dottedBytes = alphabetOf(/[A-Za-z0-9_.-]/)
export const base64Bytes = alphabetOf(/[A-Za-z0-9+/=]/)
