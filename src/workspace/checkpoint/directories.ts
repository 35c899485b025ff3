import { chmodSync, lstatSync, rmdirSync } from "node:fs"
import { errnoOf } from "../../base/assert.ts"
import { nameOf, parentOf } from "../../base/path-names.ts"
import { Failure } from "../../domain/failure.ts"
import { entryPath, type Pinned, type PinRoot, pin } from "../files/pin.ts"
import { ensureExactDirectory } from "../files/pinned-name.ts"
import type { WorkspaceRoot } from "../files/root.ts"
import type { RestoreGoal } from "./contract.ts"
import { presentEntryAt } from "./present-entry.ts"

/** A directory that is to get a mode, or to be removed. */
export interface DirectoryChange {
  readonly path: string
  /** Null for one that does not exist. */
  readonly from: number | null
  /** Null for one that is removed, if it is empty. */
  readonly to: number | null
  /** True for a directory that a goal names; the others only follow from the files in them. */
  readonly isNamed: boolean
}

export interface NamedDirectories {
  readonly changes: readonly DirectoryChange[]
  /** Directories that are neither in the wanted state nor as they were left. */
  readonly foreign: readonly string[]
}

/** Decides the changes of the directories that goals name. */
export function planNamed(root: WorkspaceRoot, goals: readonly RestoreGoal[]): NamedDirectories {
  const changes: DirectoryChange[] = []
  const foreign: string[] = []
  for (const { checkpoint, directories } of goals) {
    const known = modesIn(checkpoint)
    for (const [path, left] of directories ?? []) {
      const change = namedChange(root, path, known.get(path) ?? null, left)
      if (change === "foreign") foreign.push(`${path}/`)
      else if (change !== null) changes.push(change)
    }
  }
  return { changes, foreign }
}

/** Decides the changes of the other directories around files that are made or removed. */
export function planFollowing(
  root: WorkspaceRoot,
  goals: readonly RestoreGoal[],
  leaves: ReadonlyMap<string, string | null>,
  named: NamedDirectories,
): readonly DirectoryChange[] {
  const isNamed = new Set(named.changes.map(({ path }) => path))
  const planned = new Map<string, DirectoryChange>()
  for (const { checkpoint, expected } of goals) {
    const known = modesIn(checkpoint)
    for (const path of expected.keys()) {
      const left = leaves.get(path)
      if (left === undefined) continue
      for (const parent of parentsOf(path).filter(each => !isNamed.has(each) && !planned.has(each))) {
        const change = followingChange(root, parent, left, known, checkpoint.scope)
        if (change !== null) planned.set(parent, change)
      }
    }
  }
  return [...planned.values()]
}

/** Returns the parent directories of some paths that do not exist. */
export function missingAround(root: PinRoot, paths: readonly string[]): readonly string[] {
  const around = new Set(paths.flatMap(parentsOf))
  return [...around].filter(path => presentEntryAt(root, path, 0).kind === "nothing")
}

/** Returns the mode of each directory now; null where there is none. */
export function modesAt(root: PinRoot, directories: readonly string[]): ReadonlyMap<string, number | null> {
  return new Map(directories.map(path => [path, modeAt(root, path)]))
}

function modeAt(root: PinRoot, path: string): number | null {
  const now = presentEntryAt(root, path, 0)
  return now.kind === "directory" ? now.mode : null
}

function modesIn({ directories }: RestoreGoal["checkpoint"]): ReadonlyMap<string, number> {
  return new Map(directories.map(({ path, mode }) => [path, mode]))
}

function namedChange(
  root: WorkspaceRoot,
  path: string,
  wanted: number | null,
  left: number | null,
): DirectoryChange | "foreign" | null {
  const mode = modeAt(root, path)
  if (mode === wanted) return null
  if (mode !== left) return "foreign"
  return { path, from: mode, to: wanted, isNamed: true }
}

/**
 * Returns the change of a parent: the directory of a new file is removed with it when the checkpoint does not know it;
 * that of an old file is made with its mode.
 */
function followingChange(
  root: WorkspaceRoot,
  path: string,
  leaves: string | null,
  known: ReadonlyMap<string, number>,
  scope: "tree" | "files",
): DirectoryChange | null {
  const from = modeAt(root, path)
  if (leaves !== null)
    return from === null
      ? { path, from, to: known.get(path) ?? 0o777 & ~process.umask(), isNamed: false }
      : null
  return scope === "tree" && from !== null && !known.has(path)
    ? { path, from, to: null, isNamed: false }
    : null
}

function parentsOf(path: string): string[] {
  const names = path.split("/")
  return names.slice(1).map((_, index) => names.slice(0, index + 1).join("/"))
}

export function pathDepth({ path }: DirectoryChange): number {
  return path === "." ? 0 : path.split("/").length
}

/** Gives the owner access to a directory whose mode is about to change, so that its files can be restored. */
export function openDirectory(root: WorkspaceRoot, { path, to }: DirectoryChange): void {
  using directory = directoryAt(root, path)
  if (directory !== null && to !== null) chmodSync(directory.at, to | 0o700)
}

export function makeDirectory(root: WorkspaceRoot, path: string): void {
  ensureExactDirectory(root, path)
}

export function putDirectoryMode(root: WorkspaceRoot, { path, to }: DirectoryChange): void {
  using directory = directoryAt(root, path)
  if (directory !== null && to !== null && (directory.stat.mode & 0o7777) !== to) chmodSync(directory.at, to)
}

/**
 * Removes a directory and returns true. One that holds something stays, and the result is false: it contains the user's
 * own files, such as ignored ones.
 */
export function removeIfEmpty(root: WorkspaceRoot, path: string): boolean {
  using directory = pin(root, parentOf(path), "never")
  if (!directory?.stat.isDirectory()) return true
  const at = entryPath(directory, nameOf(path))
  if (!lstatSync(at, { throwIfNoEntry: false })?.isDirectory()) return true
  try {
    rmdirSync(at)
    return true
  } catch (error) {
    if (errnoOf(error) !== "ENOTEMPTY" && errnoOf(error) !== "EEXIST") throw error
    return false
  }
}

export function directoryAt(root: WorkspaceRoot, path: string): Pinned | null {
  try {
    const found = pin(root, path, "never")
    if (found === null || found.stat.isDirectory()) return found
    found[Symbol.dispose]()
    return null
  } catch (error) {
    // A symlink replaced it, or a parent above the first known one is closed: there is nothing to open here.
    if (error instanceof Failure) return null
    throw error
  }
}
