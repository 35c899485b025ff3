import { type Alphabet, alphabetOf, visibleBut } from "../../base/byte-sets.ts"
import { isDescribing, isDocumented, isKept, isRandom } from "../judgement.ts"
import {
  byteBefore,
  extentEnd,
  foundFrom,
  judgedBytes,
  judgedEnd,
  type Matcher,
  type Scene,
  textAt,
} from "../scene.ts"
import { extentInside, shellMarks } from "./assignment-head.ts"

export interface HeadedShape {
  /** Matches from the anchor to the secret: one line, at most `headBytesMax`. */
  readonly head: RegExp
  readonly alphabet: Alphabet
  readonly min: number
  readonly like?: RegExp
  /** Text that the line must have before the anchor, and behind the secret. */
  readonly before?: RegExp
  readonly after?: RegExp
}

const headBytesMax = 200
const lineBytesMax = 100

/**
 * Creates a matcher of secrets that the text before them identifies: headers, lines of files with their own format.
 */
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

/** Returns some text before the anchor, but none before a replaced secret, or a second redaction would see more. */
function lineBefore(scene: Scene, at: number): string {
  const from = Math.max(scene.floor, at - lineBytesMax)
  return String.fromCharCode(byteBefore(scene, from)) + textAt(scene, from, at)
}

export const credentialBytes = alphabetOf(/[A-Za-z0-9._~+/=:%-]/)

const head = /^cookie\\*["']?\]?[ \t]{0,4}(?:[:=]|,(?=[ \t]*\\*["']))[ \t]{0,4}\\*["'`]?/i
const cookieBytesMax = 32
const pair = /([^\s;=,"'`\\]{1,128})=([^\s;,"'`\\]*)/g
/** Tried first, because it fails fast. */
const anyValue = /=[^\s;,"'`\\]{8}/
const rest = { members: alphabetOf(/[^"'`\\\r\n]/), escapes: false }
/** Attributes of a cookie, and names that never have a secret. */
const harmless =
  /^(?:path|domain|expires|max-age|samesite|version|priority|_g[aid]\w*|_gat\w*|utm\w*|lang|locale|theme)$/i
const sessionName = /sess|sid$|auth|csrf|xsrf|remember|login|jwt|token/i
const cookieValueMin = 8
const randomMin = 16

/** Finds random values of a cookie header: `sessionid=…`, but not `theme=dark`. */
export const cookieMatcher: Matcher = (scene, at) => {
  const found = head.exec(textAt(scene, at, at + cookieBytesMax))
  if (found === null) return null
  const from = at + found[0].length
  const end = extentEnd(scene.bytes, from, Math.min(scene.end, from + judgedBytes), rest)
  const text = textAt(scene, from, end)
  if (!anyValue.test(text)) return null
  const spans: { start: number; end: number }[] = []
  for (const match of text.matchAll(pair)) {
    const [whole, name = "", value = ""] = match
    const start = from + match.index + whole.length - value.length
    if (isSecret(name, value)) spans.push({ start, end: start + value.length })
  }
  const goesOn = end - from >= judgedBytes && spans.length > 0
  // A header that is longer than the judged part is replaced from its last secret on.
  const last = goesOn ? spans.pop() : undefined
  if (last !== undefined) spans.push({ start: last.start, end: extentEnd(scene.bytes, end, scene.end, rest) })
  const [first, ...also] = spans
  if (first === undefined) return null
  return { ...first, also, extent: goesOn ? rest : null }
}

function isSecret(name: string, value: string): boolean {
  if (harmless.test(name) || isKept(value)) return false
  if (sessionName.test(name)) return value.length >= cookieValueMin && /\d/.test(value)
  return value.length >= randomMin && isRandom(value)
}

export interface OptionShape {
  /** The programs whose option takes a password. */
  readonly programs: readonly string[]
  /** Matches from the anchor to the password. */
  readonly head: RegExp
}

const valueMin = 3
const optionBytesMax = 100
const unquoted = { members: visibleBut("\"'`\\;|&<>"), escapes: false, marks: shellMarks }

/**
 * Creates a matcher of passwords in short options, whose meaning depends on the program. The program is searched for
 * on the same line a short distance back, but not before a replaced secret: a second redaction must see the same.
 */
export function optionMatcher(shape: OptionShape): Matcher {
  return (scene, at) => {
    const head = shape.head.exec(textAt(scene, at, at + optionBytesMax))
    if (head === null) return null
    const start = at + head[0].length
    const value = /["'`]$/.test(head[0]) ? extentInside(scene, start) : unquoted
    const end = judgedEnd(scene, start, value)
    const text = textAt(scene, start, end)
    if (text.length < valueMin || isKept(text) || isDescribing(text)) return null
    const before = lineBefore(scene, at).replace(/\\\r?\n/g, " ")
    if (!shape.programs.some(program => isCalled(before, program))) return null
    return foundFrom(scene, start, start, end, value)
  }
}

function isCalled(line: string, program: string): boolean {
  const at = line.lastIndexOf(program)
  // A command also begins behind an escaped line end, as in a string of JSON.
  if (at < 1 || !/[\s/"'`($;&|>]$|\\[nrt]$/.test(line.slice(0, at))) return false
  return !/[\n\r|;&[\]]/.test(line.slice(at))
}
