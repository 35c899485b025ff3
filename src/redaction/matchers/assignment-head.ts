import { alphabetOf, visibleBut } from "../../base/byte-sets.ts"
import { byteAt, byteBefore, type Extent, judgedEnd, newline, type Scene, textAt } from "../scene.ts"

/**
 * The introduction of a value; the looser it is, the more the value has to look like a secret. `json` has a key in
 * double quotes, `line` is `NAME=value` on its own line, `listed` is `("name", "value")`, `yaml` is `name: value` and
 * `spaced` is `name = value`, both without quotes.
 */
export type Style =
  | "json"
  | "quoted"
  | "listed"
  | "line"
  | "variable"
  | "flag"
  | "element"
  | "yaml"
  | "spaced"

export interface Head {
  readonly style: Style
  readonly valueAt: number
  readonly extent: Extent
}

/**
 * Reads from the end of a keyword to the start of its value, byte by byte: most keywords are in prose, and a string
 * for the rest of each would cost more than everything else.
 */
export function assignmentHead(scene: Scene, at: number, keywordEnd: number): Head | null {
  let next = keywordEnd + suffixLength(scene, keywordEnd)
  const close = quoteLength(scene, next)
  const isDouble = close > 0 && byteAt(scene, next + close - 1) === doubleQuote
  next += close
  if (close > 0 && byteAt(scene, next) === closingBracket) next += 1
  const gap = blankCount(scene, next)
  const separator = separatorAt(scene, next + gap)
  if (separator === null) return otherHead(scene, at, next, gap, close)
  next += gap + separator.length
  const space = blankCount(scene, next)
  const open = openingLength(scene, next + space)
  const valueAt = next + space + open
  const { sign } = separator
  const keyAt = keyStart(scene, at)
  if (sign === ",") {
    const isListed = close > 0 && open > 0 && byteAt(scene, valueAt - 1) !== backtick
    return isListed ? quoted(scene, "listed", valueAt, open) : null
  }
  if (sign === ">") return elementOf(scene, keyAt, at, valueAt, close)
  if (open > 0) return quoted(scene, isDouble && sign === ":" ? "json" : "quoted", valueAt, open)
  if (separator.length === 3) return { style: "variable", valueAt, extent: encoded }
  if (isDashed(scene, keyAt)) return { style: "flag", valueAt, extent: word }
  if (sign !== "=" || gap > 0 || space > 0)
    return { style: sign === ":" ? "yaml" : "spaced", valueAt, extent: bare }
  if (startsLine(scene, keyAt)) return { style: "line", valueAt, extent: wide }
  return { style: "variable", valueAt, extent: isParameter(scene, keyAt) ? parameter : bare }
}

/**
 * Reads introductions without a separator: an option, an attribute of XML beside the one with the key, an element
 * behind another.
 */
function otherHead(scene: Scene, at: number, next: number, gap: number, close: number): Head | null {
  if (gap === 0 && byteAt(scene, next) !== lessThan) return null
  if (gap > 0 && close === 0) return flagOf(scene, at, next + gap)
  const text = textAt(scene, next, next + otherHeadBytes)
  const found = (gap > 0 ? attribute : sibling).exec(text)
  if (found === null) return null
  const valueAt = next + found[0].length
  return gap > 0 ? quoted(scene, "quoted", valueAt, 1) : { style: "element", valueAt, extent: element }
}

const otherHeadBytes = 64
/** Matches `<add key="password" value="…"/>`. */
const attribute = /^[ \t]{1,8}value[ \t]{0,4}=[ \t]{0,4}\\{0,4}["']/i
/** Matches `<key>password</key><string>…</string>`. */
const sibling = /^<\/[A-Za-z:]{1,16}>[ \t]{0,8}<(?:string|value|data)>/i

/** Reads `<password>…</password>` or `<property name="password">…</property>`. */
function elementOf(scene: Scene, keyAt: number, at: number, valueAt: number, close: number): Head | null {
  const head: Head = { style: "element", valueAt, extent: element }
  if (close > 0)
    return /[\s<](?:name|key|id)=\\*["']$/i.test(textAt(scene, Math.max(scene.floor, keyAt - 12), keyAt))
      ? head
      : null
  if (byteBefore(scene, keyAt) !== lessThan) return null
  const [name = ""] = textAt(scene, at, valueAt).toLowerCase().split(">")
  const end = judgedEnd(scene, valueAt, element)
  return textAt(scene, end, end + keyBytesMax + name.length + 2)
    .toLowerCase()
    .includes(name)
    ? head
    : null
}

const doubleQuote = 34
const backtick = 96
const closingBracket = 93
const lessThan = 60

const suffixBytes = alphabetOf(/[_0-9kavsb-]/i)
/** Matches the part of a key behind its keyword: `SECRET_KEY_BASE`, `password2`. */
const suffix = /^(?:[_-]?(?:access[_-]?key|key(?:[_-]?base)?|value|string|b64|base64))?\d{0,2}/i

function suffixLength(scene: Scene, from: number): number {
  if (suffixBytes[byteAt(scene, from)] !== 1) return 0
  return suffix.exec(textAt(scene, from, from + 20))?.[0].length ?? 0
}

const quoteBytes = alphabetOf(/["'`]/)
const backslash = 92

/**
 * Returns the length of a quote with its backslashes, as in a string inside a string, or of its URL-encoded form; 0
 * without a quote.
 */
function quoteLength(scene: Scene, from: number): number {
  let at = from
  while (at - from < 4 && byteAt(scene, at) === backslash) at += 1
  if (quoteBytes[byteAt(scene, at)] === 1) return at - from + 1
  return byteAt(scene, from) === percent && /^%2[27]/.test(textAt(scene, from, from + 3)) ? 3 : 0
}

const quotePrefixes = alphabetOf(/[$@brufLN]/i)

/**
 * Returns the length of the opening of a value: a quote, with the letter that some languages put before it (`b"…"`,
 * `$'…'`, `@"…"`).
 */
function openingLength(scene: Scene, from: number): number {
  const plain = quoteLength(scene, from)
  if (plain > 0 || quotePrefixes[byteAt(scene, from)] !== 1) return plain
  const quote = quoteLength(scene, from + 1)
  return quote === 0 ? 0 : quote + 1
}

/** Values are often aligned in a column. */
const blanksMax = 40

function blankCount(scene: Scene, from: number): number {
  let at = from
  while (at - from < blanksMax && isBlank(byteAt(scene, at))) at += 1
  return at - from
}

function isBlank(byte: number): boolean {
  return byte === 32 || byte === 9
}

interface Separator {
  readonly sign: "=" | ":" | "=>" | "," | ">"
  readonly length: number
}

/** Returns the separator, if any; comparisons (`==`, `=~`), `::` and `://` are not separators. */
function separatorAt(scene: Scene, at: number): Separator | null {
  const after = byteAt(scene, at + 1)
  switch (byteAt(scene, at)) {
    case equals:
      if (after === greaterThan) return { sign: "=>", length: 2 }
      return after === equals || after === tilde ? null : { sign: "=", length: 1 }
    case colon:
      if (after === equals) return { sign: "=>", length: 2 }
      return after === colon || (after === slash && byteAt(scene, at + 2) === slash)
        ? null
        : { sign: ":", length: 1 }
    case comma: {
      const value = at + 1 + blankCount(scene, at + 1)
      return openingLength(scene, value) > 0 ? { sign: ",", length: 1 } : null
    }
    case greaterThan:
      return { sign: ">", length: 1 }
    case percent: {
      const code = textAt(scene, at, at + 3)
      return /^%3[ad]$/i.test(code) ? { sign: /d$/i.test(code) ? "=" : ":", length: 3 } : null
    }
    default:
      return null
  }
}

const percent = 37
const equals = 61
const colon = 58
const comma = 44
const greaterThan = 62
const tilde = 126
const slash = 47

/** Reads `--password value`. */
function flagOf(scene: Scene, at: number, valueStart: number): Head | null {
  const keyAt = keyStart(scene, at)
  if (!isDashed(scene, keyAt) && !/\bsetx $/i.test(textAt(scene, Math.max(scene.floor, keyAt - 6), keyAt)))
    return null
  const open = openingLength(scene, valueStart)
  const valueAt = valueStart + open
  return open > 0 ? quoted(scene, "quoted", valueAt, open) : { style: "flag", valueAt, extent: word }
}

const dash = 45

function isDashed(scene: Scene, keyAt: number): boolean {
  return byteAt(scene, keyAt) === dash && byteAt(scene, keyAt + 1) === dash
}

/** Returns the extent of a value in an escaped quote, which opens a string inside a string: a backslash ends it. */
export function extentInside(scene: Scene, valueAt: number): Extent {
  const isEscaped = byteAt(scene, valueAt - 2) === backslash && valueAt - 2 >= scene.floor
  if (isEscaped) return escaped
  const quote = insideQuotes.get(byteAt(scene, valueAt - 1))
  return quote ?? encoded
}

function quoted(scene: Scene, style: Style, valueAt: number, open: number): Head {
  return { style, valueAt, extent: open === 0 ? bare : extentInside(scene, valueAt) }
}

/**
 * Characters that a shell's backslash includes in a word; not another backslash, which may escape a line end in JSON.
 */
export const shellMarks = alphabetOf(/[^A-Za-z0-9"'`\\\n\r]/)
const bare = { members: visibleBut("\"'`,;&()[]{}<>|\\"), escapes: false, marks: shellMarks }
const parameter = { members: visibleBut("\"'`,;&()[]{}<>\\"), escapes: false }
const encoded = { members: alphabetOf(/[A-Za-z0-9_.~+/=-]/), escapes: false }
const word = { members: visibleBut("\"'`\\;|&<>"), escapes: false, marks: shellMarks }
const wide = { members: visibleBut("\"'`\\"), escapes: false, marks: shellMarks }
const element = { members: alphabetOf(/[^<\n\r]/), escapes: false }
const escaped = { members: alphabetOf(/[^"'`\\\n\r]/), escapes: false }
const insideQuotes = new Map<number, Extent>([
  [34, { members: alphabetOf(/[^"\n\r]/), escapes: true }],
  [39, { members: alphabetOf(/[^'\n\r]/), escapes: true }],
  [96, { members: alphabetOf(/[^`\n\r]/), escapes: true }],
])

/** Reports whether the key is that of `?name=` or `&name=`, where a value may contain a bar. */
function isParameter(scene: Scene, keyAt: number): boolean {
  const before = byteBefore(scene, keyAt)
  return before === questionMark || before === ampersand
}

const questionMark = 63
const ampersand = 38

const keyBytesMax = 64
const keyBytes = alphabetOf(/[A-Za-z0-9_.$-]/)

/** Returns the start of the key that ends with the keyword. */
export function keyStart(scene: Scene, at: number): number {
  let start = at
  while (at - start < keyBytesMax && start > scene.floor && keyBytes[byteBefore(scene, start)] === 1)
    start -= 1
  return start
}

/** Reports whether the key starts a line of its own: in `NAME=value` the value extends to the next space. */
function startsLine(scene: Scene, keyAt: number): boolean {
  let start = keyAt
  // The line ends of a text inside a string.
  if (byteBefore(scene, keyAt) === backslash && /[nr]/.test(textAt(scene, keyAt, keyAt + 1))) return true
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
