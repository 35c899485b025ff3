import { type Alphabet, alphabetOf } from "./alphabet.ts"
import { isDescribing, isDocumented, isKept } from "./judgement.ts"
import { byteBefore, foundFrom, judgedEnd, type Matcher, type Scene, textAt } from "./scene.ts"

export interface HeadedShape {
  /** From the anchor to the secret: one line, at most `headBytesMax`. */
  readonly head: RegExp
  readonly alphabet: Alphabet
  readonly min: number
  readonly like?: RegExp
  /** What the line must have before the anchor, and behind the secret. */
  readonly before?: RegExp
  readonly after?: RegExp
}

const headBytesMax = 200
const lineBytesMax = 100

/** Secrets that are told by what stands before them: headers, lines of files with a form of their own. */
export function headedMatcher(shape: HeadedShape): Matcher {
  const extent = { members: shape.alphabet, escapes: false }
  return (scene, at) => {
    const head = shape.head.exec(textAt(scene, at, at + headBytesMax))
    if (head === null) return null
    const start = at + head[0].length
    const end = judgedEnd(scene, start, extent)
    const value = textAt(scene, start, end)
    const isShort = value.length < shape.min && !(scene.final && end === scene.end && value.length >= 6)
    if (isShort || isKept(value) || isDescribing(value) || isDocumented(value)) return null
    if (shape.like !== undefined && !shape.like.test(value)) return null
    if (shape.before !== undefined && !shape.before.test(lineBefore(scene, at))) return null
    if (shape.after !== undefined && !shape.after.test(textAt(scene, end, end + 8))) return null
    return foundFrom(scene, start, start, end, extent)
  }
}

/** A little of what stands before; not beyond a secret that was replaced, or a second redaction would see more. */
export function lineBefore(scene: Scene, at: number): string {
  const from = Math.max(scene.floor, at - lineBytesMax)
  return String.fromCharCode(byteBefore(scene, from)) + textAt(scene, from, at)
}

export const credentialBytes = alphabetOf(/[A-Za-z0-9._~+/=:%-]/)
