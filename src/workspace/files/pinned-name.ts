import { constants, lstatSync, mkdirSync, openSync, type Stats } from "node:fs"
import { errnoOf } from "../../base/assert.ts"
import { nameOf, parentOf } from "../../base/path-names.ts"
import type { PathOperation } from "../../domain/effect.ts"
import type { EntryKind, Location } from "../contract.ts"
import { fileFailure, onPath, systemFailure } from "../failures.ts"
import { syncDirectory } from "./durable.ts"
import { entryPath, isSameFile, joinRelative, type Pinned, pin, pinChild } from "./pin.ts"
import type { WorkspaceRoot } from "./root.ts"
import { lexicalPath } from "./typed-path.ts"

/** A name in a pinned directory, where a file exists or will be made. */
export interface PinnedName extends Disposable {
  readonly directory: Pinned
  readonly name: string
  readonly relative: string
  /** The entry that the name holds, symlinks not followed; null when the name is free. */
  readonly stat: Stats | null
  /** Parent directories that were made, outermost first. */
  readonly createdDirectories: readonly string[]
}

/** Returns the path that decisions are based on: symlinks resolved as far as it exists. */
export function locate(root: WorkspaceRoot, typed: string): Location {
  const relative = root.relativeOf(typed)
  using found = pin(root, relative)
  if (found !== null) return { relative: found.relative, kind: kindOf(found.stat) }
  const { ancestor, missing } = deepestExisting(root, relative, typed)
  using _ = ancestor
  return { relative: missing.reduce(joinRelative, ancestor.relative), kind: "missing" }
}

export function kindOf(stat: Stats): EntryKind {
  if (stat.isFile()) return "file"
  if (stat.isDirectory()) return "directory"
  return stat.isSymbolicLink() ? "symlink" : "other"
}

/** Pins a regular file to read; the guard checks the typed path and the real one. */
export function pinFile(root: WorkspaceRoot, typed: string): Pinned {
  const found = pinGuarded(root, typed, "read")
  if (found.stat.isFile()) return found
  found[Symbol.dispose]()
  throw notRegular(typed, found.stat)
}

export function pinDirectory(root: WorkspaceRoot, typed: string, operation: PathOperation): Pinned {
  const found = pinGuarded(root, typed, operation)
  if (found.stat.isDirectory()) return found
  found[Symbol.dispose]()
  throw fileFailure("notRegular", typed, "is not a directory")
}

/** Opens a pinned file. Only for regular files, so that it cannot block. */
export function openPinned(file: Pinned, typed: string): number {
  return onPath(typed, () => openSync(file.at, constants.O_RDONLY | constants.O_NONBLOCK))
}

/**
 * Returns the place where a file is to be written: the target of a symlink that stays inside, with missing parents
 * made.
 */
export function pinNameToWrite(root: WorkspaceRoot, typed: string): PinnedName {
  const relative = guardedRelative(root, typed, "write")
  using found = pin(root, relative)
  if (found === null) return pinNewName(root, relative, typed)
  if (!found.stat.isFile()) throw notRegular(typed, found.stat)
  if (found.stat.nlink !== 1)
    throw fileFailure(
      "hardLinked",
      typed,
      `has ${found.stat.nlink} names (hard links); one may be outside workspace`,
    )
  root.guard(found.relative, "write")
  const pinned = pinNameIn(pin(root, parentOf(found.relative), "never"), nameOf(found.relative), typed, [])
  if (pinned.stat !== null && isSameFile(pinned.stat, found.stat)) return pinned
  pinned[Symbol.dispose]()
  throw fileFailure("changed", typed, "was replaced while it was being opened")
}

/** Returns the place of an entry that is to be removed: a symlink itself, not its target. */
export function pinNameToDelete(root: WorkspaceRoot, typed: string): PinnedName {
  const relative = lexicalPath(guardedRelative(root, typed, "delete"))
  if (relative === ".") throw fileFailure("notRegular", typed, "is the workspace itself")
  const pinned = pinNameIn(pin(root, parentOf(relative)), nameOf(relative), typed, [])
  try {
    root.guard(pinned.relative, "delete")
    if (pinned.stat === null) throw fileFailure("missing", typed, "does not exist")
    if (!pinned.stat.isFile() && !pinned.stat.isSymbolicLink()) throw notRegular(typed, pinned.stat)
    return pinned
  } catch (error) {
    pinned[Symbol.dispose]()
    throw error
  }
}

/** Returns the place at an exact path, to restore its old content: no symlink is followed. */
export function pinExactName(root: WorkspaceRoot, relative: string): PinnedName {
  const names = relative.split("/")
  const made = makeDirectories(root, pinnedRoot(root), names.slice(0, -1), relative)
  return pinNameIn(made.directory, names.at(-1) ?? "", relative, made.created)
}

/** Makes a directory at an exact path, without following symlinks. */
export function ensureExactDirectory(root: WorkspaceRoot, relative: string): void {
  makeDirectories(root, pinnedRoot(root), relative.split("/"), relative).directory[Symbol.dispose]()
}

function guardedRelative(root: WorkspaceRoot, typed: string, operation: PathOperation): string {
  const relative = root.relativeOf(typed)
  root.guard(lexicalPath(relative), operation)
  return relative
}

/** Pins anything that exists; the guard checks the typed path and the real one. */
export function pinGuarded(root: WorkspaceRoot, typed: string, operation: PathOperation): Pinned {
  const found = pin(root, guardedRelative(root, typed, operation))
  if (found === null) throw fileFailure("missing", typed, "does not exist")
  try {
    root.guard(found.relative, operation)
    return found
  } catch (error) {
    found[Symbol.dispose]()
    throw error
  }
}

function pinNewName(root: WorkspaceRoot, relative: string, typed: string): PinnedName {
  if (relative.endsWith("/")) throw fileFailure("malformed", typed, "names a directory, not a file")
  const { ancestor, missing } = deepestExisting(root, relative, typed)
  try {
    if (!ancestor.stat.isDirectory())
      throw fileFailure("missing", typed, "cannot be made: one of its parents is not a directory")
    if (missing.some(name => name.includes("\\")))
      throw fileFailure("malformed", typed, "would make a name with a backslash in it")
    // Checked before anything is made: a refused write must not leave directories behind.
    root.guard(missing.reduce(joinRelative, ancestor.relative), "write")
  } catch (error) {
    ancestor[Symbol.dispose]()
    throw error
  }
  const made = makeDirectories(root, ancestor, missing.slice(0, -1), typed)
  const pinned = pinNameIn(made.directory, missing.at(-1) ?? "", typed, made.created)
  if (pinned.stat === null) return pinned
  pinned[Symbol.dispose]()
  if (pinned.stat.isSymbolicLink())
    throw fileFailure("missing", typed, "is a symlink to something that does not exist")
  throw fileFailure("changed", typed, "was created by another process meanwhile")
}

function deepestExisting(root: WorkspaceRoot, relative: string, typed: string) {
  const missing: string[] = []
  let path = relative.replace(/\/$/, "")
  for (;;) {
    missing.unshift(nameOf(path))
    path = parentOf(path)
    // `a/../b` with `a` missing has no meaning to the kernel, and none here.
    if (missing[0] === "..") throw fileFailure("missing", typed, "does not exist")
    const ancestor = path === "." ? pinnedRoot(root) : pin(root, path)
    if (ancestor !== null) return { ancestor, missing }
  }
}

function pinnedRoot(root: WorkspaceRoot): Pinned {
  const found = pin(root, ".")
  if (found === null) throw fileFailure("missing", root.path, "does not exist any more")
  return found
}

/** Makes each directory below one that is held, so that a swapped parent cannot redirect the next one. */
function makeDirectories(root: WorkspaceRoot, start: Pinned, names: readonly string[], typed: string) {
  const created: string[] = []
  let directory = start
  for (const name of names) {
    using parent = directory
    if (makeDirectory(parent, name, typed)) created.push(joinRelative(parent.relative, name))
    const child = pinChild(root, parent, name)
    if (child === null || !child.stat.isDirectory()) {
      child?.[Symbol.dispose]()
      throw fileFailure("changed", typed, "lost a parent directory while it was being made")
    }
    directory = child
  }
  return { directory, created }
}

function makeDirectory(parent: Pinned, name: string, typed: string): boolean {
  try {
    mkdirSync(entryPath(parent, name))
    syncDirectory(parent.at)
    return true
  } catch (error) {
    if (errnoOf(error) === "EEXIST") return false
    throw systemFailure(error, typed)
  }
}

function pinNameIn(
  directory: Pinned | null,
  name: string,
  typed: string,
  createdDirectories: readonly string[],
): PinnedName {
  if (directory === null) throw fileFailure("missing", typed, "does not exist")
  try {
    const stat = lstatSync(entryPath(directory, name), { throwIfNoEntry: false }) ?? null
    const relative = joinRelative(directory.relative, name)
    return {
      directory,
      name,
      relative,
      stat,
      createdDirectories,
      [Symbol.dispose]: directory[Symbol.dispose],
    }
  } catch (error) {
    directory[Symbol.dispose]()
    throw systemFailure(error, typed)
  }
}

function notRegular(typed: string, stat: Stats) {
  const kind = stat.isDirectory()
    ? "a directory"
    : stat.isFIFO()
      ? "a FIFO"
      : stat.isSocket()
        ? "a socket"
        : "a device"
  return fileFailure("notRegular", typed, `is ${kind}, not a regular file`)
}
