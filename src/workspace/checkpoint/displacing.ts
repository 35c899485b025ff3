import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fsyncSync,
  lstatSync,
  openSync,
  rmdirSync,
  type Stats,
  symlinkSync,
  unlinkSync,
} from "node:fs"
import { errnoOf } from "../../base/assert.ts"
import type { Faults } from "../../base/faults.ts"
import { pathBytes } from "../../base/path-bytes.ts"
import { nameOf, parentOf } from "../../base/path-names.ts"
import { Failure } from "../../domain/failure.ts"
import type { TreeEntry } from "../contract.ts"
import { fileFailure } from "../failures.ts"
import { keepOwner } from "../files/atomic-write.ts"
import { hashSteady, syncDirectory, unlikelyName } from "../files/durable.ts"
import { entryPath, type Pinned, pin } from "../files/pin.ts"
import { type PinnedName, pinExactName } from "../files/pinned-name.ts"
import {
  exchangeNames,
  keepWritersOut,
  makeFifo,
  moveToFreeName,
  type NameIn,
  pathOfName,
} from "../files/rename.ts"
import type { WorkspaceRoot } from "../files/root.ts"
import { specialEntry } from "../tree/reader.ts"
import { isRacy } from "../tree/stat-cache.ts"
import type { DisplacedArea } from "./displaced.ts"
import {
  contentOfPresentEntry,
  isSamePresentEntry,
  openReadable,
  type PresentEntry,
  presentEntryOf,
} from "./present-entry.ts"

/** The wanted entry of a path. */
export type Goal =
  | { readonly kind: "nothing" }
  | { readonly kind: "entry"; readonly entry: TreeEntry; readonly writeTo: (fd: number) => void }

type PresentGoal = Exclude<Goal, { readonly kind: "nothing" }>

export interface Displacing {
  readonly root: WorkspaceRoot
  readonly area: DisplacedArea
  /** Larger files are not read. */
  readonly bytesMax: number
  /** Reports whether the content of a file is kept elsewhere, so that its displaced inode may be removed. */
  readonly isKept: (present: PresentEntry) => boolean
  readonly faults: Faults
}

/**
 * Makes a path hold `goal`. `kept` is the entry that was there when it was kept: the displaced entry is compared with
 * it, and any other entry is moved back (ACODE-FS-007), because another process has just written it.
 */
export function putGoal(deps: Displacing, path: string, goal: Goal, kept: PresentEntry): void {
  if (goal.kind === "nothing") removeAt(deps, path, kept)
  else if (!restoreMode(deps.root, goal.entry, kept)) replaceAt(deps, path, goal, kept)
}

function removeAt(deps: Displacing, path: string, kept: PresentEntry): void {
  using parent = pin(deps.root, parentOf(path), "never")
  if (!parent?.stat.isDirectory()) throw changed(path)
  const pinned = { directory: parent, name: nameOf(path) }
  const aside = deps.area.nameFor(path, parent)
  moveAway(pinned, aside, path)
  deps.faults.reach("restore.displaced")
  if (!removeIfKept(deps, aside, kept)) moveBackAndThrow(aside, pinned, path)
  syncDirectory(parent.at)
}

function replaceAt(deps: Displacing, path: string, goal: PresentGoal, kept: PresentEntry): void {
  using pinned = pinFreedName(deps.root, path, kept)
  const aside = deps.area.nameFor(path, pinned.directory)
  try {
    make(aside, goal, pinned.stat)
    deps.faults.reach("restore.made")
    if (kept.kind === "entry") displace(deps, aside, pinned, goal, kept)
    else nameNew(aside, pinned)
  } finally {
    syncDirectory(pinned.directory.at)
  }
}

/** Removes an empty directory in the place of a file; one that holds something belongs to another process. */
function pinFreedName(root: WorkspaceRoot, path: string, kept: PresentEntry): PinnedName {
  const pinned = pinExactName(root, path)
  try {
    if (kept.kind === "directory" && pinned.stat?.isDirectory()) {
      rmdirSync(entryPath(pinned.directory, pinned.name))
      return { ...pinned, stat: null }
    }
    return pinned
  } catch (error) {
    pinned[Symbol.dispose]()
    throw error
  }
}

function make(aside: NameIn, goal: PresentGoal, replaced: Stats | null): void {
  const at = pathOfName(aside)
  const { entry } = goal
  if (entry.kind === "special") {
    if (entry.special !== "fifo:" || !makeFifo(aside, 0o600))
      throw fileFailure("notRegular", entry.path, `was a ${kindOfSpecial(entry)}, which acode cannot make`)
    chmodSync(at, entry.mode)
  } else if (entry.kind === "symlink") symlinkSync(pathBytes(entry.target), at)
  else makeFile(at, entry.mode, goal.writeTo, replaced)
}

function makeFile(
  at: string | Buffer,
  mode: number,
  writeTo: (fd: number) => void,
  replaced: Stats | null,
): void {
  const fd = openSync(
    at,
    constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
    0o600,
  )
  try {
    writeTo(fd)
    if (replaced?.isFile()) keepOwner(fd, replaced)
    fchmodSync(fd, mode)
    fsyncSync(fd)
  } catch (error) {
    unlinkSync(at)
    throw error
  } finally {
    closeSync(fd)
  }
}

/** Exchanges the new entry with the old one and compares the old one with the kept copy. */
function displace(
  deps: Displacing,
  aside: NameIn,
  pinned: PinnedName,
  goal: PresentGoal,
  kept: PresentEntry,
): void {
  const isSwapped = swapped(aside, pinned)
  deps.faults.reach("restore.displaced")
  if (removeIfKept(deps, aside, kept)) return
  if (isSwapped) takeBack(deps, aside, pinned, goal)
  else {
    // Without an exchange our entry is moved away first, so that theirs can have its name back.
    moveAway(pinned, nameBeside(pinned), pinned.relative)
    moveBackAndThrow(aside, pinned, pinned.relative)
  }
  throw changed(pinned.relative)
}

/**
 * Moves the displaced entry back. The entry that comes out must be ours, as it was made; otherwise another process has
 * written the file once more, and the newer version stays while the older one remains displaced.
 */
function takeBack(
  deps: Pick<Displacing, "area" | "bytesMax">,
  aside: NameIn,
  pinned: NameIn,
  goal: PresentGoal,
): void {
  exchangeNames(aside, pinned)
  if (isAsMade(deps, aside, goal)) unlinkSync(pathOfName(aside))
  else {
    exchangeNames(aside, pinned)
    deps.area.retain(aside)
  }
}

/** Exchanges two names. Returns false where the file system cannot: then the name is free for a moment. */
function swapped(aside: NameIn, pinned: PinnedName): boolean {
  try {
    if (exchangeNames(aside, pinned)) return true
  } catch (error) {
    unlinkSync(pathOfName(aside))
    throw errnoOf(error) === "ENOENT" ? changed(pinned.relative) : error
  }
  const made = nameBeside(pinned)
  moveToFreeName(aside, made)
  moveAway(pinned, aside, pinned.relative)
  moveToFreeName(made, pinned)
  return false
}

/** Returns a name that the next write or restore in this directory removes if a crash leaves it. */
function nameBeside({ directory }: PinnedName): NameIn {
  return { directory, name: `.acode-${unlikelyName()}.tmp~` }
}

function nameNew(aside: NameIn, pinned: PinnedName): void {
  try {
    moveToFreeName(aside, pinned)
  } catch (error) {
    unlinkSync(pathOfName(aside))
    throw errnoOf(error) === "EEXIST" ? changed(pinned.relative) : error
  }
}

function moveAway(pinned: NameIn, aside: NameIn, path: string): void {
  try {
    moveToFreeName(pinned, aside)
  } catch (error) {
    throw errnoOf(error) === "ENOENT" ? changed(path) : error
  }
}

/**
 * Moves an entry that is not what was kept back to its path, and always throws. Where the name is taken by now, the
 * entry stays displaced.
 */
function moveBackAndThrow(aside: NameIn, pinned: NameIn, path: string): never {
  try {
    moveToFreeName(aside, pinned)
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error
  }
  throw changed(path)
}

/** Thrown when another process has written a path since it was kept: the path is left to it. */
export class WrittenMeanwhile extends Failure {}

function changed(path: string): WrittenMeanwhile {
  return new WrittenMeanwhile(fileFailure("changed", path, "was changed by another process meanwhile").report)
}

/**
 * Removes a displaced file when it is exactly what was kept and no process can write to it any more; leaves it while
 * one still can. Returns false when it is not what was kept.
 */
export function removeIfKept(deps: Omit<Displacing, "faults">, aside: NameIn, kept: PresentEntry): boolean {
  const found = inspectDisplaced(deps, aside, kept)
  if (!isSamePresentEntry(found.present, kept)) return false
  if (found.isFinal && deps.isKept(kept)) unlinkSync(pathOfName(aside))
  else deps.area.retain(aside)
  return true
}

/** Reports whether a displaced entry is the one that was made for the path, unchanged. */
function isAsMade(deps: Pick<Displacing, "bytesMax">, aside: NameIn, goal: PresentGoal): boolean {
  const { present, isFinal } = inspectDisplaced(deps, aside)
  return isFinal && isSamePresentEntry(present, goalEntry(goal))
}

function goalEntry(goal: PresentGoal): PresentEntry {
  return { kind: "entry", entry: goal.entry }
}

/** Inspects a displaced entry. `isFinal`: no process has it open for writing, from before its content was read. */
export function inspectDisplaced(
  { bytesMax }: Pick<Displacing, "bytesMax">,
  aside: NameIn,
  kept: PresentEntry | null = null,
): { readonly present: PresentEntry; readonly isFinal: boolean } {
  const at = pathOfName(aside)
  const stat = lstatSync(at)
  if (!stat.isFile()) return { present: presentEntryOf(at, "", bytesMax), isFinal: true }
  const entry = kept === null ? null : untouched(stat, kept)
  const fd = openReadable(at, constants.O_NOFOLLOW)
  if (fd === null) return { present: entry ?? presentEntryOf(at, "", 0), isFinal: false }
  try {
    const isFinal = keepWritersOut(fd)
    return { present: entry ?? presentEntryOf(at, "", bytesMax), isFinal }
  } finally {
    closeSync(fd)
  }
}

/**
 * Returns the kept state of a long file whose times show that it was not written since, so that it is not read again.
 */
function untouched({ ino, size, mtimeMs, mode }: Stats, kept: PresentEntry): PresentEntry | null {
  if (kept.kind !== "entry" || kept.entry.kind !== "file" || kept.stamp === undefined) return null
  const { stamp, entry } = kept
  if (stamp.ino !== ino || stamp.sizeBytes !== size || stamp.mtimeMs !== mtimeMs) return null
  // A second write within one tick of the clock leaves the same time.
  const isUnread = entry.sha256 === null || (size >= longBytes && !isRacy(mtimeMs, stamp.seenMs))
  return isUnread ? { kind: "entry", entry: { ...entry, mode: mode & 0o7777 } } : null
}

const longBytes = 4 * 1024 * 1024

/**
 * Restores the mode. Returns true when the content is right and only the mode was not; changing the mode replaces
 * nothing.
 */
function restoreMode(root: WorkspaceRoot, entry: TreeEntry, kept: PresentEntry): boolean {
  if (entry.kind === "special") return restoreSpecialMode(root, entry, kept)
  if (entry.kind !== "file" || kept.kind !== "entry" || kept.entry.kind !== "file") return false
  // Content that was not read, because it is too large or may not be read, differs for certain in another size.
  const isOther =
    kept.entry.sha256 === null ? kept.entry.sizeBytes !== entry.sizeBytes : kept.entry.sha256 !== entry.sha256
  if (isOther) return false
  using file = pin(root, entry.path, "never")
  if (!file?.stat.isFile()) return false
  chmodSync(file.at, entry.mode)
  if (hashOf(file) === entry.sha256) return true
  chmodSync(file.at, kept.entry.mode)
  return false
}

type SpecialEntry = Extract<TreeEntry, { readonly kind: "special" }>

function restoreSpecialMode(root: WorkspaceRoot, entry: SpecialEntry, kept: PresentEntry): boolean {
  if (contentOfPresentEntry(kept) !== entry.special) return false
  using found = pin(root, entry.path, "never")
  if (found === null || found.stat.isFile() || found.stat.isDirectory()) return false
  if (specialEntry(entry.path, found.stat).special !== entry.special) return false
  chmodSync(found.at, entry.mode)
  return true
}

function kindOfSpecial({ special }: SpecialEntry): string {
  return special.slice(0, special.indexOf(":"))
}

function hashOf({ at }: Pinned): string | null {
  const fd = openReadable(at, 0)
  if (fd === null) return null
  try {
    return hashSteady(fd)
  } finally {
    closeSync(fd)
  }
}
