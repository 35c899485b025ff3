import { alphabetOf } from "../base/byte-sets.ts"

/** A sequence that reads differently from its spelling. One object is reused for all, because there can be many. */
export interface Unit {
  /** True when no bytes come after the source. */
  readonly isFinal: boolean
  /** The character that a reader sees instead, or 0 for none. */
  character: number
  /** The start of the invisible text, such as the target of a link; empty for most units. */
  payloadStart: number
  payloadEnd: number
}

/** The result when more bytes are needed to read the unit. */
export const isOpen = -1
/** A longer sequence counts as text, which bounds the bytes that are held back. */
export const sequenceBytesMax = 512

const escapeByte = 27
const bell = 7
const backslash = 92
const slash = 47
const dollar = 36
const ampersand = 38
const singleQuote = 39
const doubleQuote = 34
const carriageReturn = 13
const newline = 10
const bracket = 91
const closingBracket = 93

/** The bytes that can follow each first byte of a unit: nearly every quote and backslash is an ordinary one. */
const followers = new Map([
  [escapeByte, alphabetOf(/[[\]()78=>]/)],
  [backslash, alphabetOf(/[\\/$uxe0\r\n"']/i)],
  [ampersand, alphabetOf(/[#qalg]/i)],
  [singleQuote, alphabetOf(/[\\"']/)],
  [doubleQuote, alphabetOf(/["']/)],
])

/** A table over two consecutive bytes: 1 when a unit may begin with them. */
export const unitPairs = new Uint8Array(1 << 16)
for (const [first, seconds] of followers) unitPairs.set(seconds, first << 8)
/** The bytes with which a unit can begin. */
export const unitTriggers: ReadonlySet<number> = new Set(followers.keys())

/** Returns the end of the unit that begins at `at`; `at` when none begins, `isOpen` when more bytes are needed. */
export function readUnit(source: Uint8Array, at: number, unit: Unit): number {
  unit.character = 0
  unit.payloadStart = 0
  unit.payloadEnd = 0
  switch (source[at]) {
    case escapeByte:
      return readSequence(source, at, at + 1, unit, false)
    case backslash:
      return readEscape(source, at, unit)
    case ampersand:
      return readEntity(source, at, unit)
    case doubleQuote:
      return readJoint(source, at)
    default:
      return readNestedQuote(source, at, unit)
  }
}

/** The characters of which tokens and passwords consist; what stands between two of them joins one word. */
const joined = alphabetOf(/[\w+/=-]/)
const letterN = 110
const letterR = 114

/** Reads two quotes between the parts of a word, which a shell joins: `one""two`, `'one'"two"`, in a string `\"\"`. */
function readJoint(source: Uint8Array, at: number): number {
  let next = at
  for (let quotes = 0; quotes < 2; quotes++) {
    const run = runOfBackslashes(source, next)
    const quote = source[next + run]
    if (quote === undefined) return isOpen
    if ((quote !== singleQuote && quote !== doubleQuote) || run > backslashesMax) return at
    next += run + 1
  }
  return endOfJoint(source, at, next)
}

/**
 * Reads a backslash at the end of a line, where a shell continues the word on the next one. In a string both of them
 * are escaped.
 */
function readContinuation(source: Uint8Array, at: number, run: number): number {
  let next = at + run
  if (run > 2) {
    if (source[next] === letterR) next += 1 + runOfBackslashes(source, next + 1)
    if (source[next] === undefined) return isOpen
    return source[next] === letterN ? endOfJoint(source, at, next + 1) : at
  }
  if (source[next] === carriageReturn) next += 1
  if (source[next] === undefined) return isOpen
  return source[next] === newline ? endOfJoint(source, at, next + 1) : at
}

function endOfJoint(source: Uint8Array, at: number, next: number): number {
  if (at === 0 || joined[source[at - 1] ?? 0] !== 1) return at
  const after = source[next]
  if (after === undefined) return isOpen
  return joined[after] === 1 ? next : at
}

/** Returns how many bytes to skip when no unit begins here: all backslashes of a run belong together. */
export function lengthOfNoUnit(source: Uint8Array, at: number): number {
  return source[at] === backslash ? runOfBackslashes(source, at) : 1
}

function runOfBackslashes(source: Uint8Array, from: number): number {
  let at = from
  while (source[at] === backslash) at += 1
  return at - from
}

/** A string in a string in a string has three backslashes before an escape; more is not an escape. */
const backslashesMax = 4
const letterU = 117
const letterX = 120
const letterE = 101
const zero = 48
const three = 51

/** Reads a character as JSON, JavaScript and shells write it. */
function readEscape(source: Uint8Array, at: number, unit: Unit): number {
  const run = runOfBackslashes(source, at)
  if (run > backslashesMax) return at
  const letter = source[at + run]
  if (letter === undefined) return isOpen
  if (letter === singleQuote || letter === doubleQuote) return readJoint(source, at)
  if (
    letter === newline ||
    letter === carriageReturn ||
    (run === 3 && (letter === letterN || letter === letterR))
  )
    return readContinuation(source, at, run)
  if (letter === slash || letter === dollar) {
    unit.character = letter
    return at + run + 1
  }
  const digits = at + run + 1
  if ((letter | 32) === letterU) return readCode(source, at, digits, 4, unit)
  if ((letter | 32) === letterX) return readCode(source, at, digits, 2, unit)
  if (letter === letterE) return source[digits] === undefined ? isOpen : readLetterE(source, at, digits, unit)
  if (letter !== zero) return at
  for (const offset of [0, 1]) {
    const digit = source[digits + offset]
    if (digit !== three) return digit === undefined ? isOpen : at
  }
  return readSequence(source, at, digits + 2, unit, true)
}

/** Reads `\e[1m`, as shells write it. */
function readLetterE(source: Uint8Array, at: number, next: number, unit: Unit): number {
  return source[next] === bracket ? readSequence(source, at, next, unit, true) : at
}

function readCode(source: Uint8Array, at: number, digits: number, count: number, unit: Unit): number {
  let code = 0
  for (let index = 0; index < count; index++) {
    const digit = source[digits + index]
    if (digit === undefined) return isOpen
    const value = hexValue(digit)
    if (value < 0 || (count === 4 && index < 2 && value !== 0)) return at
    code = code * 16 + value
  }
  if (code === escapeByte) return readSequence(source, at, digits + count, unit, true)
  if (code <= 32 || code >= 127) return at
  unit.character = code
  return digits + count
}

function hexValue(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48
  const letter = byte | 32
  return letter >= 97 && letter <= 102 ? letter - 87 : -1
}

const entity = /^&(?:#x([0-9a-f]{2})|#(\d{2,3})|(quot|apos|amp|lt|gt));/i
const openEntity = /^&(?:#(?:x[0-9a-f]{0,2}|\d{0,3})?|q(?:u(?:ot?)?)?|a(?:mp?|p(?:os?)?)?|[lg]t?)?$/i
const entityBytesMax = 6
const names: Readonly<Record<string, string>> = { quot: '"', apos: "'", amp: "&", lt: "<", gt: ">" }

/** Reads a character as XML writes it. */
function readEntity(source: Uint8Array, at: number, unit: Unit): number {
  const text = latin1(source, at, at + entityBytesMax)
  if (at + text.length === source.length && openEntity.test(text)) return isOpen
  const found = entity.exec(text)
  if (found === null) return at
  const [whole, hexadecimal, decimal, name = ""] = found
  const code = hexadecimal === undefined ? Number(decimal ?? 0) : Number.parseInt(hexadecimal, 16)
  unit.character = names[name.toLowerCase()]?.charCodeAt(0) ?? code
  return unit.character <= 32 || unit.character >= 127 ? at : at + whole.length
}

const nestedQuote = /^'(?:\\{1,4}''|\\{0,4}"'\\{0,4}"')/
const openNestedQuote = /^'(?:\\{0,4}'?|\\{0,4}"(?:'\\{0,4}"?)?)$/
const nestedQuoteBytesMax = 14

/** Reads `'\''` and `'"'"'`: a quote inside the single quotes of a shell. */
function readNestedQuote(source: Uint8Array, at: number, unit: Unit): number {
  const text = latin1(source, at, at + nestedQuoteBytesMax)
  const found = nestedQuote.exec(text)
  if (found === null) {
    const isOpenHere = at + text.length === source.length && !unit.isFinal && openNestedQuote.test(text)
    return isOpenHere ? isOpen : readJoint(source, at)
  }
  unit.character = singleQuote
  return at + found[0].length
}

const oneByteCommands = alphabetOf(/[78=>]/)
const openingParenthesis = 40
const closingParenthesis = 41
const sets = alphabetOf(/[0-9A-Z]/)

/** Reads a terminal sequence, which a terminal acts on and does not show; `body` is behind its escape character. */
function readSequence(source: Uint8Array, at: number, body: number, unit: Unit, isWritten: boolean): number {
  const command = source[body]
  if (command === undefined) return isOpen
  if (command === bracket) return readControl(source, at, body + 1)
  if (command === closingBracket) return readString(source, at, body + 1, unit, isWritten)
  if (oneByteCommands[command] === 1) return body + 1
  if (command !== openingParenthesis && command !== closingParenthesis) return at
  const set = source[body + 1]
  if (set === undefined) return isOpen
  return sets[set] === 1 ? body + 2 : at
}

const controlEnd = alphabetOf(/[@-~]/)
const controlBytes = alphabetOf(/[ -?]/)
const controlBytesMax = 64
const markerLetters = "REDACTED:"

function readControl(source: Uint8Array, at: number, body: number): number {
  let end = body
  while (controlBytes[source[end] ?? 0] === 1 && end - body < controlBytesMax) end += 1
  const last = source[end]
  if (last === undefined) return end - body < controlBytesMax ? isOpen : at
  if (controlEnd[last] !== 1) return at
  return end === body ? endUnlessMarker(source, at, body) : end + 1
}

/** Returns the end, unless a marker follows the escape character: a second redaction would read it differently. */
function endUnlessMarker(source: Uint8Array, at: number, body: number): number {
  for (let index = 0; index < markerLetters.length; index++) {
    const byte = source[body + index]
    if (byte !== markerLetters.charCodeAt(index)) return byte === undefined ? isOpen : body + 1
  }
  return at
}

/** Reads a link or a title: everything up to a bell or an escape character with a backslash, on one line. */
function readString(source: Uint8Array, at: number, body: number, unit: Unit, isWritten: boolean): number {
  const limit = at + sequenceBytesMax
  for (let end = body; end < limit; end++) {
    const byte = source[end]
    if (byte === undefined) return isOpen
    if (byte === newline || byte === carriageReturn) return at
    if (byte !== escapeByte && byte !== bell && byte !== backslash) continue
    if (byte === backslash && !isWritten) continue
    const closed = isWritten ? writtenEnd(source, end, unit.isFinal) : rawEnd(source, end, unit.isFinal)
    if (closed === isOpen || closed === notHere) return closed === isOpen ? isOpen : at
    if (closed === end) {
      end += lengthOfNoUnit(source, end) - 1
      continue
    }
    unit.payloadStart = body
    unit.payloadEnd = end
    return closed
  }
  return at
}

/** The result when another sequence begins before this one has ended. */
const notHere = -2

function rawEnd(source: Uint8Array, at: number, isFinal: boolean): number {
  if (source[at] === bell) return at + 1
  // A string around it may have doubled the backslash.
  const run = runOfBackslashes(source, at + 1)
  if (source[at + 1 + run] === undefined && run <= backslashesMax && !isFinal) return isOpen
  return run === 0 ? notHere : at + 1 + Math.min(run, backslashesMax)
}

const writtenClosings = /^\\{1,4}(?:(u0007|x07|007|a)|(?:u001b|x1b|033)(\\*))/i
const openClosing = /^\\{1,4}(?:u(?:0(?:0(?:[01][7b]?)?)?)?|x(?:[01][7b]?)?|0(?:[03][37]?)?)?$/i
const closingBytesMax = 20

/** Returns the end in a string of JSON, where the bell and the escape character are written out. */
function writtenEnd(source: Uint8Array, at: number, isFinal: boolean): number {
  if (source[at] !== backslash) return notHere
  const text = latin1(source, at, at + closingBytesMax)
  const found = writtenClosings.exec(text)
  const isAtEnd = at + text.length === source.length && !isFinal
  if (found === null) return isAtEnd && openClosing.test(text) ? isOpen : at
  const [whole, bellText, backslashes = ""] = found
  if (bellText !== undefined) return at + whole.length
  if (whole.length === text.length && isAtEnd) return isOpen
  return backslashes === "" ? notHere : at + whole.length
}

function latin1(source: Uint8Array, from: number, to: number): string {
  const view = Buffer.from(source.buffer, source.byteOffset, source.length)
  return view.toString("latin1", from, Math.min(to, source.length))
}
