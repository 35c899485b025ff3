/**
 * Wildcards as git has them, for one name or for a path of names. Matched with one point of return per star, so no
 * pattern takes more than (pattern × name) steps: a regular expression made from `*a*a*a*b` would not come back.
 */
export interface NamePattern {
  /** Set where the pattern is a plain name, or a star and then plain: most are. */
  readonly literal: string | null
  readonly suffix: string | null
  readonly tokens: readonly Token[]
}

type Token =
  | { readonly kind: "one"; readonly code: number }
  | { readonly kind: "any" }
  | { readonly kind: "star" }
  | { readonly kind: "class"; readonly includes: (code: number) => boolean }

/** Names between slashes; `**` stands for any number of them. */
export type PathPattern = readonly (NamePattern | "**")[]

/** Null when the pattern is broken (an open bracket, a backslash at the end): git matches nothing with it. */
export function compileName(pattern: string): NamePattern | null {
  const tokens: Token[] = []
  for (let index = 0; index < pattern.length; index++) {
    const character = pattern[index]
    if (character === "*") {
      if (tokens.at(-1)?.kind !== "star") tokens.push({ kind: "star" })
    } else if (character === "?") tokens.push({ kind: "any" })
    else if (character === "[") {
      const parsed = parseClass(pattern, index + 1)
      if (parsed === null) return null
      tokens.push({ kind: "class", includes: parsed.includes })
      index = parsed.end
    } else {
      if (character === "\\") index += 1
      if (index >= pattern.length) return null
      tokens.push({ kind: "one", code: pattern.charCodeAt(index) })
    }
  }
  const suffix = tokens[0]?.kind === "star" ? plainText(tokens.slice(1)) : null
  return { literal: plainText(tokens), suffix, tokens }
}

function plainText(tokens: readonly Token[]): string | null {
  let text = ""
  for (const token of tokens) {
    if (token.kind !== "one") return null
    text += String.fromCharCode(token.code)
  }
  return text
}

export function compilePath(pattern: string): PathPattern | null {
  const parts: (NamePattern | "**")[] = []
  for (const name of pattern.split("/")) {
    const part = /^\*{2,}$/.test(name) ? "**" : compileName(name)
    if (part === null) return null
    if (part !== "**" || parts.at(-1) !== "**") parts.push(part)
  }
  return parts
}

export function matchesName({ literal, suffix, tokens }: NamePattern, name: string): boolean {
  if (literal !== null) return literal === name
  if (suffix !== null) return name.endsWith(suffix)
  return matchesSequence(tokens.length, name.length, {
    isStar: at => tokens[at]?.kind === "star",
    matches: (at, index) => matchesToken(tokens[at], name.charCodeAt(index)),
  })
}

/** A trailing `**` needs at least one name: `a/**` is what is in `a`, not `a`. */
export function matchesPath(pattern: PathPattern, names: readonly string[]): boolean {
  const deep = pattern.at(-1) === "**"
  if (deep && names.length === 0) return false
  const lastNames = deep ? names.length - 1 : names.length
  return matchesSequence(pattern.length, lastNames, {
    isStar: at => pattern[at] === "**",
    matches: (at, index) => {
      const part = pattern[at]
      return part !== undefined && part !== "**" && matchesName(part, names[index] ?? "")
    },
  })
}

interface Alphabet {
  isStar(at: number): boolean
  matches(at: number, index: number): boolean
}

/** The last star is the only one worth returning to: an earlier one could only have taken more. */
function matchesSequence(patternLength: number, length: number, { isStar, matches }: Alphabet): boolean {
  let at = 0
  let index = 0
  let starAt = -1
  let starIndex = 0
  while (index < length) {
    if (at < patternLength && isStar(at)) {
      starAt = at++
      starIndex = index
    } else if (at < patternLength && matches(at, index)) {
      at += 1
      index += 1
    } else if (starAt >= 0) {
      at = starAt + 1
      index = ++starIndex
    } else return false
  }
  while (at < patternLength && isStar(at)) at += 1
  return at === patternLength
}

function matchesToken(token: Token | undefined, code: number): boolean {
  switch (token?.kind) {
    case "one":
      return token.code === code
    case "any":
      return true
    case "class":
      return token.includes(code)
    default:
      return false
  }
}

interface ParsedClass {
  readonly includes: (code: number) => boolean
  /** Index of the closing bracket. */
  readonly end: number
}

function parseClass(pattern: string, start: number): ParsedClass | null {
  let at = start
  const negated = pattern[at] === "!" || pattern[at] === "^"
  if (negated) at += 1
  const tests: ((code: number) => boolean)[] = []
  let previous = -1
  for (let first = true; first || pattern[at] !== "]"; first = false) {
    if (at >= pattern.length) return null
    const posix = pattern.startsWith("[:", at) ? /^\[:([^\]]*):\]/.exec(pattern.slice(at))?.[1] : undefined
    if (posix !== undefined) {
      const test = posixClasses[posix]
      if (test === undefined) return null
      tests.push(code => test.test(String.fromCharCode(code)))
      at += posix.length + 4
      previous = -1
    } else if (pattern[at] === "-" && previous >= 0 && at + 1 < pattern.length && pattern[at + 1] !== "]") {
      at += pattern[at + 1] === "\\" ? 2 : 1
      const [low, high] = [previous, pattern.charCodeAt(at)]
      tests.push(code => code >= low && code <= high)
      at += 1
      previous = -1
    } else {
      if (pattern[at] === "\\") at += 1
      if (at >= pattern.length) return null
      const only = pattern.charCodeAt(at)
      tests.push(code => code === only)
      at += 1
      previous = only
    }
  }
  return { includes: code => tests.some(test => test(code)) !== negated, end: at }
}

const posixClasses: Readonly<Record<string, RegExp>> = {
  alnum: /[A-Za-z0-9]/,
  alpha: /[A-Za-z]/,
  blank: /[ \t]/,
  digit: /[0-9]/,
  lower: /[a-z]/,
  print: /[ -~]/,
  graph: /[!-~]/,
  punct: /[!-/:-@[-`{-~]/,
  space: /\s/,
  upper: /[A-Z]/,
  xdigit: /[A-Fa-f0-9]/,
}
