/** A glob over paths: `*` and `?` within a name, `**` over directories, `[abc]`, `{a,b}`. No pattern takes long. */
export interface Glob {
  matches(path: string): boolean
}

const alternativesMax = 64

/** Null when the pattern is not a glob: empty, unbalanced or with too many alternatives. */
export function compileGlob(pattern: string): Glob | null {
  const alternatives = expandBraces(pattern)
  if (pattern === "" || alternatives === null) return null
  const compiled = alternatives.map(alternative => alternative.split("/").map(compileName))
  if (compiled.some(names => names.includes(null))) return null
  return {
    matches: path => {
      const parts = path.split("/")
      return compiled.some(names => matchesAll(names.filter(isName), parts))
    },
  }
}

/** Whether the text has no character that a glob gives a meaning to. */
export function isLiteral(pattern: string): boolean {
  return !/[*?[\]{}!\\]/.test(pattern)
}

function expandBraces(pattern: string): string[] | null {
  const open = pattern.indexOf("{")
  if (open < 0) return pattern.includes("}") ? null : [pattern]
  const close = pattern.indexOf("}", open)
  const inside = pattern.slice(open + 1, close)
  if (close < 0 || inside.includes("{")) return null
  const expanded: string[] = []
  for (const choice of inside.split(",")) {
    const rest = expandBraces(pattern.slice(0, open) + choice + pattern.slice(close + 1))
    if (rest === null || expanded.length + rest.length > alternativesMax) return null
    expanded.push(...rest)
  }
  return expanded
}

type Token =
  | { readonly kind: "any" }
  | { readonly kind: "one"; readonly accepts: (character: string) => boolean }
type Name = "**" | readonly Token[]

function isName(name: Name | null): name is Name {
  return name !== null
}

function compileName(text: string): Name | null {
  if (text === "**") return "**"
  const tokens: Token[] = []
  for (let index = 0; index < text.length; index++) {
    const character = text[index] ?? ""
    if (character === "*") tokens.push({ kind: "any" })
    else if (character === "?") tokens.push({ kind: "one", accepts: () => true })
    else if (character === "[") {
      const close = text.indexOf("]", index + 2)
      if (close < 0) return null
      tokens.push({ kind: "one", accepts: characterClass(text.slice(index + 1, close)) })
      index = close
    } else tokens.push({ kind: "one", accepts: other => other === character })
  }
  return tokens
}

function characterClass(inside: string): (character: string) => boolean {
  const negated = /^[!^]/.test(inside)
  const members = negated ? inside.slice(1) : inside
  return character => {
    let found = false
    for (let index = 0; index < members.length; index++) {
      const from = members[index] ?? ""
      const isRange = members[index + 1] === "-" && index + 2 < members.length
      const to = isRange ? (members[index + 2] ?? "") : from
      if (isRange) index += 2
      found ||= character >= from && character <= to
    }
    return found !== negated
  }
}

/** Two places to continue from are enough: a later `**` makes an earlier one's choices irrelevant. */
function matchesAll(names: readonly Name[], parts: readonly string[]): boolean {
  return wildcardMatch(
    names,
    parts,
    name => name === "**",
    (name, part) => name !== "**" && matchesName(name, part),
  )
}

function matchesName(tokens: readonly Token[], part: string): boolean {
  return wildcardMatch(
    tokens,
    [...part],
    token => token.kind === "any",
    (token, character) => token.kind === "one" && token.accepts(character),
  )
}

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
