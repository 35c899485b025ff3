import { setImmediate as nextTurn } from "node:timers/promises"
import type { ProtectionLevel } from "../contract.ts"
import { isLayout, repositoryMark } from "./git-repository.ts"
import {
  absolute,
  clockTickMs,
  entriesOf,
  isClosedName,
  isExcluded,
  isLifted,
  isRepositoryName,
  isSameInode,
  joined,
  levelOf,
  type Stamp,
  stampOf,
  type TreeRules,
} from "./tree-rules.ts"

/** The protected names of a workspace before a command, and enough of its directories to see what changed. */
export interface TreeSnapshot {
  readonly takenAtMs: number
  readonly directories: ReadonlyMap<string, Stamp>
  readonly protectedEntries: ReadonlyMap<string, ProtectedEntry>
  /** Repositories in dependency directories, which have to stay replaceable: a mark of what git would run of each. */
  readonly packaged: ReadonlyMap<string, string>
}

export interface ProtectedEntry {
  readonly path: string
  readonly level: Exclude<ProtectionLevel, "open">
  readonly stamp: Stamp
  /** A `.git` or a directory that git takes for one, or what a configuration of git names. */
  readonly isForGit?: "repository" | "named"
}

/** The last listings of directories: the stamp of a directory shows whether anything in it changed. */
export type KnownListings = Map<string, Listing>

interface Listing {
  readonly stamp: Stamp
  readonly readAtMs: number
  readonly isLayout: boolean
  /** The entries that could be protected or have to be walked into. */
  readonly entries: readonly ListedEntry[]
}

interface ListedEntry {
  readonly name: string
  readonly isDirectory: boolean
  readonly level: ProtectionLevel
}

export async function takeSnapshot(
  rules: TreeRules,
  nowMs: number,
  known: KnownListings = new Map(),
): Promise<TreeSnapshot> {
  const walk: Walk = {
    rules,
    nowMs,
    known,
    directories: new Map(),
    protectedEntries: new Map(),
    packaged: new Map(),
    open: [{ path: "", level: "open", inDependency: false }],
  }
  for (let visited = 1; walk.open.length > 0; visited++) {
    const next = walk.open.pop()
    if (next === undefined) break
    if (visited % directoriesPerTurn === 0) await nextTurn()
    visit(walk, next)
  }
  const { directories, protectedEntries, packaged } = walk
  // Removed directories would stay in the cache forever.
  if (known.size > 2 * (directories.size + protectedEntries.size) + knownSlack) known.clear()
  return { takenAtMs: nowMs, directories, protectedEntries, packaged }
}

interface Walk {
  readonly rules: TreeRules
  readonly nowMs: number
  readonly known: KnownListings
  readonly directories: Map<string, Stamp>
  readonly protectedEntries: Map<string, ProtectedEntry>
  readonly packaged: Map<string, string>
  readonly open: Visit[]
}

interface Visit {
  readonly path: string
  /** The level of the directory itself: inside one that is read-only, only hidden names matter. */
  readonly level: ProtectionLevel
  readonly inDependency: boolean
}

function visit(walk: Walk, at: Visit): void {
  const { rules, directories, protectedEntries } = walk
  const stamp = stampOf(absolute(rules, at.path))
  if (stamp?.kind !== "directory") return
  const listing = listingOf(walk, at, stamp)
  if (listing === "unreadable") {
    // The command runs as the same user and could open it: what we cannot look into it may not either.
    if (!at.inDependency) protectedEntries.set(at.path, { path: at.path, level: "hidden", stamp })
    return
  }
  if (listing.isLayout && at.path !== "" && at.level === "open") {
    noteRepository(walk, at, stamp)
    if (at.inDependency) return
  } else if (at.level === "open") directories.set(at.path, stamp)
  const level = listing.isLayout && at.path !== "" && at.level === "open" ? "noWrite" : at.level
  for (const entry of listing.entries) noteEntry(walk, { ...at, level }, stamp, entry)
}

function noteEntry(walk: Walk, at: Visit, directory: Stamp, entry: ListedEntry): void {
  const { rules, protectedEntries, open } = walk
  const { name, isDirectory, level } = entry
  const path = joined(at.path, name)
  if (isLifted(rules, path) || isExcluded(rules, path)) return
  if (level !== "open" && level !== at.level) {
    const found = stampOf(absolute(rules, path))
    if (found !== null) {
      if (isRepositoryName(name)) noteRepository(walk, { ...at, path }, found)
      else protectedEntries.set(path, { path, level, stamp: found })
    } else if (entriesAreShut(directory))
      protectedEntries.set(at.path, { path: at.path, level: "hidden", stamp: directory })
  }
  if (isDirectory && level !== "hidden" && !isClosedName(name))
    open.push({
      path,
      level: level === "asked" ? "open" : level,
      inDependency: at.inDependency || rules.dependencyDirectories.includes(name),
    })
}

/** Notes a repository. In a dependency directory it gets no mount, because packages must stay replaceable. */
function noteRepository(walk: Walk, { path, inDependency }: Visit, stamp: Stamp): void {
  if (inDependency) walk.packaged.set(path, repositoryMark(absolute(walk.rules, path)))
  else walk.protectedEntries.set(path, { path, level: "noWrite", stamp, isForGit: "repository" })
}

/** The same snapshot with what a configuration of git names, as far as it is there. */
export function withNamed(snapshot: TreeSnapshot, rules: TreeRules): TreeSnapshot {
  const protectedEntries = new Map(snapshot.protectedEntries)
  for (const path of rules.named) {
    const stamp = stampOf(absolute(rules, path))
    // What git would run is not a matter of consent, whatever its name is.
    const isKnown = protectedEntries.has(path) && !rules.protection.isAsked(path)
    if (stamp !== null && !isKnown && !isLifted(rules, path))
      protectedEntries.set(path, { path, level: "noWrite", stamp, isForGit: "named" })
  }
  return { ...snapshot, protectedEntries }
}

function listingOf(walk: Walk, at: Visit, stamp: Stamp): Listing | "unreadable" {
  const { rules, known, nowMs } = walk
  const remembered = known.get(at.path)
  if (remembered !== undefined && isStillTrue(remembered, stamp)) return remembered
  const found = entriesOf(absolute(rules, at.path))
  if (found === "unreadable") {
    known.delete(at.path)
    return found
  }
  const entries: ListedEntry[] = []
  for (const entry of found) {
    const isDirectory = entry.isDirectory()
    const level = levelOf(
      rules,
      joined(at.path, entry.name),
      isDirectory ? "directory" : "file",
      at.inDependency,
    )
    if (isDirectory || level !== "open") entries.push({ name: entry.name, isDirectory, level })
  }
  const listing = { stamp, readAtMs: nowMs, isLayout: isLayout(found), entries }
  known.set(at.path, listing)
  return listing
}

function isStillTrue({ stamp, readAtMs }: Listing, now: Stamp): boolean {
  return (
    isSameInode(stamp, now) && stamp.changedMs === now.changedMs && now.changedMs < readAtMs - clockTickMs
  )
}

/** Returns whether a directory can be listed and not entered: its names are visible, its files are not. */
function entriesAreShut(directory: Stamp): boolean {
  return (directory.mode & 0o100) === 0
}

const knownSlack = 1_000
const directoriesPerTurn = 512
