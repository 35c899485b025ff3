/**
 * The one dialect of globs over paths, in rules of the policy, plans, `--yes`, searches and tools:
 * - `*` stands for any characters of a name, also a leading dot, and `?` for one;
 * - `**` as a whole name stands for any names, also none: `src/**` matches `src` and everything below it;
 * - `[abc]`, `[a-z]` and `[!a]` stand for one character, `{a,b}` for one of the texts, nested or not;
 * - everything else, the backslash included, stands for itself: `[*]` matches a star.
 *
 * `Bun.Glob` would make refusals weaker: `src/**` does not match `src`, a leading `!` inverts the pattern, and a
 * pattern with an open bracket or brace matches its own text instead of being refused. The patterns of `.gitignore`
 * are another dialect, in `workspace/tree/wildcards.ts`.
 */
export interface Glob {
  matches(path: string): boolean
}

const alternativesMax = 64

/** Returns null when the pattern is not a glob: empty, unbalanced or with too many alternatives. */
export function compileGlob(pattern: string): Glob | null {
  const alternatives = pattern.split("{").length - 1 > alternativesMax ? null : expandBraces(pattern)
  if (pattern === "" || alternatives === null) return null
  const compiled = alternatives.map(alternative => alternative.split("/").map(compileName))
  if (compiled.some(names => names.includes(null))) return null
  const patterns = compiled.map(names => names.filter(isName))
  return {
    matches: path => {
      const names = path.split("/")
      return patterns.some(pattern => matchesNames(pattern, names))
    },
  }
}

/** Reports whether the text has no character that a glob gives a meaning to. */
export function isLiteral(pattern: string): boolean {
  return !/[*?[\]{}!\\]/.test(pattern)
}

function expandBraces(pattern: string): string[] | null {
  const open = pattern.indexOf("{")
  if (open < 0) return pattern.includes("}") ? null : [pattern]
  const group = groupAt(pattern, open)
  if (group === null) return null
  const expanded: string[] = []
  for (const choice of group.choices) {
    const rest = expandBraces(pattern.slice(0, open) + choice + pattern.slice(group.end))
    if (rest === null || expanded.length + rest.length > alternativesMax) return null
    expanded.push(...rest)
  }
  return expanded
}

/** Splits the braces that open at `open` at their own commas, and returns null when they are never closed. */
function groupAt(pattern: string, open: number): { choices: string[]; end: number } | null {
  const choices: string[] = []
  let depth = 0
  let from = open + 1
  for (let at = open; at < pattern.length; at++) {
    const character = pattern[at]
    if (character === "{") depth += 1
    else if (character === "}") depth -= 1
    if ((character === "," && depth === 1) || depth === 0) {
      choices.push(pattern.slice(from, at))
      from = at + 1
    }
    if (depth === 0) return { choices, end: at + 1 }
  }
  return null
}

type Token =
  | { readonly kind: "any" }
  | { readonly kind: "one"; readonly accepts: (character: string) => boolean }

interface NamePattern {
  readonly tokens: readonly Token[]
  /** Set where the pattern is plain text, or a star before plain text: most are, and need no walk over the tokens. */
  readonly literal: string | null
  readonly suffix: string | null
}
type Name = "**" | NamePattern

function isName(name: Name | null): name is Name {
  return name !== null
}

function compileName(text: string): Name | null {
  if (text === "**") return "**"
  const tokens: Token[] = []
  for (let index = 0; index < text.length; index++) {
    const character = String.fromCodePoint(text.codePointAt(index) ?? 0)
    if (character === "*") tokens.push({ kind: "any" })
    else if (character === "?") tokens.push({ kind: "one", accepts: () => true })
    else if (character === "[") {
      const close = text.indexOf("]", index + 2)
      if (close < 0) return null
      tokens.push({ kind: "one", accepts: characterClass(text.slice(index + 1, close)) })
      index = close
    } else {
      tokens.push({ kind: "one", accepts: other => other === character })
      index += character.length - 1
    }
  }
  const plain = /^\*?([^*?[]*)$/.exec(text)?.[1] ?? null
  return {
    tokens,
    literal: text === plain ? text : null,
    suffix: text === `*${plain}` ? plain : null,
  }
}

function characterClass(inside: string): (character: string) => boolean {
  const negated = /^[!^]/.test(inside)
  const members = [...(negated ? inside.slice(1) : inside)]
  return character => {
    let isMember = false
    for (let index = 0; index < members.length; index++) {
      const from = members[index] ?? ""
      const isRange = members[index + 1] === "-" && index + 2 < members.length
      const to = isRange ? (members[index + 2] ?? "") : from
      if (isRange) index += 2
      isMember ||= character >= from && character <= to
    }
    return isMember !== negated
  }
}

function matchesNames(pattern: readonly Name[], names: readonly string[]): boolean {
  return wildcardMatch(
    pattern,
    names,
    name => name === "**",
    (name, text) => name !== "**" && matchesName(name, text),
  )
}

function matchesName({ literal, suffix, tokens }: NamePattern, name: string): boolean {
  if (literal !== null) return literal === name
  if (suffix !== null) return name.endsWith(suffix)
  return wildcardMatch(
    tokens,
    [...name],
    token => token.kind === "any",
    (token, character) => token.kind === "one" && token.accepts(character),
  )
}

/**
 * Takes at most (pattern × items) steps, whatever the pattern: only the last wildcard is worth returning to, because
 * a later one makes the choices of an earlier one irrelevant.
 */
function wildcardMatch<Pattern, Item>(
  pattern: readonly Pattern[],
  items: readonly Item[],
  isWildcard: (part: Pattern) => boolean,
  accepts: (part: Pattern, item: Item) => boolean,
): boolean {
  let at = 0
  let index = 0
  let wildcardAt = -1
  let resumeAt = 0
  while (index < items.length) {
    const part = pattern[at]
    const item = items[index]
    if (part !== undefined && isWildcard(part)) {
      wildcardAt = at++
      resumeAt = index
    } else if (part !== undefined && item !== undefined && accepts(part, item)) {
      at += 1
      index += 1
    } else if (wildcardAt >= 0) {
      at = wildcardAt + 1
      index = ++resumeAt
    } else return false
  }
  return pattern.slice(at).every(isWildcard)
}
