import { visibleBut } from "./alphabet.ts"
import { extentInside, shellMarks } from "./assignment-head.ts"
import { isDescribing, isKept } from "./judgement.ts"
import { lineBefore } from "./match-header.ts"
import { foundFrom, judgedEnd, type Matcher, textAt } from "./scene.ts"

export interface OptionShape {
  /** Only of these programs is the option known to take a password. */
  readonly programs: readonly string[]
  /** From the anchor to the password. */
  readonly head: RegExp
}

const valueMin = 3
const headBytesMax = 100
const unquoted = { members: visibleBut("\"'`\\;|&<>"), escapes: false, marks: shellMarks }

/**
 * A password given by a short option, whose meaning depends on the program. The program is looked for a little way
 * back on the same line, and not beyond a secret that was replaced there: a second redaction must see the same.
 */
export function optionMatcher(shape: OptionShape): Matcher {
  return (scene, at) => {
    const head = shape.head.exec(textAt(scene, at, at + headBytesMax))
    if (head === null) return null
    const start = at + head[0].length
    const value = /["'`]$/.test(head[0]) ? extentInside(scene, start) : unquoted
    const end = judgedEnd(scene, start, value)
    const text = textAt(scene, start, end)
    if (text.length < valueMin || isKept(text) || isDescribing(text)) return null
    const before = lineBefore(scene, at)
    if (!shape.programs.some(program => isCalled(before, program))) return null
    return foundFrom(scene, start, start, end, value)
  }
}

function isCalled(line: string, program: string): boolean {
  const at = line.lastIndexOf(program)
  // Behind an escaped line end, as in a string of JSON, a command begins too.
  if (at < 1 || !/[\s/"'`($;&|>]$|\\[nrt]$/.test(line.slice(0, at))) return false
  return !/[\n\r|;&[\]]/.test(line.slice(at))
}
