import { type Alphabet, alphabetOf, wordBytes } from "./alphabet.ts"
import { byteAt, byteBefore, foundFrom, judgedBytes, judgedEnd, type Matcher, textAt } from "./scene.ts"

export interface TokenShape {
  /** Of what follows the prefix. */
  readonly alphabet: Alphabet
  readonly min: number
  /** No more than this many belong to it, and none of the alphabet may follow. */
  readonly max?: number
  /** What follows the prefix must look like this. */
  readonly like?: RegExp
  /** Nothing else begins with this prefix, so a few characters are enough where the input itself was cut. */
  readonly isUnique?: boolean
  /** The prefix is public (a web address), only what follows is the secret. */
  readonly keepPrefix?: boolean
}

const cutMin = 8

/** Tokens with a prefix of their own: recognised wherever they stand, whatever they are called. */
export function tokenMatcher(shape: TokenShape): Matcher {
  const { alphabet, keepPrefix = false } = shape
  const extent = { members: alphabet, escapes: false }
  const shortest = shape.isUnique === true ? Math.min(cutMin, shape.min) : shape.min
  return (scene, at, anchorLength) => {
    const before = byteBefore(scene, at)
    // Inside a longer run only its beginning is tried, or `sk-sk-sk-…` would take quadratic time.
    if (!keepPrefix && (wordBytes[before] === 1 || alphabet[before] === 1)) return null
    const from = at + anchorLength
    if (scene.end - from < shortest || alphabet[byteAt(scene, from + shortest - 1)] !== 1) return null
    const end = judgedEnd(scene, from, extent)
    const body = textAt(scene, from, end)
    if (filler.test(body) || body.length > (shape.max ?? judgedBytes)) return null
    const isWhole = body.length >= shape.min && (shape.like === undefined || shape.like.test(body))
    const isCut =
      shape.isUnique === true && scene.final && end === scene.end && /^(?=.*\d)(?=.*[A-Za-z]).{8}/.test(body)
    if (!isWhole && !isCut) return null
    const trailing = body.length < judgedBytes ? (/[.-]{1,8}$/.exec(body)?.[0].length ?? 0) : 0
    return foundFrom(scene, keepPrefix ? from : at, from, end - trailing, extent)
  }
}

/** `ghp_xxxxxxxx` in documentation. */
const filler = /^[xX*.0_-]+$|[xX]{8}|\*{4}/

export const alphanumeric = alphabetOf(/[A-Za-z0-9]/)
export const upperAlphanumeric = alphabetOf(/[A-Z0-9]/)
