import { type Alphabet, alphabetOf, wordBytes } from "./alphabet.ts"
import { isDescribing, isKept } from "./judgement.ts"
import { byteBefore, foundFrom, judgedEnd, type Matcher, textAt } from "./scene.ts"

export interface HeadedShape {
  /** From the anchor to the secret: one line, at most `headBytesMax`. */
  readonly head: RegExp
  readonly alphabet: Alphabet
  readonly min: number
  readonly like?: RegExp
}

const headBytesMax = 200

/** Secrets that are told by what stands before them: headers, options of programs. */
export function headedMatcher(shape: HeadedShape): Matcher {
  const extent = { members: shape.alphabet, escapes: false }
  return (scene, at) => {
    if (wordBytes[byteBefore(scene, at)] === 1) return null
    const head = shape.head.exec(textAt(scene, at, at + headBytesMax))
    if (head === null) return null
    const start = at + head[0].length
    const end = judgedEnd(scene, start, extent)
    const value = textAt(scene, start, end)
    const isShort = value.length < shape.min && !(scene.final && end === scene.end && value.length >= 6)
    if (isShort || isKept(value) || isDescribing(value)) return null
    if (shape.like !== undefined && !shape.like.test(value)) return null
    return foundFrom(scene, start, start, end, extent)
  }
}

export const credentialBytes = alphabetOf(/[A-Za-z0-9._~+/=:%-]/)
