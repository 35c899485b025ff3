import { alphabetOf } from "../base/byte-sets.ts"

/** A regular expression over bytes. */
export type Pattern =
  | { readonly kind: "bytes"; readonly members: Uint8Array }
  | { readonly kind: "sequence"; readonly items: readonly Pattern[] }
  | { readonly kind: "choice"; readonly items: readonly Pattern[] }
  | { readonly kind: "repeat"; readonly item: Pattern; readonly min: number; readonly max: number | null }
  | { readonly kind: "assertion"; readonly at: "lineStart" | "lineEnd" | "wordEdge" | "noWordEdge" }

/** The reason why a pattern is refused, for the author of the pattern. */
export class PatternError extends Error {}

interface Reader {
  readonly source: string
  readonly ignoreCase: boolean
  at: number
  depth: number
}

const depthMax = 50

/**
 * Parses the syntax that Rust, PCRE and JavaScript have in common, including a leading `(?i)`. Syntax that would make
 * matching slow, or whose meaning differs between them, is refused by name.
 */
export function parseRedactionPattern(source: string): Pattern {
  const flags = /^\(\?([a-z]+)\)/.exec(source)
  const unknown = flags?.[1]?.replace(/[ims]/g, "") ?? ""
  if (unknown !== "") throw new PatternError(`the flag "${unknown}" is not supported, only (?i)`)
  const ignoreCase = flags?.[1]?.includes("i") ?? false
  const reader: Reader = { source, ignoreCase, at: flags?.[0].length ?? 0, depth: 0 }
  const pattern = readChoice(reader)
  if (reader.at < source.length) throw new PatternError(`unmatched ")" at character ${reader.at + 1}`)
  return pattern
}

function readChoice(reader: Reader): Pattern {
  const items = [readSequence(reader)]
  while (reader.source[reader.at] === "|") {
    reader.at += 1
    items.push(readSequence(reader))
  }
  const [only] = items
  return items.length === 1 && only !== undefined ? only : { kind: "choice", items }
}

function readSequence(reader: Reader): Pattern {
  const items: Pattern[] = []
  for (;;) {
    const next = reader.source[reader.at]
    if (next === undefined || next === "|" || next === ")") return { kind: "sequence", items }
    items.push(readRepeat(reader, readAtom(reader)))
  }
}

function readRepeat(reader: Reader, item: Pattern): Pattern {
  const found = /^(?:[*+?]|\{(\d{1,4})(,)?(\d{1,4})?\})/.exec(reader.source.slice(reader.at))
  if (found === null) return item
  reader.at += found[0].length
  // Lazy or greedy makes no difference to redaction; possessive does not exist everywhere.
  if (reader.source[reader.at] === "?") reader.at += 1
  if (/^[*+{]/.test(reader.source.slice(reader.at)))
    throw new PatternError(`nothing to repeat at character ${reader.at + 1}`)
  if (item.kind === "assertion") throw new PatternError("an anchor cannot be repeated")
  const [min, max] = boundsOf(found)
  if (max === null && hasOpenRepeat(item))
    throw new PatternError("a repetition inside a repetition can take exponential time")
  return { kind: "repeat", item, min, max }
}

function boundsOf(found: RegExpExecArray): [number, number | null] {
  const [text, min, comma, max] = found
  if (text === "*") return [0, null]
  if (text === "+") return [1, null]
  if (text === "?") return [0, 1]
  const least = Number(min)
  const most = comma === undefined ? least : max === undefined ? null : Number(max)
  if (most !== null && most < least) throw new PatternError(`the bounds of ${text} are out of order`)
  return [least, most]
}

function hasOpenRepeat(pattern: Pattern): boolean {
  if (pattern.kind === "repeat") return pattern.max === null || hasOpenRepeat(pattern.item)
  return pattern.kind === "sequence" || pattern.kind === "choice" ? pattern.items.some(hasOpenRepeat) : false
}

function readAtom(reader: Reader): Pattern {
  const next = reader.source[reader.at] ?? ""
  if (next === "(") return readGroup(reader)
  if (next === "[") return readClass(reader)
  if (next === "\\") return readEscape(reader)
  if (/[*+?]/.test(next)) throw new PatternError(`nothing to repeat at character ${reader.at + 1}`)
  if (next === "^" || next === "$") {
    reader.at += 1
    return { kind: "assertion", at: next === "^" ? "lineStart" : "lineEnd" }
  }
  const char = String.fromCodePoint(reader.source.codePointAt(reader.at) ?? 0)
  reader.at += char.length
  if (char === ".") return { kind: "bytes", members: anyByte }
  return literal(char, reader.ignoreCase)
}

function readGroup(reader: Reader): Pattern {
  const opening = /^\((?:\?(?::|P?<[A-Za-z_]\w*>))?/.exec(reader.source.slice(reader.at))?.[0] ?? "("
  reader.at += opening.length
  const rest = reader.source.slice(reader.at)
  if (opening === "(" && /^\?(?:<?[=!])/.test(rest))
    throw new PatternError("lookahead and lookbehind are not supported")
  if (opening === "(" && rest.startsWith("?"))
    throw new PatternError(`the group "(${rest.slice(0, 2)}" is not supported`)
  reader.depth += 1
  if (reader.depth > depthMax) throw new PatternError("groups are nested too deeply")
  const inner = readChoice(reader)
  reader.depth -= 1
  if (reader.source[reader.at] !== ")") throw new PatternError(`missing ")"`)
  reader.at += 1
  return inner
}

/** Sets of bytes, without the line end because matching goes line by line. */
const shorthands = new Map<string, Uint8Array>([
  ["d", alphabetOf(/[0-9]/)],
  ["w", alphabetOf(/[A-Za-z0-9_]/)],
  ["s", alphabetOf(/[ \t\v\f\r]/)],
  ["D", alphabetOf(/[^0-9\n]/)],
  ["W", alphabetOf(/[^A-Za-z0-9_\n]/)],
  ["S", alphabetOf(/[^ \t\n\v\f\r]/)],
])
const anyByte = alphabetOf(/[^\n]/)
const controls: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", f: "\f", v: "\v", "0": "\0" }

function readEscape(reader: Reader): Pattern {
  const { source, at } = reader
  const name = source[at + 1] ?? ""
  if (name === "b" || name === "B") {
    reader.at += 2
    return { kind: "assertion", at: name === "b" ? "wordEdge" : "noWordEdge" }
  }
  if (/[1-9k]/.test(name)) throw new PatternError("backreferences are not supported")
  const members = shorthands.get(name)
  if (members === undefined) return literal(readEscaped(reader), reader.ignoreCase)
  reader.at += 2
  return { kind: "bytes", members }
}

/** Returns the one character of an escape, inside a class or outside. */
function readEscaped(reader: Reader): string {
  const rest = reader.source.slice(reader.at)
  const code = /^\\x([0-9a-fA-F]{2})|^\\u([0-9a-fA-F]{4})/.exec(rest)
  const name = rest[1] ?? ""
  if (name === "") throw new PatternError("a backslash ends the pattern")
  reader.at += code?.[0].length ?? 2
  if (code !== null) return String.fromCharCode(Number.parseInt(code[1] ?? code[2] ?? "0", 16))
  const control = controls[name]
  if (control !== undefined) return control
  if (/[A-Za-z0-9]/.test(name)) throw new PatternError(`"\\${name}" is not supported`)
  return name
}

const posixClasses: Readonly<Record<string, RegExp>> = {
  alnum: /[A-Za-z0-9]/,
  alpha: /[A-Za-z]/,
  digit: /[0-9]/,
  lower: /[a-z]/,
  upper: /[A-Z]/,
  punct: /[!-/:-@[-`{-~]/,
  space: /[ \t\v\f\r]/,
  word: /[A-Za-z0-9_]/,
  xdigit: /[A-Fa-f0-9]/,
}

function readClass(reader: Reader): Pattern {
  const members = new Uint8Array(256)
  reader.at += 1
  const isNegated = reader.source[reader.at] === "^"
  if (isNegated) reader.at += 1
  for (let count = 0; reader.source[reader.at] !== "]" || count === 0; count++) {
    if (reader.at >= reader.source.length) throw new PatternError(`missing "]"`)
    readMember(reader, members)
  }
  reader.at += 1
  if (reader.ignoreCase) for (const byte of bytesOf(members)) addCases(members, byte)
  return {
    kind: "bytes",
    members: isNegated ? members.map((member, byte) => (byte === 10 ? 0 : 1 - member)) : members,
  }
}

function readMember(reader: Reader, members: Uint8Array): void {
  const rest = reader.source.slice(reader.at)
  const posix = /^\[:([a-z]+):\]/.exec(rest)
  const named =
    posix === null ? shorthands.get(/^\\(.)/.exec(rest)?.[1] ?? "") : alphabetOfPosix(posix[1] ?? "")
  if (named !== undefined) {
    reader.at += posix?.[0].length ?? 2
    for (const byte of bytesOf(named)) members[byte] = 1
    return
  }
  const first = readMemberChar(reader)
  const isRange = /^-[^\]]/.test(reader.source.slice(reader.at))
  if (isRange) reader.at += 1
  const last = isRange ? readMemberChar(reader) : first
  if (last < first) throw new PatternError("a range in a class is out of order")
  for (let byte = first; byte <= last; byte++) members[byte] = byte === 10 ? 0 : 1
}

function alphabetOfPosix(name: string): Uint8Array {
  const pattern = posixClasses[name]
  if (pattern === undefined) throw new PatternError(`the class "[:${name}:]" is not supported`)
  return alphabetOf(pattern)
}

function readMemberChar(reader: Reader): number {
  const next = reader.source[reader.at] ?? ""
  const char = next === "\\" ? readEscaped(reader) : next
  if (next !== "\\") reader.at += 1
  const code = char.charCodeAt(0)
  if (!(code < 0x80)) throw new PatternError("only ASCII characters are supported inside [ ]")
  return code
}

/** Returns a character as the bytes of its UTF-8 form. */
function literal(char: string, ignoreCase: boolean): Pattern {
  if (char === "\n") throw new PatternError("matching goes line by line, so \\n is never found")
  const items = [...Buffer.from(char, "utf8")].map((byte): Pattern => {
    const members = new Uint8Array(256)
    members[byte] = 1
    if (ignoreCase) addCases(members, byte)
    return { kind: "bytes", members }
  })
  const [only] = items
  return items.length === 1 && only !== undefined ? only : { kind: "sequence", items }
}

function bytesOf(members: Uint8Array): number[] {
  return [...members.keys()].filter(byte => members[byte] === 1)
}

function addCases(members: Uint8Array, byte: number): void {
  const char = String.fromCharCode(byte)
  if (!/[A-Za-z]/.test(char)) return
  members[char.toLowerCase().charCodeAt(0)] = 1
  members[char.toUpperCase().charCodeAt(0)] = 1
}
