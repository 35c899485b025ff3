import { visibleBut, wordBytes } from "../../base/byte-sets.ts"
import {
  isCamelCase,
  isCodeName,
  isDescribing,
  isDocumented,
  isKept,
  isMember,
  isMixed,
  isPath,
  isProse,
  isRandom,
  isSecretAlone,
  isSlug,
} from "../judgement.ts"
import {
  byteAt,
  byteBefore,
  foundFrom,
  judgedEnd,
  type Matcher,
  type Scene,
  type SecretPosition,
  textAt,
} from "../scene.ts"
import { assignmentHead, keyStart, type Style } from "./assignment-head.ts"

export interface AssignmentShape {
  /**
   * The values that count as secrets. `any`: every value of a password. `mixed`: letters alone may be a name (`token:
   * "comment"`). `random`: only values that no user would choose as a name, for keys that are seldom secret.
   */
  readonly value: "any" | "mixed" | "random"
  readonly min: number
  readonly like?: RegExp
  /** Matches text that makes a key harmless when it precedes the last word of the key. */
  readonly notAfter?: RegExp
}

/**
 * Creates a matcher of `key = value` in the many spellings of files and logs. The anchor is the word at the end of
 * the key.
 */
export function assignmentMatcher(shape: AssignmentShape): Matcher {
  return (scene, at, anchorLength) => {
    if (isRuledOut(scene, at, shape)) return null
    const keyAt = keyStart(scene, at)
    if (isExpansion(scene, keyAt - 2)) return defaultIn(scene, keyAt - 2)
    const head = assignmentHead(scene, at, at + anchorLength)
    if (head !== null && isExpansion(scene, head.valueAt)) return defaultIn(scene, head.valueAt)
    if (head === null || (shape.value === "random" && !isDefinition(head.style))) return null
    const end = judgedEnd(scene, head.valueAt, head.extent)
    const value = textAt(scene, head.valueAt, end)
    if (!isPlausible(value, head.style, shape) || shape.like?.test(value) === false) return null
    if (isKept(value) || isDescribing(value) || isDocumented(value) || isProse(value) || isPath(value))
      return null
    if (head.style === "element" && textAt(scene, end, end + 2) !== "</") return null
    if (isLoose(head.style) && !isAlone(scene, end, value)) return null
    if (isCode(scene, end, value, head.style, shape)) return null
    if (shape.value === "mixed" && isRenamed(value, head.style, textAt(scene, keyAt, at + anchorLength)))
      return null
    if (head.style === "listed" && byteBefore(scene, keyAt) === slash) return null
    return foundFrom(scene, head.valueAt, head.valueAt, end, head.extent)
  }
}

const slash = 47

/**
 * Reports whether the value is another variable of source code: `{ token: token2 }`, or denied: `token =
 * !otherToken`.
 */
function isRenamed(value: string, style: Style, key: string): boolean {
  if (!isLoose(style)) return false
  return value.replace(/\d$/, "").toLowerCase() === key.toLowerCase() || /^![A-Za-z_$]+$/.test(value)
}

/** Rules out keys that are seldom secret, unless the right word precedes them and a file would define them there. */
function isRuledOut(scene: Scene, at: number, shape: AssignmentShape): boolean {
  if (shape.value !== "random") return false
  const keyAt = keyStart(scene, at)
  return byteBefore(scene, keyAt) === equals || shape.notAfter?.test(textAt(scene, keyAt, at)) === true
}

const equals = 61

function isDefinition(style: Style): boolean {
  return style === "line" || style === "json" || style === "quoted" || style === "yaml"
}

function isPlausible(value: string, style: Style, shape: AssignmentShape): boolean {
  if (shape.value === "random") return /^(?:base64:)?[A-Za-z0-9+/=_-]{20,}$/.test(value) && isMixed(value)
  const isAny = shape.value === "any"
  if (/^\d+$/.test(value)) return value.length >= (isAny ? 4 : 12)
  if (value.length < shape.min || (isLoose(style) && value.length < 6)) return false
  if (/^[A-Z_]+[\]).,]{0,3}$/.test(value) && (style === "flag" || isLoose(style))) return false
  if (style === "flag" && value.startsWith("--")) return false
  if (style === "line") return !isArgument(value)
  if (style === "listed")
    return /\d/.test(value) && /[A-Za-z]/.test(value) && (!/\s/.test(value) || isPunctuated(value))
  // The quote closed a string: `"token: " + name`.
  if (style === "quoted" && /^\s|^[+,;)}\]]/.test(value)) return false
  if ((style === "quoted" || isLoose(style)) && !isAny && isCamelCase(value)) return false
  const isWord = /^[A-Za-z]+$/.test(value)
  if (isWord && value.length >= 20) return !isLoose(style) || !isCamelCase(value)
  if (isWord) return isPlausibleWord(value, style, isAny)
  return isAny ? !isLoose(style) || !isSlug(value) : !isSlug(value) && !isSymbolic(value)
}

/** Reports whether the value has more punctuation than prose, as salts of WordPress, which may have blanks too. */
function isPunctuated(value: string): boolean {
  return value.length >= 32 && (value.match(/[^\w\s.,:;'"()/-]/g)?.length ?? 0) >= 3
}

/**
 * Reports whether the value is the argument of a call in source code: `password=password,` or `token=read(file))`.
 */
function isArgument(value: string): boolean {
  const name = value.replace(/[),;:]{1,4}$/, "")
  if (/^[A-Za-z_][\w.]*[([]/.test(value)) return true
  return name !== value && (isCodeName(name) || isDescribing(name))
}

/** Reports whether letters alone may be a weak password; most are a word about one. */
function isPlausibleWord(value: string, style: Style, isAny: boolean): boolean {
  if (isLoose(style)) return style === "yaml" && isAny && value.length >= 8 && value === value.toLowerCase()
  if (style === "json" || style === "element") return isAny || value.length >= 8
  return isAny || (style === "variable" && value.length >= 6)
}

/** Reports whether the value is code about tokens: `token: "=>"`. */
function isSymbolic(value: string): boolean {
  let count = 0
  for (let index = 0; index < value.length; index++) if (wordBytes[value.charCodeAt(index)] === 1) count += 1
  return count * 2 < value.length
}

/** Reports whether only punctuation follows: a loosely introduced word with more behind it begins a sentence. */
function isAlone(scene: Scene, end: number, value: string): boolean {
  if (isRandom(value)) return true
  const rest = textAt(scene, end, end + 64)
  // Letters alone are a value only in YAML, where they end the line.
  if (/^[a-z]+$/.test(value)) return /^[ \t]*\r?(?:$|\n)/.test(rest)
  return /^[ \t]*(?:$|[\r\n#,;})"'|\\&<]|\/\/)/.test(rest)
}

/** Reports whether an unquoted value is source code: a name, a call, an index, a member. */
function isCode(scene: Scene, end: number, value: string, style: Style, shape: AssignmentShape): boolean {
  if (style === "json" || style === "quoted" || style === "listed") return false
  const next = String.fromCharCode(byteAt(scene, end))
  if (/[([{`]/.test(next)) return true
  if (style === "flag" || style === "line" || style === "element") return false
  const isStatement = /[),;]/.test(next) || (style === "spaced" && shape.value !== "any")
  return (isStatement && isCodeName(value)) || (isLoose(style) && isMember(value) && !hasRandomPart(value))
}

/** Reports whether a part is random: `s.` with a token behind it is not a member expression. */
function hasRandomPart(value: string): boolean {
  return value.split(".").some(isMixed)
}

function isLoose(style: Style): boolean {
  return style === "yaml" || style === "spaced"
}

const dollar = 36
const brace = 123

/** Reports whether `${` is at this position. */
function isExpansion(scene: Scene, at: number): boolean {
  return at >= scene.floor && byteAt(scene, at) === dollar && byteAt(scene, at + 1) === brace
}

/**
 * Returns the default of `${NAME:-default}`, of the other operators of a shell and of `${name:default}`, if it looks
 * like a secret by itself: the name of the variable says nothing about it. Otherwise null.
 */
function defaultIn(scene: Scene, expansionAt: number): SecretPosition | null {
  let at = expansionAt
  // A default may be an expansion itself.
  for (let depth = 0; depth < 4 && isExpansion(scene, at); depth++) {
    const head = expansionHead.exec(textAt(scene, at, at + headBytesMax))
    if (head === null) return null
    at += head[0].length
  }
  const end = judgedEnd(scene, at, value)
  return isSecretAlone(textAt(scene, at, end)) ? foundFrom(scene, at, at, end, value) : null
}

const headBytesMax = 128
const expansionHead = /^\$\{[A-Za-z_][\w.-]{0,63}?(?::?[-=?+]|:)["']?/
const value = { members: visibleBut("\"'`,;&()[]{}<>|\\"), escapes: false }
