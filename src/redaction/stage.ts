/**
 * One pass of redaction over bytes that arrive in pieces. The output does not depend on the boundaries of the pieces:
 * bytes that could still become part of a secret are held back. `push` returns the given array itself when it changes
 * nothing, which keeps ordinary output cheap.
 */
export interface RedactionStage {
  push(bytes: Uint8Array, final: boolean): Uint8Array
}

/**
 * Creates a stage. With a callback for replacements the whole text is one push, so that positions are those of the
 * text.
 */
export type StageMaker = (onReplaced?: OnReplaced) => RedactionStage

/** Collects the output: pieces of the input, and markers in the place of secrets. */
export interface Edits {
  keep(from: number, to: number): void
  add(piece: Uint8Array): void
  /** Returns the length of the output so far. */
  length(): number
  result(): Uint8Array
}

/** Called for every replaced span of the input, in order. */
export type OnReplaced = (from: number, to: number, replacement: Uint8Array) => void

export function editsOf(source: Uint8Array, onReplaced?: OnReplaced): Edits {
  const pieces: (Uint8Array | readonly [from: number, to: number])[] = []
  let length = 0
  return {
    keep: (from, to) => {
      // Two replacements stay separate even with no bytes between them when the caller wants to know each.
      if (to < from || (to === from && (onReplaced === undefined || pieces.length === 0))) return
      pieces.push([from, to])
      length += to - from
    },
    add: piece => {
      pieces.push(piece)
      length += piece.length
    },
    length: () => length,
    result: () => {
      if (onReplaced !== undefined) report(pieces, source.length, onReplaced)
      const [only] = pieces
      if (pieces.length === 1 && only !== undefined && !(only instanceof Uint8Array))
        return only[1] - only[0] === source.length ? source : source.subarray(...only)
      return joined(source, pieces, length)
    },
  }
}

function report(
  pieces: readonly (Uint8Array | readonly [from: number, to: number])[],
  sourceLength: number,
  onReplaced: OnReplaced,
): void {
  let at = 0
  let added: Uint8Array[] = []
  for (const piece of [...pieces, [sourceLength, sourceLength] as const]) {
    if (piece instanceof Uint8Array) {
      added.push(piece)
      continue
    }
    if (added.length > 0 || piece[0] > at) onReplaced(at, piece[0], concat(added))
    added = []
    at = piece[1]
  }
}

/** Joins short pieces by copying: a view for each would cost more. */
function joined(
  source: Uint8Array,
  pieces: readonly (Uint8Array | readonly [from: number, to: number])[],
  length: number,
): Uint8Array {
  const view = Buffer.from(source.buffer, source.byteOffset, source.length)
  const whole = Buffer.allocUnsafeSlow(length)
  let offset = 0
  for (const piece of pieces) {
    if (piece instanceof Uint8Array) whole.set(piece, offset)
    else view.copy(whole, offset, piece[0], piece[1])
    offset += piece instanceof Uint8Array ? piece.length : piece[1] - piece[0]
  }
  return whole
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

/** Copies bytes, which `slice` of a Buffer does not: the caller may fill its buffer again. */
export function copyOf(bytes: Uint8Array, from: number): Uint8Array {
  return new Uint8Array(bytes.subarray(from))
}
