import { setImmediate as nextTurn } from "node:timers/promises"
import type { ProtectionLevel } from "./contract.ts"
import {
  absolute,
  entriesOf,
  isClosedName,
  isExcluded,
  isLifted,
  joined,
  type Stamp,
  stampOf,
  type TreeRules,
} from "./tree-rules.ts"

/** The protected names of a workspace before a command, and enough of its directories to see what changed. */
export interface TreeSnapshot {
  readonly takenAtMs: number
  readonly directories: ReadonlyMap<string, Stamp>
  readonly protectedEntries: ReadonlyMap<string, ProtectedEntry>
}

export interface ProtectedEntry {
  readonly path: string
  readonly level: Exclude<ProtectionLevel, "open">
  readonly stamp: Stamp
}

export async function takeSnapshot(rules: TreeRules, nowMs: number): Promise<TreeSnapshot> {
  const directories = new Map<string, Stamp>()
  const protectedEntries = new Map<string, ProtectedEntry>()
  const open: Visit[] = [{ path: "", level: "open" }]
  for (let visited = 1; open.length > 0; visited++) {
    const visit = open.pop()
    if (visit === undefined) break
    if (visited % directoriesPerTurn === 0) await nextTurn()
    const stamp = stampOf(absolute(rules, visit.path))
    if (stamp?.kind !== "directory") continue
    const entries = entriesOf(absolute(rules, visit.path))
    if (entries === "unreadable") {
      // The command runs as the same user and could open it: what we cannot look into it may not either.
      protectedEntries.set(visit.path, { path: visit.path, level: "hidden", stamp })
      continue
    }
    if (visit.level === "open") directories.set(visit.path, stamp)
    for (const entry of entries) {
      const path = joined(visit.path, entry.name)
      const level = rules.protection.classify(path, entry.isDirectory() ? "directory" : "file")
      const skipped = isLifted(rules, path) || isExcluded(rules, path)
      if (skipped) continue
      if (level !== "open" && level !== visit.level) {
        const found = stampOf(absolute(rules, path))
        if (found !== null) protectedEntries.set(path, { path, level, stamp: found })
        else if (entriesAreShut(stamp))
          protectedEntries.set(visit.path, { path: visit.path, level: "hidden", stamp })
      }
      if (entry.isDirectory() && level !== "hidden" && !isClosedName(rules, entry.name))
        open.push({ path, level })
    }
  }
  return { takenAtMs: nowMs, directories, protectedEntries }
}

interface Visit {
  readonly path: string
  /** What the directory itself is: inside one that is read-only, only hidden names matter. */
  readonly level: ProtectionLevel
}

/** A directory that can be listed and not entered: its names are seen, and what they name is not. */
function entriesAreShut(directory: Stamp): boolean {
  return (directory.mode & 0o100) === 0
}

const directoriesPerTurn = 512
