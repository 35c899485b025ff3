import {
  compileName,
  compilePath,
  matchesName,
  matchesPath,
  type NamePattern,
  type PathPattern,
} from "./wildcards.ts"

/** The patterns of one ignore file and a link to those of the files above it, which have lower precedence. */
export interface IgnoreRules {
  /** Plain names, by name: a tree checks every one of its many names. */
  readonly plain: ReadonlyMap<string, readonly IgnorePattern[]>
  /** All other patterns, the last line first: the last one that matches decides. */
  readonly patterns: readonly IgnorePattern[]
  /** The directory of the ignore file, relative to the same root as the checked paths; empty for that root. */
  readonly base: string
  readonly above: IgnoreRules | null
}

interface IgnorePattern {
  readonly line: number
  readonly negated: boolean
  readonly directoryOnly: boolean
  /** Set for a pattern without a slash, which matches the name in any directory. */
  readonly name: NamePattern | null
  readonly path: PathPattern | null
}

/** Reads the lines of an ignore file as git does. */
export function addIgnoreFile(above: IgnoreRules | null, base: string, content: string): IgnoreRules {
  const lines = content.replace(/^\ufeff/, "").split("\n")
  const patterns = lines.flatMap((text, line) => parseLine(text, line) ?? []).reverse()
  const isPlain = (pattern: IgnorePattern) => pattern.name !== null && pattern.name.literal !== null
  return {
    base: asBytes(base),
    above,
    plain: Map.groupBy(patterns.filter(isPlain), pattern => pattern.name?.literal ?? ""),
    patterns: patterns.filter(pattern => !isPlain(pattern)),
  }
}

/**
 * Reports whether git would ignore this path. The caller has already checked the parents: below an ignored directory
 * everything is ignored, and no pattern includes it again.
 */
export function isIgnored(rules: IgnoreRules | null, path: string, isDirectory: boolean): boolean {
  const bytes = asBytes(path)
  const name = bytes.slice(bytes.lastIndexOf("/") + 1)
  for (let level = rules; level !== null; level = level.above) {
    const plain = level.plain.get(name)?.find(pattern => isDirectory || !pattern.directoryOnly)
    const decisive = lastMatch(level, bytes, name, isDirectory, plain?.line ?? -1) ?? plain
    if (decisive !== undefined) return !decisive.negated
  }
  return false
}

/** Returns the last pattern with wildcards that matches, if it comes after `line`. */
function lastMatch(rules: IgnoreRules, path: string, name: string, isDirectory: boolean, line: number) {
  let names: string[] | null = null
  for (const pattern of rules.patterns) {
    if (pattern.line < line) return undefined
    if (pattern.directoryOnly && !isDirectory) continue
    if (pattern.path === null) {
      if (pattern.name !== null && matchesName(pattern.name, name)) return pattern
      continue
    }
    names ??= path.slice(rules.base === "" ? 0 : rules.base.length + 1).split("/")
    if (matchesPath(pattern.path, names)) return pattern
  }
  return undefined
}

function parseLine(raw: string, lineNumber: number): IgnorePattern | null {
  let line = withoutTrailingSpaces(raw.endsWith("\r") ? raw.slice(0, -1) : raw)
  if (line === "" || line.startsWith("#")) return null
  const negated = line.startsWith("!")
  if (negated) line = line.slice(1)
  const directoryOnly = line.endsWith("/")
  if (directoryOnly) line = line.slice(0, -1)
  const bytes = asBytes(line)
  if (!bytes.includes("/")) {
    const name = compileName(bytes)
    return name === null ? null : { line: lineNumber, negated, directoryOnly, name, path: null }
  }
  const path = compilePath(bytes.startsWith("/") ? bytes.slice(1) : bytes)
  return path === null ? null : { line: lineNumber, negated, directoryOnly, name: null, path }
}

/** Removes trailing spaces except one that a backslash protects. */
function withoutTrailingSpaces(line: string): string {
  let end = line.length
  while (end > 0 && line[end - 1] === " ") end -= 1
  let backslashes = 0
  while (line[end - 1 - backslashes] === "\\") backslashes += 1
  return backslashes % 2 === 1 && end < line.length ? line.slice(0, end + 1) : line.slice(0, end)
}

/** Maps each byte to one character, because git compares bytes: `?` matches half of an `é`. */
function asBytes(text: string): string {
  for (let index = 0; index < text.length; index++)
    if (text.charCodeAt(index) > 0x7f) return Buffer.from(text, "utf8").toString("latin1")
  return text
}
