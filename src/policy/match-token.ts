import { type Alphabet, alphabetOf, wordBytes } from "./alphabet.ts"
import { byteAt, byteBefore, extentEnd, judgedBytes, type Matcher, textAt } from "./scene.ts"

export interface TokenShape {
  /** Of what follows the prefix. */
  readonly alphabet: Alphabet
  readonly min: number
  /** No more than this many belong to it, and none of the alphabet may follow. */
  readonly max?: number
  /** What follows the prefix must look like this. */
  readonly like?: RegExp
  /** The prefix is public (a web address), only what follows is the secret. */
  readonly keepPrefix?: boolean
}

/** So many bytes behind the prefix are enough where the input itself was cut. */
const cutMin = 6

/** Tokens with a prefix of their own: recognised wherever they stand, whatever they are called. */
export function tokenMatcher(shape: TokenShape): Matcher {
  const extent = { members: shape.alphabet, escapes: false }
  return (scene, at, anchorLength) => {
    if (shape.keepPrefix !== true && wordBytes[byteBefore(scene, at)] === 1) return null
    const from = at + anchorLength
    const shortest = from + Math.min(shape.min, cutMin)
    if (scene.end < shortest || shape.alphabet[byteAt(scene, from)] !== 1) return null
    const end = extentEnd(scene.bytes, from, scene.end, extent)
    const isCut = scene.final && end === scene.end
    if (end - from < (isCut ? Math.min(shape.min, cutMin) : shape.min)) return null
    if (shape.max !== undefined && end - from > shape.max) return null
    const body = textAt(scene, from, Math.min(end, from + judgedBytes))
    if (isFiller(body) || (!isCut && shape.like !== undefined && !shape.like.test(body))) return null
    const isLong = end - from >= judgedBytes
    const kept = isLong ? end : end - (/[.-]+$/.exec(body)?.[0].length ?? 0)
    return { start: shape.keepPrefix === true ? from : at, end: kept, extent: isLong ? extent : null }
  }
}

export const alphanumeric = alphabetOf(/[A-Za-z0-9]/)
export const upperAlphanumeric = alphabetOf(/[A-Z0-9]/)

function isFiller(body: string): boolean {
  return /^[xX*.0_-]+$/.test(body)
}
