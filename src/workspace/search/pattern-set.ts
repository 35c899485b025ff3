import { fileFailure } from "../failures.ts"

/** Parses `[…]`; the reader is behind the opening bracket. */
export function parseSet(reader: PatternReader): CharacterTest {
  const { pattern, ignoreCase } = reader
  const negated = pattern[reader.at] === "^"
  if (negated) reader.at += 1
  const tests: CharacterTest[] = []
  for (let first = true; first || pattern[reader.at] !== "]"; first = false) {
    if (reader.at >= pattern.length) throw badPattern(pattern, "has a bracket that is never closed")
    tests.push(parseMember(reader))
  }
  reader.at += 1
  const includes: CharacterTest = code => tests.some(test => test(code))
  const folded: CharacterTest = ignoreCase ? code => casesOf(code).some(includes) : includes
  return negated ? code => !folded(code) : folded
}

/** Parses what follows a backslash: a character, or a class of characters. */
export function parseEscape(reader: PatternReader): string | CharacterTest {
  const { pattern } = reader
  const rest = pattern.slice(reader.at, reader.at + 80)
  const found = rest[0]
  if (found === undefined) throw badPattern(pattern, "ends in a backslash")
  const coded = /^(?:x([0-9a-f]{2})|u([0-9a-f]{4})|[xu]\{([0-9a-f]{1,6})\})/i.exec(rest)
  if (coded !== null) {
    reader.at += coded[0].length
    const code = Number.parseInt(coded[1] ?? coded[2] ?? coded[3] ?? "0", 16)
    if (code > 0x10ffff) throw badPattern(pattern, "names a character that does not exist")
    return String.fromCodePoint(code)
  }
  const property = /^[pP](?:\{(\^?)([A-Za-z_=]+)\}|([A-Z]))/.exec(rest)
  if (property !== null) {
    reader.at += property[0].length
    const test = propertyTest(pattern, property[2] ?? property[3] ?? "")
    return (found === "P") !== (property[1] === "^") ? code => !test(code) : test
  }
  reader.at += found.length
  const named = classes[found.toLowerCase()]
  if (named !== undefined && /[dwsDWS]/.test(found))
    return found === found.toLowerCase() ? named : code => !named(code)
  const control = controls[found]
  if (control !== undefined) return control
  if (/[A-Za-z0-9]/.test(found)) throw badPattern(pattern, `has "\\${found}", which means nothing here`)
  const character = String.fromCodePoint(rest.codePointAt(0) ?? 0)
  reader.at += character.length - 1
  return character
}

export function isWordCharacter(code: number): boolean {
  if (code < 0x80) return /\w/.test(String.fromCharCode(code))
  return /[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}]/u.test(String.fromCodePoint(code))
}

const classes: Readonly<Record<string, CharacterTest>> = {
  d: code => /\p{Nd}/u.test(String.fromCodePoint(code)),
  w: isWordCharacter,
  s: code => /\s/.test(String.fromCodePoint(code)),
}

const controls: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", f: "\f", v: "\v", a: "\x07" }

const posix: Readonly<Record<string, RegExp>> = {
  alnum: /[A-Za-z0-9]/,
  alpha: /[A-Za-z]/,
  blank: /[ \t]/,
  digit: /[0-9]/,
  lower: /[a-z]/,
  punct: /[!-/:-@[-`{-~]/,
  space: /\s/,
  upper: /[A-Z]/,
  word: /\w/,
  xdigit: /[A-Fa-f0-9]/,
}

function parseMember(reader: PatternReader): CharacterTest {
  const named = /^\[:(\^?)([a-z]+):\]/.exec(reader.pattern.slice(reader.at, reader.at + 16))
  const test = posix[named?.[2] ?? ""]
  if (named !== null && test !== undefined) {
    reader.at += named[0].length
    return code => test.test(String.fromCodePoint(code)) !== (named[1] === "^")
  }
  const low = parseMemberCharacter(reader)
  if (typeof low !== "string") return low
  const from = low.codePointAt(0) ?? 0
  const isRange = reader.pattern[reader.at] === "-" && (reader.pattern[reader.at + 1] ?? "]") !== "]"
  if (!isRange) return code => code === from
  reader.at += 1
  const high = parseMemberCharacter(reader)
  const to = typeof high === "string" ? (high.codePointAt(0) ?? 0) : -1
  if (to < from) throw badPattern(reader.pattern, "has a range that ends before it starts")
  return code => code >= from && code <= to
}

function parseMemberCharacter(reader: PatternReader): string | CharacterTest {
  const character = String.fromCodePoint(reader.pattern.codePointAt(reader.at) ?? 0)
  reader.at += character.length
  return character === "\\" ? parseEscape(reader) : character
}

function casesOf(code: number): number[] {
  const character = String.fromCodePoint(code)
  return [
    code,
    character.toLowerCase().codePointAt(0) ?? code,
    character.toUpperCase().codePointAt(0) ?? code,
  ]
}

function propertyTest(pattern: string, name: string): CharacterTest {
  try {
    const test = new RegExp(`^\\p{${name}}$`, "u")
    return code => test.test(String.fromCodePoint(code))
  } catch {
    // The engine throws only for a property that it does not know.
    throw badPattern(pattern, `names an unknown class of characters: ${name}`)
  }
}

/** Reports whether a character (as code point) matches. */
export type CharacterTest = (code: number) => boolean

/** A pattern, the position up to which it is parsed, and the flags in force there. */
export interface PatternReader {
  readonly pattern: string
  at: number
  ignoreCase: boolean
  depth: number
}

export function badPattern(pattern: string, why: string) {
  return fileFailure("malformed", pattern, `is not a valid pattern: it ${why}`)
}
