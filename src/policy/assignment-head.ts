import { alphabetOf, visibleBut } from "./alphabet.ts"
import { byteAt, byteBefore, type Extent, newline, type Scene, textAt } from "./scene.ts"

/**
 * How a value is introduced; the looser the way, the more it has to look like a secret. `json` has a key in double
 * quotes, `line` is `NAME=value` as a line of its own, `listed` is `("name", "value")`,
 * `yaml` is `name: value` and `spaced` is `name = value`, both without quotes.
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
 * Reads from the end of a keyword to where its value begins, byte by byte: most keywords stand in prose, and making a
 * string of what follows each of them would cost more than everything else.
 */
export function headOf(scene: Scene, at: number, keywordEnd: number): Head | null {
  let next = keywordEnd + suffixLength(scene, keywordEnd)
  const close = quoteLength(scene, next)
  const isDouble = close > 0 && byteAt(scene, next + close - 1) === doubleQuote
  next += close
  if (close > 0 && byteAt(scene, next) === closingBracket) next += 1
  const gap = blankCount(scene, next)
  const separator = separatorAt(scene, next + gap)
  if (separator === null) return gap === 0 ? null : flagOf(scene, at, next + gap)
  next += gap + separator.length
  const space = blankCount(scene, next)
  const open = quoteLength(scene, next + space)
  const valueAt = next + space + open
  if (separator === ",") return close === 0 || open === 0 ? null : quoted(scene, "listed", valueAt, open)
  const keyAt = keyStart(scene, at)
  if (separator === ">")
    return byteBefore(scene, keyAt) === lessThan ? { style: "element", valueAt, extent: element } : null
  if (open > 0) return quoted(scene, isDouble && separator === ":" ? "json" : "quoted", valueAt, open)
  if (isDashed(scene, keyAt)) return { style: "flag", valueAt, extent: wide }
  if (separator !== "=" || gap > 0 || space > 0)
    return { style: separator === ":" ? "yaml" : "spaced", valueAt, extent: bare }
  return startsLine(scene, keyAt)
    ? { style: "line", valueAt, extent: wide }
    : { style: "variable", valueAt, extent: bare }
}

const doubleQuote = 34
const closingBracket = 93
const lessThan = 60

const suffixBytes = alphabetOf(/[_0-9kavsb-]/i)
/** What may end a key after the word that makes it one: `SECRET_KEY_BASE`, `password2`. */
const suffix = /^(?:[_-]?(?:access[_-]?key|key(?:[_-]?base)?|value|string|b64|base64))?\d{0,2}/i

function suffixLength(scene: Scene, from: number): number {
  if (suffixBytes[byteAt(scene, from)] !== 1) return 0
  return suffix.exec(textAt(scene, from, from + 20))?.[0].length ?? 0
}

const quoteBytes = alphabetOf(/["'`]/)
const backslash = 92

/** A quote with the backslashes that a string inside a string has before it; 0 when there is none. */
function quoteLength(scene: Scene, from: number): number {
  let at = from
  while (at - from < 4 && byteAt(scene, at) === backslash) at += 1
  return quoteBytes[byteAt(scene, at)] === 1 ? at - from + 1 : 0
}

function blankCount(scene: Scene, from: number): number {
  let at = from
  while (at - from < 8 && isBlank(byteAt(scene, at))) at += 1
  return at - from
}

function isBlank(byte: number): boolean {
  return byte === 32 || byte === 9
}

/** Not the comparisons (`==`, `=~`), nor `::` and `://`. */
function separatorAt(scene: Scene, at: number): "=" | ":" | "=>" | ":=" | "," | ">" | null {
  const after = byteAt(scene, at + 1)
  switch (byteAt(scene, at)) {
    case equals:
      if (after === greaterThan) return "=>"
      return after === equals || after === tilde ? null : "="
    case colon:
      if (after === equals) return ":="
      return after === colon || (after === slash && byteAt(scene, at + 2) === slash) ? null : ":"
    case comma: {
      const value = at + 1 + blankCount(scene, at + 1)
      return quoteLength(scene, value) > 0 ? "," : null
    }
    case greaterThan:
      return ">"
    default:
      return null
  }
}

const equals = 61
const colon = 58
const comma = 44
const greaterThan = 62
const tilde = 126
const slash = 47

/** `--password value` */
function flagOf(scene: Scene, at: number, valueStart: number): Head | null {
  if (!isDashed(scene, keyStart(scene, at))) return null
  const open = quoteLength(scene, valueStart)
  const valueAt = valueStart + open
  return open > 0 ? quoted(scene, "quoted", valueAt, open) : { style: "flag", valueAt, extent: wide }
}

const dash = 45

function isDashed(scene: Scene, keyAt: number): boolean {
  return byteAt(scene, keyAt) === dash && byteAt(scene, keyAt + 1) === dash
}

/** An escaped quote opens a string inside a string: there the backslash is what ends it. */
function quoted(scene: Scene, style: Style, valueAt: number, open: number): Head {
  const extent = open > 1 ? escaped : (insideQuotes.get(byteAt(scene, valueAt - 1)) ?? escaped)
  return { style, valueAt, extent }
}

const bare = { members: visibleBut("\"'`,;&()[]{}<>|\\"), escapes: false }
const wide = { members: visibleBut("\"'`\\"), escapes: false }
const element = { members: alphabetOf(/[^<\n\r]/), escapes: false }
const escaped = { members: alphabetOf(/[^"'`\\\n\r]/), escapes: false }
const insideQuotes = new Map<number, Extent>([
  [34, { members: alphabetOf(/[^"\n\r]/), escapes: true }],
  [39, { members: alphabetOf(/[^'\n\r]/), escapes: true }],
  [96, { members: alphabetOf(/[^`\n\r]/), escapes: true }],
])

const keyBytesMax = 64
const keyBytes = alphabetOf(/[A-Za-z0-9_.$-]/)

/** Where the key begins of which the keyword is the end. */
export function keyStart(scene: Scene, at: number): number {
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
