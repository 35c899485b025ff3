import { chmodSync } from "node:fs"
import { setImmediate as nextTurn } from "node:timers/promises"
import {
  absolute,
  entriesOf,
  isClosedName,
  isExcluded,
  isLifted,
  isSame,
  joined,
  type Stamp,
  stampOf,
  type TreeRules,
} from "./tree-rules.ts"
import type { TreeSnapshot } from "./tree-snapshot.ts"

export interface Appeared {
  readonly names: readonly string[]
  /** Closes again the directories that had to be opened for the look. */
  restore(): void
}

/**
 * Protected names that appeared since the snapshot, at any depth. It looks into directories that changed and into
 * new ones; a name that came with a renamed parent is found because its whole path is new. Nothing of the command
 * runs any more, links are never followed.
 */
export async function findAppeared(rules: TreeRules, before: TreeSnapshot): Promise<Appeared> {
  const search: Search = { rules, before, names: [], fresh: [], opened: [] }
  let visited = 0
  for (const [path, known] of before.directories) {
    if (++visited % directoriesPerTurn === 0) await nextTurn()
    const now = stampOf(absolute(rules, path))
    if (!isSame(now, known)) continue
    // A change within the clock's last tick before the snapshot leaves the same time behind, so it is looked at.
    const settled = known.changedMs < before.takenAtMs - clockTickMs
    if (!settled || now?.changedMs !== known.changedMs) inspect(search, path)
  }
  while (search.fresh.length > 0) {
    const path = search.fresh.pop()
    if (path === undefined) break
    if (++visited % directoriesPerTurn === 0) await nextTurn()
    inspect(search, path)
  }
  return { names: search.names.sort(), restore: () => search.opened.reverse().forEach(close) }
}

interface Search {
  readonly rules: TreeRules
  readonly before: TreeSnapshot
  readonly names: string[]
  /** Directories that were not there before and have not been looked into yet. */
  readonly fresh: string[]
  readonly opened: { readonly path: string; readonly mode: number }[]
}

function inspect(search: Search, directory: string): void {
  const { rules, before } = search
  openIfShut(search, directory)
  const entries = entriesOf(absolute(rules, directory))
  if (entries === "unreadable") {
    // Nobody can say what is in it, so it is treated as what it may hold.
    if (!before.directories.has(directory)) search.names.push(directory)
    return
  }
  for (const entry of entries) {
    const path = joined(directory, entry.name)
    if (isLifted(rules, path) || isExcluded(rules, path)) continue
    const now = stampOf(absolute(rules, path))
    if (now === null) continue
    if (rules.protection.classify(path, now.kind === "directory" ? "directory" : "file") !== "open") {
      if (!isSame(now, before.protectedEntries.get(path)?.stamp)) search.names.push(path)
    } else if (now.kind === "directory" && !isClosedName(rules, entry.name) && !isKnown(before, path, now)) {
      const tooDeep = Buffer.byteLength(absolute(rules, path)) > pathBytesMax
      ;(tooDeep ? search.names : search.fresh).push(path)
    }
  }
}

function isKnown(before: TreeSnapshot, path: string, now: Stamp): boolean {
  return isSame(now, before.directories.get(path)) || isSame(now, before.protectedEntries.get(path)?.stamp)
}

/** A command may close a directory behind itself, so that its owner cannot look into it without a chmod. */
function openIfShut(search: Search, directory: string): void {
  const path = absolute(search.rules, directory)
  const mode = stampOf(path)?.mode
  if (mode === undefined || (mode & 0o700) === 0o700) return
  try {
    chmodSync(path, mode | 0o700)
    search.opened.push({ path, mode })
  } catch {
    // Somebody else's directory: whether it can be read is seen next.
  }
}

function close({ path, mode }: { readonly path: string; readonly mode: number }): void {
  try {
    chmodSync(path, mode)
  } catch {
    // It went to quarantine, where it may stay open to its owner.
  }
}

const directoriesPerTurn = 512
const clockTickMs = 50
/** Below it every name still fits in a path the system accepts; what lies deeper can only be reached step by step. */
const pathBytesMax = 3800
