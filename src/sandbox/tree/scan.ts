import { chmodSync, closeSync, constants, fstatSync, openSync } from "node:fs"
import { setImmediate as nextTurn } from "node:timers/promises"
import { type NamedEntry, pathBytes, systemPath } from "../../base/path-bytes.ts"
import { isLayout, isLayoutName, repositoryMark, requiredLayoutNames } from "./git-repository.ts"
import { isWithin } from "./paths.ts"
import {
  absolute,
  clockTickMs,
  entriesOf,
  isClosedName,
  isDependency,
  isExcluded,
  isLifted,
  isRepositoryName,
  isSameInode,
  joined,
  levelOf,
  type Stamp,
  stampOf,
  statsOf,
  type TreeRules,
} from "./tree-rules.ts"
import type { TreeSnapshot } from "./tree-snapshot.ts"

/** The state before a command that a scan compares with: its names, and what was known of its directories. */
export interface Before extends Pick<TreeSnapshot, "takenAtMs" | "directories" | "packaged"> {
  /** Returns whether a protected name was there already. */
  hadName(path: string, now: Stamp): boolean
  /** True where no directories were remembered: then every one is looked into. */
  readonly isWhole?: true
}

export interface Appeared {
  readonly names: readonly string[]
  /** The names among them by which git could run something. */
  readonly forGit: readonly ForGit[]
  /** Files that got a set-user-id or set-group-id bit. */
  readonly setId: readonly string[]
  /** Closes again the directories that had to be opened for the look. */
  restore(): void
}

export interface ForGit {
  readonly path: string
  /** The repository that it is or belongs to; null for what a configuration names. */
  readonly repository: string | null
}

export interface ScanOptions {
  /** False while the command runs: it could be confused by a directory that opens. */
  readonly opensShut: boolean
}

/** Returns the state before a command from its snapshot. */
export function beforeOf(snapshot: TreeSnapshot): Before {
  const { protectedEntries } = snapshot
  return { ...snapshot, hadName: (path, now) => isSameInode(now, protectedEntries.get(path)?.stamp) }
}

/**
 * Protected names that appeared since the snapshot, at any depth. It looks into directories that changed and into
 * new ones; a name that came with a renamed parent is found because its whole path is new. Links are never followed.
 */
export async function findAppeared(
  rules: TreeRules,
  before: Before,
  { opensShut }: ScanOptions = { opensShut: true },
): Promise<Appeared> {
  const search: Search = { rules, before, opensShut, names: [], forGit: [], setId: [], fresh: [], opened: [] }
  let visited = 0
  for (const [path, known] of before.directories) {
    if (++visited % directoriesPerTurn === 0) await nextTurn()
    const now = stampOf(absolute(rules, path))
    if (!isSameInode(now, known)) continue
    const settled = known.changedMs < before.takenAtMs - clockTickMs
    if (!settled || now?.changedMs !== known.changedMs) inspect(search, path)
  }
  for (const [path, mark] of before.packaged)
    if (statsOf(absolute(rules, path)) !== null && repositoryMark(absolute(rules, path)) !== mark)
      noteForGit(search, path, path)
  if (before.isWhole === true) search.fresh.push("")
  while (search.fresh.length > 0) {
    const path = search.fresh.pop()
    if (path === undefined) break
    if (++visited % directoriesPerTurn === 0) await nextTurn()
    inspect(search, path)
  }
  const { names, forGit, setId, opened } = search
  return { names: names.sort(), forGit, setId, restore: () => opened.reverse().forEach(close) }
}

interface Search {
  readonly rules: TreeRules
  readonly before: Before
  readonly opensShut: boolean
  readonly names: string[]
  readonly forGit: ForGit[]
  readonly setId: string[]
  /** Directories that were not there before and have not been looked into yet. */
  readonly fresh: string[]
  readonly opened: { readonly path: string; readonly mode: number }[]
}

function noteForGit(search: Search, path: string, repository: string | null): void {
  search.names.push(path)
  search.forGit.push({ path, repository })
}

function inspect(search: Search, directory: string): void {
  const { rules, before } = search
  if (search.opensShut) openIfShut(search, directory)
  const entries = entriesOf(absolute(rules, directory))
  if (entries === "unreadable") {
    // Its content is not known, so it is treated as what it may hold.
    if (!before.directories.has(directory)) search.names.push(directory)
    return
  }
  const inDependency = isDependency(rules, directory)
  // A workspace that was a bare repository has its parts among the named paths.
  const isOwn = directory === "" && rules.named.includes("HEAD")
  const parts = !isOwn && isLayout(entries) ? layoutParts(search, directory, entries) : []
  if (parts === "all") {
    noteForGit(search, directory, directory)
    return
  }
  for (const part of parts) noteForGit(search, part, directory)
  for (const { name } of entries) {
    const path = joined(directory, name)
    if (!parts.includes(path)) inspectEntry(search, path, name, inDependency)
  }
}

function inspectEntry(search: Search, path: string, name: string, inDependency: boolean): void {
  const { rules, before } = search
  if (isLifted(rules, path) || isExcluded(rules, path)) return
  const now = stampOf(absolute(rules, path))
  if (now === null) return
  const isDirectory = now.kind === "directory"
  const isNamed = rules.named.some(
    named => isInNamed(search, path, named) || leadsAstray(search, path, named, now),
  )
  if (isNamed || levelOf(rules, path, isDirectory ? "directory" : "file", inDependency) !== "open") {
    if (before.hadName(path, now) || before.packaged.has(path)) return
    if (isNamed) noteForGit(search, path, null)
    else if (isRepositoryName(name)) noteForGit(search, path, path)
    else search.names.push(path)
  } else if (isDirectory) {
    if (!isClosedName(name) && !isKnown(before, path, now)) {
      const tooDeep = pathBytes(absolute(rules, path)).length > pathBytesMax
      if (tooDeep) search.names.push(path)
      else search.fresh.push(path)
    }
  } else if (now.kind === "file" && (now.mode & setIdBits) !== 0 && isRecent(before, now.changedMs))
    search.setId.push(path)
}

/** Returns whether a path is in a named one that is new: one that was there before was masked whole. */
function isInNamed({ rules, before }: Search, path: string, named: string): boolean {
  if (!isWithin(path, named)) return false
  const whole = path === named ? null : stampOf(absolute(rules, named))
  return whole === null || !before.hadName(named, whole)
}

/** Returns whether a new link on the way to a path in the configuration of git leads git somewhere else. */
function leadsAstray({ before }: Search, path: string, named: string, now: Stamp): boolean {
  return now.kind === "link" && isWithin(named, path) && isRecent(before, now.changedMs)
}

function isKnown(before: Before, path: string, now: Stamp): boolean {
  return (
    isSameInode(now, before.directories.get(path)) || before.hadName(path, now) || before.packaged.has(path)
  )
}

/** A change within the clock's last tick before the snapshot counts too. */
function isRecent({ takenAtMs }: Before, changedMs: number): boolean {
  return changedMs >= takenAtMs - clockTickMs
}

/**
 * Returns what to move so that git no longer treats a directory as a repository: all of it where the command made
 * nothing else of it, otherwise what is new of what git would read. A directory may have been there with files of a
 * person.
 */
function layoutParts(
  { rules, before }: Search,
  directory: string,
  entries: readonly NamedEntry[],
): "all" | readonly string[] {
  const changedMs = (name: string) => stampOf(absolute(rules, joined(directory, name)))?.changedMs ?? 0
  const isRequired = (name: string) => requiredLayoutNames.has(name.toLowerCase())
  const parts = entries.filter(({ name }) => isLayoutName(name)).map(({ name }) => name)
  // A file that a person made a moment before the command stays where others are surely new.
  const surelyNew = parts.filter(name => changedMs(name) >= before.takenAtMs - fileClockLagMs)
  const born = statsOf(absolute(rules, directory))?.birthtimeMs ?? 0
  const isNew = directory !== "" && !before.directories.has(directory) && isRecent(before, born)
  if (isNew && surelyNew.length === entries.length) return "all"
  if (surelyNew.some(isRequired)) return surelyNew.map(name => joined(directory, name))
  const fresh = parts.filter(name => isRecent(before, changedMs(name)))
  // A file system that does not say when a name came: then all that makes it a repository.
  const gone = fresh.some(isRequired) ? fresh : parts.filter(isRequired)
  return gone.map(name => joined(directory, name))
}

/** A command may close a directory behind itself, so that its owner cannot look into it without a chmod. */
function openIfShut(search: Search, directory: string): void {
  const path = absolute(search.rules, directory)
  const mode = changeMode(path, before => ((before & 0o700) === 0o700 ? before : before | 0o700))
  // A directory of another user: whether it can be read is seen next.
  if (mode !== null && (mode & 0o700) !== 0o700) search.opened.push({ path, mode })
}

function close({ path, mode }: { readonly path: string; readonly mode: number }): void {
  // What went to quarantine may stay open to its owner.
  changeMode(path, () => mode)
}

/** Takes the set-user-id and set-group-id bits from a file. */
export function clearSetId(path: string): void {
  changeMode(path, mode => mode & ~setIdBits)
}

/**
 * Changes the mode of exactly what is at a path, never of what a link in its place leads to. Returns the mode it had;
 * null where it is gone or not ours.
 */
export function changeMode(path: string, change: (mode: number) => number): number | null {
  let fd: number | null = null
  try {
    fd = openSync(systemPath(path), pathOnly | constants.O_NOFOLLOW)
    const stat = fstatSync(fd)
    if (!stat.isFile() && !stat.isDirectory()) return null
    const mode = stat.mode & 0o7777
    const wanted = change(mode)
    if (wanted !== mode) chmodSync(`/proc/self/fd/${fd}`, wanted)
    return mode
  } catch {
    // The caller treats it as what may still be there.
    return null
  } finally {
    if (fd !== null) closeSync(fd)
  }
}

/** `O_PATH`, which the runtime has no name for: opens what may not be read. */
const pathOnly = 0o10000000
const setIdBits = 0o6000
const directoriesPerTurn = 512
/** The clock of file times advances in steps of up to 10 ms: a file made after the snapshot can look so much older. */
const fileClockLagMs = 10
/** The depth up to which every name fits in a path the system accepts; deeper ones are reached step by step. */
const pathBytesMax = 3800
