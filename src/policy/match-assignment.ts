import { alphabetOf, visibleBut, wordBytes } from "./alphabet.ts"
import {
  isCamelCase,
  isCodeName,
  isDescribing,
  isKept,
  isMember,
  isMixed,
  isPath,
  isProse,
  isRandom,
  isSlug,
} from "./judgement.ts"
import {
  byteAt,
  byteBefore,
  type Extent,
  foundFrom,
  judgedEnd,
  type Matcher,
  newline,
  type Scene,
  textAt,
} from "./scene.ts"

export interface AssignmentShape {
  /**
   * `any`: what is called a password is one. `mixed`: letters alone may be a name (`token: "comment"`). `random`:
   * only what nobody would choose as a name, for keys that are seldom secret.
   */
  readonly value: "any" | "mixed" | "random"
  readonly min: number
  /** Not a secret when the key has this before its last word. */
  readonly notAfter?: RegExp
}

/**
 * How a value is introduced; the looser the way, the more it has to look like a secret. `json` has a key in double
 * quotes, `line` is `NAME=value` as a line of its own, `listed` is `("name", "value")`,
 * `yaml` is `name: value` and `spaced` is `name = value`, both without quotes.
 */
type Style = "json" | "quoted" | "listed" | "line" | "variable" | "flag" | "element" | "yaml" | "spaced"

interface Head {
  readonly style: Style
  readonly valueAt: number
  readonly extent: Extent
}

const keyBytesMax = 64
const headBytesMax = 64
const keyBytes = alphabetOf(/[A-Za-z0-9_.$-]/)

/** What may end a key after the word that makes it one: `SECRET_KEY_BASE`, `password2`. */
const keyEnd = String.raw`(?:[_-]?(?:access[_-]?key|key(?:[_-]?base)?|value|string|b64|base64))?\d{0,2}`
/** Groups: the quote that closes the key, blanks, the separator, blanks, the quote that opens the value. */
const separated = new RegExp(
  String.raw`^${keyEnd}(?:(\\{0,4}["'\x60])\]?)?([ \t]{0,8})(=>|:=|=(?![=~>])|:(?![:=]|\/\/)|,(?=[ \t]*["'])|>|[ \t](?=[^ \t=:>]))([ \t]{0,8})(\\{0,4}["'\x60])?`,
  "i",
)

/** `key = value` in the many ways files and logs spell it. The anchor is the word at the end of the key. */
export function assignmentMatcher(shape: AssignmentShape): Matcher {
  return (scene, at, anchorLength) => {
    if (shape.value === "random" && byteBefore(scene, keyStart(scene, at)) === equals) return null
    const head = headOf(scene, at, at + anchorLength)
    if (head === null || !isTried(scene, at, head.style, shape)) return null
    const end = judgedEnd(scene, head.valueAt, head.extent)
    const value = textAt(scene, head.valueAt, end)
    if (!isPlausible(value, head.style, shape)) return null
    if (isKept(value) || isDescribing(value) || isProse(value) || isPath(value)) return null
    if (head.style === "element" && textAt(scene, end, end + 2) !== "</") return null
    if (isLoose(head.style) && !isAlone(scene, end, value)) return null
    if (isCode(scene, end, value, head.style, shape)) return null
    return foundFrom(scene, head.valueAt, head.valueAt, end, head.extent)
  }
}

/** Keys that are seldom secret count only where a file would define them. */
function isTried(scene: Scene, at: number, style: Style, shape: AssignmentShape): boolean {
  if (shape.value !== "random") return true
  const isDefined = style === "line" || style === "json" || style === "quoted" || style === "yaml"
  return isDefined && shape.notAfter?.test(textAt(scene, keyStart(scene, at), at)) !== true
}

function headOf(scene: Scene, at: number, keyEndAt: number): Head | null {
  if (!isSeparated(scene, at, keyEndAt)) return null
  const match = separated.exec(textAt(scene, keyEndAt, keyEndAt + headBytesMax))
  if (match === null) return null
  const [whole, close, gap, sep = "", space, open] = match
  const keyAt = keyStart(scene, at)
  const valueAt = keyEndAt + whole.length
  if (sep === ",") return close === undefined || open === undefined ? null : quoted("listed", valueAt, open)
  if (sep === ">")
    return byteBefore(scene, keyAt) === lessThan ? { style: "element", valueAt, extent: element } : null
  const isFlag = isDashed(scene, keyAt)
  if (sep.trim() === "" && !isFlag) return null
  if (open !== undefined)
    return quoted(close?.endsWith(`"`) && sep === ":" ? "json" : "quoted", valueAt, open)
  if (isFlag) return { style: "flag", valueAt, extent: wide }
  if (sep !== "=" || gap !== "" || space !== "")
    return { style: sep === ":" ? "yaml" : "spaced", valueAt, extent: bare }
  return startsLine(scene, keyAt)
    ? { style: "line", valueAt, extent: wide }
    : { style: "variable", valueAt, extent: bare }
}

const afterKey = alphabetOf(/[ \t"'`\\\]]/)
const keySuffix = alphabetOf(/[_0-9kavsb-]/i)
const separators = alphabetOf(/[=:>,]/)
const afterKeyBytesMax = 14
const dash = 45

/** Most keywords stand in prose. This turns them away before anything is made a string of. */
function isSeparated(scene: Scene, at: number, keyEndAt: number): boolean {
  if (keySuffix[byteAt(scene, keyEndAt)] === 1) return true
  let next = keyEndAt
  while (next - keyEndAt < afterKeyBytesMax && afterKey[byteAt(scene, next)] === 1) next += 1
  if (separators[byteAt(scene, next)] === 1) return true
  return isDashed(scene, keyStart(scene, at))
}

function isDashed(scene: Scene, keyAt: number): boolean {
  return byteAt(scene, keyAt) === dash && byteAt(scene, keyAt + 1) === dash
}

/** An escaped quote opens a string inside a string: there the backslash is what ends it. */
function quoted(style: Style, valueAt: number, open: string): Head {
  const escaped = open.length > 1
  const members = escaped ? insideEscaped : (insideQuotes.get(open) ?? insideEscaped)
  return { style, valueAt, extent: { members, escapes: !escaped } }
}

const bare = { members: visibleBut("\"'`,;&()[]{}<>|\\"), escapes: false }
const wide = { members: visibleBut("\"'`\\"), escapes: false }
const element = { members: alphabetOf(/[^<\n\r]/), escapes: false }
const insideEscaped = alphabetOf(/[^"'`\\\n\r]/)
const insideQuotes = new Map([
  [`"`, alphabetOf(/[^"\n\r]/)],
  ["'", alphabetOf(/[^'\n\r]/)],
  ["`", alphabetOf(/[^`\n\r]/)],
])
const lessThan = 60
const equals = 61

function keyStart(scene: Scene, at: number): number {
  let start = at
  while (at - start < keyBytesMax && start > scene.floor && keyBytes[byteBefore(scene, start)] === 1)
    start -= 1
  return start
}

/** `NAME=value` as a line of its own, where the value goes on to the next space whatever it contains. */
function startsLine(scene: Scene, keyAt: number): boolean {
  let start = keyAt
  if (isBlank(byteBefore(scene, keyAt))) {
    const before = textAt(scene, Math.max(scene.floor, keyAt - 8), keyAt)
    const word = /(?:^|[\s;])(?:export|set|ENV|ARG|setx) $/.exec(before)
    if (word !== null) start -= word[0].trim().length + 1
  }
  for (let blanks = 0; blanks < 40; blanks++) {
    const before = byteBefore(scene, start)
    if (before === newline || before === carriageReturn) return true
    if (!isBlank(before)) return false
    start -= 1
  }
  return false
}

const carriageReturn = 13

function isBlank(byte: number): boolean {
  return byte === 32 || byte === 9
}

function isPlausible(value: string, style: Style, shape: AssignmentShape): boolean {
  if (shape.value === "random") return /^[A-Za-z0-9+/=_-]{20,}$/.test(value) && isMixed(value)
  const isAny = shape.value === "any"
  if (/^\d+$/.test(value)) return value.length >= (isAny ? 4 : 12)
  if (value.length < shape.min || (isLoose(style) && value.length < 6)) return false
  if (/^[A-Z_]+$/.test(value) && (style === "flag" || isLoose(style))) return false
  if (style === "line") return !isArgument(value)
  if (style === "listed") return /\d/.test(value) && /[A-Za-z]/.test(value) && !/\s/.test(value)
  // The quote closed a string: `"token: " + name`.
  if (style === "quoted" && /^\s|^[+,;)}\]]/.test(value)) return false
  if ((style === "quoted" || isLoose(style)) && !isAny && isCamelCase(value)) return false
  const isWord = /^[A-Za-z]+$/.test(value)
  if (isWord && value.length >= 20) return !isLoose(style) || !isCamelCase(value)
  if (isWord) return isPlausibleWord(value, style, isAny)
  return isAny ? !isLoose(style) || !isSlug(value) : !isSlug(value) && !isSymbolic(value)
}

/** A line of a call in source code: `password=password,` or `token=read(file))`. */
function isArgument(value: string): boolean {
  const name = value.replace(/[),;:]{1,4}$/, "")
  if (/^[A-Za-z_][\w.]*[([]/.test(value)) return true
  return name !== value && (isCodeName(name) || isDescribing(name))
}

/** Letters alone: a weak password, or a word about one. */
function isPlausibleWord(value: string, style: Style, isAny: boolean): boolean {
  if (isLoose(style)) return style === "yaml" && isAny && value.length >= 8 && value === value.toLowerCase()
  if (style === "json" || style === "element") return isAny || value.length >= 8
  return isAny || (style === "variable" && value.length >= 6)
}

/** Code about tokens: `token: "=>"`. */
function isSymbolic(value: string): boolean {
  let count = 0
  for (let index = 0; index < value.length; index++) if (wordBytes[value.charCodeAt(index)] === 1) count += 1
  return count * 2 < value.length
}

/** A loosely introduced word is a value only when nothing but punctuation follows; else it begins a sentence. */
function isAlone(scene: Scene, end: number, value: string): boolean {
  if (isRandom(value)) return true
  const rest = textAt(scene, end, end + 64)
  // Letters alone are a value only in YAML, where they end the line.
  if (/^[a-z]+$/.test(value)) return /^[ \t]*\r?(?:$|\n)/.test(rest)
  return /^[ \t]*(?:$|[\r\n#,;})"'|\\&<]|\/\/)/.test(rest)
}

/** Unquoted in source code: a name, a call, an index, a member. */
function isCode(scene: Scene, end: number, value: string, style: Style, shape: AssignmentShape): boolean {
  if (style === "json" || style === "quoted" || style === "listed") return false
  const next = String.fromCharCode(byteAt(scene, end))
  if (/[([{`]/.test(next)) return true
  if (style === "flag" || style === "line" || style === "element") return false
  const isStatement = /[),;]/.test(next) || (style === "spaced" && shape.value !== "any")
  return (isStatement && isCodeName(value)) || (isLoose(style) && isMember(value))
}

function isLoose(style: Style): boolean {
  return style === "yaml" || style === "spaced"
}
