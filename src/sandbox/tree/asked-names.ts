import { readlinkSync, symlinkSync } from "node:fs"
import { systemPath } from "../../base/path-bytes.ts"
import type { Confinement, Protection } from "../contract.ts"
import { isWithin } from "./paths.ts"
import { absolute, isSameInode, stampOf, type TreeRules } from "./tree-rules.ts"
import type { TreeSnapshot } from "./tree-snapshot.ts"

/**
 * Returns the protection in force for one command. Names that are always asked about are protected like any other where
 * a person can be asked, except for exactly those that were consented to; in a directory that leads to one of them each
 * name counts by itself. A person's own command is not asked about: what it writes there is reported.
 */
export function protectionFor(protection: Protection, asked: Confinement["asked"]): Protection {
  return {
    ...protection,
    classify: (path, kind) => {
      const level = protection.classify(path, kind)
      if (level !== "open" || !protection.isAsked(path)) return level
      if (asked === null) return "asked"
      return asked.some(consented => isWithin(consented, path)) ? "open" : "noWrite"
    },
  }
}

/** Returns the links among these names: no mount can cover one, so a replaced or removed one is restored. */
export function askedLinks(
  rules: TreeRules,
  { protectedEntries }: TreeSnapshot,
): ReadonlyMap<string, string> {
  const links = [...protectedEntries.values()].filter(
    ({ path, stamp, level }) =>
      stamp.kind === "link" && level === "noWrite" && rules.protection.isAsked(path),
  )
  return new Map(links.map(({ path }) => [path, readlinkSync(systemPath(absolute(rules, path)), "latin1")]))
}

export function restoreLinks(rules: TreeRules, links: ReadonlyMap<string, string>): void {
  for (const [path, target] of links) {
    if (stampOf(absolute(rules, path)) !== null) continue
    try {
      symlinkSync(Buffer.from(target, "latin1"), systemPath(absolute(rules, path)))
    } catch {
      // Its directory no longer exists.
    }
  }
}

/** Returns the names that were written, replaced or removed where no mask covered them. */
export function changedAsked(rules: TreeRules, { protectedEntries }: TreeSnapshot): readonly string[] {
  return [...protectedEntries.values()].flatMap(({ path, level, stamp }) => {
    const isPutBack = level !== "asked" && stamp.kind === "link"
    if (isPutBack || !rules.protection.isAsked(path)) return []
    const now = stampOf(absolute(rules, path))
    const isWritten = stamp.kind !== "directory" && now?.changedMs !== stamp.changedMs
    return isWritten || !isSameInode(now, stamp) ? [path] : []
  })
}
