/** A set of bytes; 1 where the byte belongs to it. */
export type Alphabet = Uint8Array

export function alphabetOf(pattern: RegExp): Alphabet {
  return Uint8Array.from({ length: 256 }, (_, byte) => (pattern.test(String.fromCharCode(byte)) ? 1 : 0))
}

/** All bytes but blanks, control characters and the given ones; bytes beyond ASCII are part of some character. */
export function visibleBut(excluded: string): Alphabet {
  return Uint8Array.from({ length: 256 }, (_, byte) =>
    byte > 0x20 && byte !== 0x7f && !excluded.includes(String.fromCharCode(byte)) ? 1 : 0,
  )
}

export const wordBytes = alphabetOf(/[A-Za-z0-9_]/)
export const tokenBytes = alphabetOf(/[A-Za-z0-9_-]/)
export const dottedBytes = alphabetOf(/[A-Za-z0-9_.-]/)
export const base64Bytes = alphabetOf(/[A-Za-z0-9+/=]/)
