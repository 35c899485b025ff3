import { visibleBut } from "./alphabet.ts"
import { isDescribing, isKept } from "./judgement.ts"
import { byteBefore, foundFrom, judgedEnd, type Matcher, textAt } from "./scene.ts"

export interface OptionShape {
  /** Only of these programs is the option known to take a password. */
  readonly programs: readonly string[]
  /** From the anchor to the password. */
  readonly head: RegExp
}

const valueMin = 3
const lineBytesMax = 100
const headBytesMax = 100
const value = { members: visibleBut("\"'`\\;|&<>"), escapes: false }

/**
 * A password given by a short option, whose meaning depends on the program. The program is looked for a little way
 * back on the same line, and not beyond a secret that was replaced there: a second redaction must see the same.
 */
export function optionMatcher(shape: OptionShape): Matcher {
  return (scene, at) => {
    const head = shape.head.exec(textAt(scene, at, at + headBytesMax))
    if (head === null) return null
    const start = at + head[0].length
    const end = judgedEnd(scene, start, value)
    const text = textAt(scene, start, end)
    if (text.length < valueMin || isKept(text) || isDescribing(text)) return null
    const from = Math.max(scene.floor, at - lineBytesMax)
    const before = String.fromCharCode(byteBefore(scene, from)) + textAt(scene, from, at)
    if (!shape.programs.some(program => isCalled(before, program))) return null
    return foundFrom(scene, start, start, end, value)
  }
}

function isCalled(line: string, program: string): boolean {
  const at = line.lastIndexOf(program)
  if (at < 1 || !/[\s/"'`($;&|]/.test(line[at - 1] ?? "")) return false
  return !/[\n\r|;&[\]]/.test(line.slice(at))
}
