import { type Alphabet, alphabetOf, wordBytes } from "./alphabet.ts"
import { isDocumented } from "./judgement.ts"
import { byteAt, byteBefore, foundFrom, judgedBytes, judgedEnd, type Matcher, textAt } from "./scene.ts"

export interface TokenShape {
  /** Of what follows the prefix. */
  readonly alphabet: Alphabet
  readonly min: number
  /** No more than this many belong to it, and none of the alphabet may follow. */
  readonly max?: number
  /** What follows the prefix must look like this. */
  readonly like?: { test(body: string): boolean }
  /** Nothing else begins like this: a few characters are enough where the input itself was cut. */
  readonly isUnique?: boolean
  /**
   * When a token behind a word character is one: always, when it looks like this or has this length, or never, because
   * base64 may have its prefix in it by chance. When not given: always for unique prefixes, else when it looks random.
   */
  readonly inside?: "always" | "never" | RegExp | number
  /** The prefix is public (a web address), only what follows is the secret. */
  readonly keepPrefix?: boolean
  /** What stands before the prefix belongs to the token: characters of this alphabet, so many of them. */
  readonly lead?: { readonly alphabet: Alphabet; readonly min: number; readonly max: number }
}

const cutMin = 8
/** Inside a longer run only this much is judged, or `glpat-glpat-…` would take quadratic time. */
const judgedInsideBytes = 64

/** Tokens with a prefix of their own: recognised wherever they stand, whatever they are called. */
export function tokenMatcher(shape: TokenShape): Matcher {
  const { alphabet, keepPrefix = false, isUnique = false, lead } = shape
  const extent = { members: alphabet, escapes: false }
  const judgedInside = Math.max(judgedInsideBytes, shape.min + 40)
  const shortest = isUnique ? Math.min(cutMin, shape.min) : shape.min
  return (scene, at, anchorLength) => {
    const start = lead === undefined ? at : leadStart(scene, at, lead)
    if (start < 0) return null
    const before = byteBefore(scene, start)
    const isInside = !keepPrefix && (wordBytes[before] === 1 || alphabet[before] === 1)
    const from = at + anchorLength
    if (scene.end - from < shortest || alphabet[byteAt(scene, from + shortest - 1)] !== 1) return null
    const judgedMax = isInside && alphabet[before] === 1 ? judgedInside : judgedBytes
    const end = judgedEnd(scene, from, extent, judgedMax)
    const body = textAt(scene, from, end)
    if (body.length > (shape.max ?? judgedBytes) || filler.test(body) || isDocumented(body)) return null
    if (isInside && !isPossibleInside(shape, body)) return null
    const isWhole = body.length >= shape.min && (shape.like === undefined || shape.like.test(body))
    const isCut = isUnique && scene.final && end === scene.end && /^(?=.*\d)(?=.*[A-Za-z]).{8}/.test(body)
    if (!isWhole && !isCut) return null
    const trailing = body.length < judgedMax ? (/[.-]{1,8}$/.exec(body)?.[0].length ?? 0) : 0
    return foundFrom(scene, keepPrefix ? from : start, from, end - trailing, extent, judgedMax)
  }
}

function isPossibleInside({ inside, isUnique }: TokenShape, body: string): boolean {
  const mode = inside ?? (isUnique === true ? "always" : random)
  return mode === "always" || body.length === mode || (mode instanceof RegExp && mode.test(body))
}

/** Where the characters before the prefix begin that belong to the token; -1 when they are too few or too many. */
function leadStart(
  scene: Parameters<Matcher>[0],
  at: number,
  { alphabet, min, max }: NonNullable<TokenShape["lead"]>,
): number {
  let start = at
  while (at - start <= max && start > scene.floor && alphabet[byteBefore(scene, start)] === 1) start -= 1
  return at - start < min || at - start > max ? -1 : start
}

/** `ghp_xxxxxxxx` in documentation. */
const filler = /^[xX*.0_-]+$|[xX]{8}|\*{4}/
/** Twenty characters in a row that nobody would choose as a name. */
const random = /^(?=[A-Za-z]*\d)(?=[a-z0-9]*[A-Z])(?=[A-Z0-9]*[a-z])[A-Za-z0-9]{20}/

export const alphanumeric = alphabetOf(/[A-Za-z0-9]/)
export const upperAlphanumeric = alphabetOf(/[A-Z0-9]/)
