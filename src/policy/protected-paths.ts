import { isPlainPath } from "../base/plain-path.ts"
import type { PathOperation } from "../domain/effect.ts"
import {
  homeEntries,
  openNames,
  type PathClass,
  type ProtectedRule,
  protectedRules,
  systemEntries,
} from "./rules/protected-rules.ts"

export interface PathVerdict {
  readonly class: PathClass
  /** The pattern that matched, as the table spells it; null when the path is open. */
  readonly rule: string | null
  readonly reason: string | null
}

export interface PathDecision {
  readonly decision: "allow" | "ask" | "deny"
  readonly rule: string | null
  readonly reason: string | null
}

/**
 * Classifies a path of the workspace by its name alone: the path need not exist, and the caller must have resolved
 * symlinks. Case, Unicode look-alikes, `a/../` and trailing dots make no difference.
 */
export function classifyPath(relativePath: string, kind?: "file" | "directory"): PathVerdict {
  const parts = isPlainPath(relativePath) ? relativePath.toLowerCase().split("/") : normalParts(relativePath)
  return verdictOf(parts, kind === "directory")
}

/**
 * Classifies a directory entry for the sandbox, which cannot ask the user: `asked` is open. With the kind
 * `directory`, names of files (`token`, `*.key`) do not protect it.
 */
export function classify(relativePath: string, kind?: "file" | "directory"): "open" | "noWrite" | "hidden" {
  const { class: found } = classifyPath(relativePath, kind)
  return found === "asked" ? "open" : found
}

/** Reports whether the user has to allow each change, unless a plan names exactly this path. */
export function isAsked(relativePath: string): boolean {
  return classifyPath(relativePath).class === "asked"
}

export function decidePath(relativePath: string, operation: PathOperation): PathDecision {
  return decisionOf(classifyPath(relativePath), operation)
}

/** Decides an absolute path outside the workspace. `home` is the user's home directory. */
export function decideOutside(absolutePath: string, home: string, operation: PathOperation): PathDecision {
  const parts = normalParts(absolutePath)
  const homeParts = normalParts(home)
  const isHome = homeParts.length > 0 && homeParts.every((part, index) => parts[index] === part)
  const below = isHome ? parts.slice(homeParts.length) : null
  const homeEntry =
    below === null ? undefined : homeEntries.find(entry => startsWith(below, entry.split("/")))
  if (homeEntry !== undefined)
    return decisionOf(
      { class: "hidden", rule: `~/${homeEntry}`, reason: "it holds credentials of the user" },
      operation,
    )
  // A home directory may lie in a system directory (`/root`), where users do work.
  const system = isHome ? undefined : systemEntries.find(entry => startsWith(parts, normalParts(entry)))
  if (system !== undefined)
    return decisionOf({ class: "hidden", rule: system, reason: "it belongs to the system" }, operation)
  return decisionOf(verdictOf(parts, false), operation)
}

function startsWith(parts: readonly string[], entry: readonly string[]): boolean {
  return entry.every((part, index) => part === "*" || parts[index] === part)
}

function decisionOf(verdict: PathVerdict, operation: PathOperation): PathDecision {
  const { rule, reason } = verdict
  const isChange = operation === "write" || operation === "delete"
  if (verdict.class === "hidden" || (verdict.class === "noWrite" && isChange))
    return { decision: "deny", rule, reason }
  if (verdict.class === "asked" && isChange) return { decision: "ask", rule, reason }
  return { decision: "allow", rule: null, reason: null }
}

interface ProtectedName {
  readonly name: string
  readonly kind: "file" | "directory"
  readonly hidden: boolean
}

/** The names without wildcard that are protected directly below the root before they exist. */
export const topLevelNames: readonly ProtectedName[] = protectedRules
  .filter(rule => rule.class !== "asked")
  .flatMap(rule =>
    rule.patterns
      .filter(pattern => !pattern.includes("*") && !pattern.slice(0, -1).includes("/"))
      .map(pattern => ({
        name: pattern.replace("/", ""),
        kind: pattern.endsWith("/") && pattern !== ".env/" ? ("directory" as const) : ("file" as const),
        hidden: rule.class === "hidden",
      })),
  )

const openVerdict: PathVerdict = { class: "open", rule: null, reason: null }
const strictness: Readonly<Record<PathClass, number>> = { open: 0, asked: 1, noWrite: 2, hidden: 3 }

interface Entry {
  readonly verdict: PathVerdict
  /** Set when the entry covers everything below it as well. */
  readonly isTree: boolean
  /** The names that must precede the last one, as in `.cargo/config*`. */
  readonly parents: readonly string[]
  readonly last: string
}

const entries = protectedRules.flatMap(rule => rule.patterns.map(pattern => entryOf(rule, pattern)))
const literals = groupedByName(entries.filter(entry => !entry.last.includes("*")))
const wildcards = entries
  .filter(entry => entry.last.includes("*"))
  .map(entry => ({
    ...entry,
    test: new RegExp(`^${entry.last.replaceAll(".", "\\.").replaceAll("*", ".*")}$`),
  }))
/** Almost no name starts or ends like a wildcard, so large trees need few tests. */
const prefixes = wildcards.flatMap(({ last }) =>
  last.endsWith("*") ? [last.slice(0, last.indexOf("*"))] : [],
)
const endings = new Set(
  wildcards.flatMap(({ last }) => (last.endsWith("*") ? [] : [last.slice(last.lastIndexOf("."))])),
)
const exceptions: ReadonlySet<string> = new Set(openNames)

function entryOf(rule: ProtectedRule, pattern: string): Entry {
  const isTree = pattern.endsWith("/")
  const parts = pattern.replace(/\/$/, "").toLowerCase().split("/")
  return {
    verdict: { class: rule.class, rule: isTree ? `${pattern}**` : pattern, reason: rule.reason },
    isTree,
    parents: parts.slice(0, -1),
    last: parts.at(-1) ?? "",
  }
}

function groupedByName(literal: readonly Entry[]): ReadonlyMap<string, readonly Entry[]> {
  const grouped = new Map<string, Entry[]>()
  for (const entry of literal) grouped.set(entry.last, [...(grouped.get(entry.last) ?? []), entry])
  return grouped
}

function verdictOf(parts: readonly string[], isDirectory: boolean): PathVerdict {
  let strictest = openVerdict
  for (let index = 0; index < parts.length; index++) {
    const part = parts[index] ?? ""
    const isFile = !isDirectory && index === parts.length - 1
    const named = literals.get(part)
    const isWild = resemblesWildcard(part)
    if ((named === undefined && !isWild) || exceptions.has(part)) continue
    const wild = isWild ? wildcards.filter(({ test }) => test.test(part)) : []
    for (const entry of [...(named ?? []), ...wild]) {
      if (strictness[entry.verdict.class] <= strictness[strictest.class]) continue
      if ((entry.isTree || isFile) && hasParents(entry, parts, index)) strictest = entry.verdict
    }
  }
  return strictest
}

function resemblesWildcard(part: string): boolean {
  for (let index = 0; index < prefixes.length; index++)
    if (part.startsWith(prefixes[index] ?? "")) return true
  const dot = part.lastIndexOf(".")
  return dot >= 0 && endings.has(part.slice(dot))
}

function hasParents(entry: Entry, parts: readonly string[], index: number): boolean {
  const from = index - entry.parents.length
  return from >= 0 && entry.parents.every((parent, offset) => parts[from + offset] === parent)
}

/**
 * Returns the names of a path as the most tolerant file system compares them: lower case, compatibility characters
 * resolved, invisible ones removed, trailing dots and spaces dropped, `\` treated as `/`. Two spellings of one file
 * must be equal here; that two files may be equal does no harm.
 */
export function normalParts(path: string): readonly string[] {
  const parts: string[] = []
  for (const raw of path.normalize("NFKC").replaceAll("\\", "/").split("/")) {
    const part = normalPart(raw)
    if (part === "" || part === ".") continue
    if (part === ".." && parts.length > 0 && parts.at(-1) !== "..") parts.pop()
    else parts.push(part)
  }
  return parts
}

// Some file systems skip these when they compare names, so `.g<U+200C>it` is `.git` there.
const invisible = /[\p{Default_Ignorable_Code_Point}\p{Cc}]/gu

function normalPart(raw: string): string {
  const visible = raw.replace(invisible, "").normalize("NFKC").toLowerCase()
  if (/^\.{1,2}$/.test(visible)) return visible
  // NTFS opens the very same file for `.git::$INDEX_ALLOCATION`.
  const trimmed = visible
    .replace(/::\$.*$/, "")
    .replace(/[. ]+$/, "")
    .trimStart()
  return trimmed === "" ? visible : trimmed
}
