import { badPattern, type CharacterTest, type PatternReader, parseEscape, parseSet } from "./pattern-set.ts"

export type Assertion = "start" | "end" | "wordBoundary" | "notWordBoundary"

/**
 * The syntax tree of a search pattern. Back-references and lookaround are missing: they cannot be matched in linear
 * time.
 */
export type PatternNode =
  | { readonly kind: "character"; readonly test: CharacterTest; readonly literal: string | null }
  | { readonly kind: "assertion"; readonly assertion: Assertion }
  | { readonly kind: "sequence"; readonly parts: readonly PatternNode[] }
  | { readonly kind: "choice"; readonly options: readonly PatternNode[] }
  | { readonly kind: "repeat"; readonly body: PatternNode; readonly min: number; readonly max: number }

/** Parses a pattern in the syntax of ripgrep, as far as single lines need it. */
export function parseSearchPattern(pattern: string): PatternNode {
  const reader: PatternReader = { pattern, at: 0, ignoreCase: false, depth: 0 }
  const node = parseChoice(reader)
  if (reader.at < pattern.length) throw badPattern(pattern, "has a closing parenthesis too many")
  return node
}

const depthMax = 100
const repeatMax = 1000

function parseChoice(reader: PatternReader): PatternNode {
  // Flags set inside a group end with it.
  const { ignoreCase } = reader
  const options = [parseSequence(reader)]
  while (reader.pattern[reader.at] === "|") {
    reader.at += 1
    options.push(parseSequence(reader))
  }
  reader.ignoreCase = ignoreCase
  const [only] = options
  return options.length === 1 && only !== undefined ? only : { kind: "choice", options }
}

function parseSequence(reader: PatternReader): PatternNode {
  const parts: PatternNode[] = []
  while (reader.at < reader.pattern.length) {
    const character = reader.pattern[reader.at]
    if (character === "|" || character === ")") break
    const part = parseAtom(reader)
    if (part !== null) parts.push(parseRepeats(reader, part))
  }
  return { kind: "sequence", parts }
}

function parseAtom(reader: PatternReader): PatternNode | null {
  const { pattern } = reader
  const character = String.fromCodePoint(pattern.codePointAt(reader.at) ?? 0)
  reader.at += character.length
  switch (character) {
    case "(":
      return parseGroup(reader)
    case "[":
      return plain(parseSet(reader))
    case ".":
      return plain(() => true)
    case "^":
      return { kind: "assertion", assertion: "start" }
    case "$":
      return { kind: "assertion", assertion: "end" }
    case "\\":
      return parseEscaped(reader)
    case "*":
    case "+":
    case "?":
      throw badPattern(pattern, `repeats nothing with "${character}"`)
    default:
      return literal(reader, character)
  }
}

function parseEscaped(reader: PatternReader): PatternNode {
  const assertion = assertions[reader.pattern[reader.at] ?? ""]
  if (assertion !== undefined) {
    reader.at += 1
    return { kind: "assertion", assertion }
  }
  const escaped = parseEscape(reader)
  return typeof escaped === "string" ? literal(reader, escaped) : plain(escaped)
}

const assertions: Readonly<Record<string, Assertion>> = {
  b: "wordBoundary",
  B: "notWordBoundary",
  A: "start",
  z: "end",
}

function literal({ ignoreCase }: PatternReader, character: string): PatternNode {
  const code = character.codePointAt(0) ?? 0
  const [lower, upper] = [character.toLowerCase(), character.toUpperCase()]
  if (!ignoreCase || lower === upper)
    return { kind: "character", test: found => found === code, literal: character }
  return plain(found => {
    const other = String.fromCodePoint(found)
    return other.toLowerCase() === lower || other.toUpperCase() === upper
  })
}

function plain(test: CharacterTest): PatternNode {
  return { kind: "character", test, literal: null }
}

/** Returns null for a group that only sets flags. */
function parseGroup(reader: PatternReader): PatternNode | null {
  const { pattern } = reader
  reader.depth += 1
  if (reader.depth > depthMax) throw badPattern(pattern, "is nested too deeply")
  const head = /^\?(?:P?<[A-Za-z_]\w*>|([a-zA-Z-]*)([:)]))/.exec(pattern.slice(reader.at))
  if (pattern[reader.at] === "?" && head === null)
    throw badPattern(pattern, "uses lookaround or a back-reference, which this search does not support")
  reader.at += head?.[0].length ?? 0
  const before = reader.ignoreCase
  if (head?.[1] !== undefined) applyFlags(reader, head[1])
  if (head?.[2] === ")") {
    reader.depth -= 1
    return null
  }
  const body = parseChoice(reader)
  if (pattern[reader.at] !== ")") throw badPattern(pattern, "has a parenthesis that is never closed")
  reader.at += 1
  reader.depth -= 1
  reader.ignoreCase = before
  return body
}

/** Applies `i`. The other flags change nothing for single lines. */
function applyFlags(reader: PatternReader, flags: string): void {
  const [on = "", off = ""] = flags.split("-")
  if (/[^imsuU]/.test(on + off)) throw badPattern(reader.pattern, `sets unknown flags: ${flags}`)
  if (on.includes("i")) reader.ignoreCase = true
  if (off.includes("i")) reader.ignoreCase = false
}

function parseRepeats(reader: PatternReader, atom: PatternNode): PatternNode {
  let node = atom
  for (;;) {
    const found = /^(?:([*+?])|\{(\d{1,6})(?:(,)(\d{0,6}))?\})\??/.exec(
      reader.pattern.slice(reader.at, reader.at + 20),
    )
    if (found === null) return node
    reader.at += found[0].length
    const [, sign, least, comma, most] = found
    const min = sign === undefined ? Number(least) : sign === "+" ? 1 : 0
    const unlimited = sign === "*" || sign === "+" || (comma !== undefined && most === "")
    const max = unlimited
      ? Number.POSITIVE_INFINITY
      : sign === "?"
        ? 1
        : Number(comma === undefined ? least : most)
    if (min > max || min > repeatMax || (max > repeatMax && max !== Number.POSITIVE_INFINITY))
      throw badPattern(reader.pattern, `repeats something more than ${repeatMax} times`)
    node = { kind: "repeat", body: node, min, max }
  }
}
