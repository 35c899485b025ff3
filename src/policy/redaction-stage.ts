/**
 * One pass of redaction over bytes that arrive in pieces. What comes out does not depend on how the input was cut:
 * whatever could still become part of a secret is held back until enough is known. `push` answers with the very
 * array it was given when there was nothing to change, which is what keeps ordinary output cheap.
 */
export interface RedactionStage {
  push(bytes: Uint8Array, final: boolean): Uint8Array
}

/** Collects what goes out: pieces of the input, and markers in the place of secrets. */
export interface Edits {
  keep(from: number, to: number): void
  add(piece: Uint8Array): void
  result(): Uint8Array
}

export function editsOf(source: Uint8Array): Edits {
  const pieces: Uint8Array[] = []
  return {
    keep: (from, to) => {
      if (to > from) pieces.push(from === 0 && to === source.length ? source : source.subarray(from, to))
    },
    add: piece => pieces.push(piece),
    result: () => {
      const [only] = pieces
      return pieces.length === 1 && only !== undefined ? only : concat(pieces)
    },
  }
}

export function concat(pieces: readonly Uint8Array[]): Uint8Array {
  const [first, second] = pieces
  if (first === undefined) return new Uint8Array(0)
  if (second === undefined) return first
  if (pieces.length === 2 && first.length === 0) return second
  const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0))
  let offset = 0
  for (const piece of pieces) {
    whole.set(piece, offset)
    offset += piece.length
  }
  return whole
}
