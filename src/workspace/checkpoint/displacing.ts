import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fsyncSync,
  lstatSync,
  openSync,
  readlinkSync,
  rmdirSync,
  type Stats,
  symlinkSync,
  unlinkSync,
} from "node:fs"
import { errnoOf } from "../../base/assert.ts"
import type { Faults } from "../../base/faults.ts"
import { pathBytes, pathFromBytes, systemPath } from "../../base/path-bytes.ts"
import { nameOf, parentOf } from "../../base/path-names.ts"
import { Failure } from "../../domain/failure.ts"
import type { TreeEntry } from "../contract.ts"
import { fileFailure } from "../failures.ts"
import { keepOwner } from "../files/atomic-write.ts"
import { hashSteady, syncDirectory, unlikelyName } from "../files/durable.ts"
import { entryPath, type Pinned, pin } from "../files/pin.ts"
import { exactPlace, type Place } from "../files/place.ts"
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
import { directoryAt } from "./directories.ts"
import type { DisplacedArea } from "./displaced.ts"
import { contentOfStanding, isSameStanding, openReadable, type Standing, standingOf } from "./standing.ts"

/** What a path is to hold. */
export type Goal =
  | { readonly kind: "nothing" }
  | { readonly kind: "entry"; readonly entry: TreeEntry; readonly writeTo: (fd: number) => void }

type PresentGoal = Exclude<Goal, { readonly kind: "nothing" }>

export interface Displacing {
  readonly root: WorkspaceRoot
  readonly area: DisplacedArea
  /** Larger files are not read. */
  readonly bytesMax: number
  /** Whether the content of a file is kept elsewhere, so that its displaced inode may go. */
  readonly isKept: (standing: Standing) => boolean
  readonly faults: Faults
}

/**
 * Makes a path hold `goal`. `kept` is what was there when it was kept: what is displaced is compared with that, and
 * anything else goes back to its place (ACODE-FS-007), because somebody else has just written it.
 */
export function putGoal(parts: Displacing, path: string, goal: Goal, kept: Standing): void {
  if (goal.kind === "nothing") removeAt(parts, path, kept)
  else if (!putModeBack(parts.root, goal.entry, kept)) replaceAt(parts, path, goal, kept)
}

function removeAt(parts: Displacing, path: string, kept: Standing): void {
  using parent = pin(parts.root, parentOf(path), "never")
  if (!parent?.stat.isDirectory()) throw changed(path)
  const place = { directory: parent, name: nameOf(path) }
  const aside = parts.area.nameFor(path, parent)
  moveAway(place, aside, path)
  parts.faults.reach("restore.displaced")
  if (!settle(parts, aside, kept)) putBackInPlace(aside, place, path)
  syncDirectory(parent.at)
}

function replaceAt(parts: Displacing, path: string, goal: PresentGoal, kept: Standing): void {
  using place = freePlace(parts.root, path, kept)
  const aside = parts.area.nameFor(path, place.directory)
  try {
    make(aside, goal, place.stat)
    parts.faults.reach("restore.made")
    if (kept.kind === "entry") displace(parts, aside, place, goal, kept)
    else nameNew(aside, place)
  } finally {
    syncDirectory(place.directory.at)
  }
}

/** An empty directory in the place of a file goes; one that holds something is somebody's. */
function freePlace(root: WorkspaceRoot, path: string, kept: Standing): Place {
  const place = exactPlace(root, path)
  try {
    if (kept.kind === "directory" && place.stat?.isDirectory()) {
      rmdirSync(entryPath(place.directory, place.name))
      return { ...place, stat: null }
    }
    return place
  } catch (error) {
    place[Symbol.dispose]()
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

/** Swaps the new entry in and looks at what came out. */
function displace(parts: Displacing, aside: NameIn, place: Place, goal: PresentGoal, kept: Standing): void {
  const isSwapped = swapped(aside, place)
  parts.faults.reach("restore.displaced")
  if (settle(parts, aside, kept)) return
  if (isSwapped) takeBack(parts, aside, place, goal)
  else {
    // Without an exchange ours goes first, so that theirs can have its name back.
    moveAway(place, besideName(place), place.relative)
    putBackInPlace(aside, place, place.relative)
  }
  throw changed(place.relative)
}

/**
 * Gives what was displaced its place again. What comes out must be ours, as it was made; otherwise somebody has written
 * the file once more, and the newer version has the place while the older one stays displaced.
 */
function takeBack(
  parts: Pick<Displacing, "area" | "bytesMax">,
  aside: NameIn,
  place: NameIn,
  goal: PresentGoal,
): void {
  exchangeNames(aside, place)
  if (isAsMade(parts, aside, goal)) unlinkSync(pathOfName(aside))
  else {
    exchangeNames(aside, place)
    parts.area.retain(aside)
  }
}

/** False where the file system cannot exchange: then the name is free for a moment. */
function swapped(aside: NameIn, place: Place): boolean {
  try {
    if (exchangeNames(aside, place)) return true
  } catch (error) {
    unlinkSync(pathOfName(aside))
    throw errnoOf(error) === "ENOENT" ? changed(place.relative) : error
  }
  const made = besideName(place)
  moveToFreeName(aside, made)
  moveAway(place, aside, place.relative)
  moveToFreeName(made, place)
  return false
}

/** A name that the next write or restore in this directory removes if a crash leaves it. */
function besideName({ directory }: Place): NameIn {
  return { directory, name: `.acode-${unlikelyName()}.tmp~` }
}

function nameNew(aside: NameIn, place: Place): void {
  try {
    moveToFreeName(aside, place)
  } catch (error) {
    unlinkSync(pathOfName(aside))
    throw errnoOf(error) === "EEXIST" ? changed(place.relative) : error
  }
}

function moveAway(place: NameIn, aside: NameIn, path: string): void {
  try {
    moveToFreeName(place, aside)
  } catch (error) {
    throw errnoOf(error) === "ENOENT" ? changed(path) : error
  }
}

/** Throws in any case: what is there is not what was kept. Where the name is taken by now, it stays displaced. */
function putBackInPlace(aside: NameIn, place: NameIn, path: string): never {
  try {
    moveToFreeName(aside, place)
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error
  }
  throw changed(path)
}

/** Somebody else has written a path since it was kept: it is left to them. */
export class WrittenMeanwhile extends Failure {}

function changed(path: string): WrittenMeanwhile {
  return new WrittenMeanwhile(fileFailure("changed", path, "was changed by somebody else meanwhile").report)
}

/**
 * Removes a displaced file when it is exactly what was kept and nobody can write to it any more; leaves it where it is
 * when somebody still can. False when it is not what was kept.
 */
function settle(parts: Omit<Displacing, "faults">, aside: NameIn, kept: Standing): boolean {
  const found = lookAtDisplaced(parts, aside, kept)
  if (!isSameStanding(found.standing, kept)) return false
  if (found.isFinal && parts.isKept(kept)) unlinkSync(pathOfName(aside))
  else parts.area.retain(aside)
  return true
}

/** Whether what is displaced is what was made to be put in place, untouched. */
function isAsMade(parts: Pick<Displacing, "bytesMax">, aside: NameIn, goal: PresentGoal): boolean {
  const { standing, isFinal } = lookAtDisplaced(parts, aside)
  return isFinal && isSameStanding(standing, goalStanding(goal))
}

function goalStanding(goal: PresentGoal): Standing {
  return { kind: "entry", entry: goal.entry }
}

/** `isFinal`: nobody has it open for writing, from before its content was read. */
function lookAtDisplaced(
  { bytesMax }: Pick<Displacing, "bytesMax">,
  aside: NameIn,
  kept: Standing | null = null,
): { readonly standing: Standing; readonly isFinal: boolean } {
  const at = pathOfName(aside)
  const stat = lstatSync(at)
  if (!stat.isFile()) return { standing: standingOf(at, "", bytesMax), isFinal: true }
  const entry = kept === null ? null : untouched(stat, kept)
  const fd = openReadable(at, constants.O_NOFOLLOW)
  if (fd === null) return { standing: entry ?? standingOf(at, "", 0), isFinal: false }
  try {
    const isFinal = keepWritersOut(fd)
    return { standing: entry ?? standingOf(at, "", bytesMax), isFinal }
  } finally {
    closeSync(fd)
  }
}

/** A long file is not read once more where its times say that nobody has written to it since. */
function untouched({ ino, size, mtimeMs, mode }: Stats, kept: Standing): Standing | null {
  if (kept.kind !== "entry" || kept.entry.kind !== "file" || kept.stamp === undefined) return null
  const { stamp, entry } = kept
  if (stamp.ino !== ino || stamp.sizeBytes !== size || stamp.mtimeMs !== mtimeMs) return null
  // A second write within one tick of the clock leaves the same time.
  const isUnread = entry.sha256 === null || (size >= longBytes && !isRacy(mtimeMs, stamp.seenMs))
  return isUnread ? { kind: "entry", entry: { ...entry, mode: mode & 0o7777 } } : null
}

const longBytes = 4 * 1024 * 1024

/** True when the content is right and only the mode was not. Changing the mode replaces nothing. */
function putModeBack(root: WorkspaceRoot, entry: TreeEntry, kept: Standing): boolean {
  if (entry.kind === "special") return putSpecialModeBack(root, entry, kept)
  if (entry.kind !== "file" || kept.kind !== "entry" || kept.entry.kind !== "file") return false
  const isReadable = kept.entry.sha256 !== null
  if (isReadable && kept.entry.sha256 !== entry.sha256) return false
  using file = pin(root, entry.path, "never")
  if (!file?.stat.isFile()) return false
  chmodSync(file.at, entry.mode)
  if (hashOf(file) === entry.sha256) return true
  chmodSync(file.at, kept.entry.mode)
  if (isReadable) return false
  throw fileFailure("denied", entry.path, "cannot be read, so no copy of it can be kept")
}

type SpecialEntry = Extract<TreeEntry, { readonly kind: "special" }>

function putSpecialModeBack(root: WorkspaceRoot, entry: SpecialEntry, kept: Standing): boolean {
  if (contentOfStanding(kept) !== entry.special) return false
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

/** One path of a kept checkpoint: what was there, and the content it was to get. */
export interface KeptPath {
  readonly path: string
  readonly kept: Standing
  readonly leaves: string | null
}

/**
 * Finishes what a process that died, or had to leave a file to somebody who was writing it, left displaced. Nothing
 * that is not kept elsewhere is removed. Returns what is displaced now and is not what was kept, once nobody writes to
 * it any more.
 */
export function settleLeft(
  parts: Omit<Displacing, "faults">,
  { path, kept, leaves }: KeptPath,
): LeftDisplaced | null {
  using parent = directoryAt(parts.root, parentOf(path))
  const aside = parts.area.nameFor(path, parent)
  const at = pathOfName(aside)
  if (lstatSync(at, { throwIfNoEntry: false }) === undefined) return null
  const { standing, isFinal } = lookAtDisplaced(parts, aside)
  const place = parent === null ? null : { directory: parent, name: nameOf(path) }
  const now = place === null ? null : standingOf(pathOfName(place), path, parts.bytesMax)
  const isHalf = parts.area.isInterrupted && place !== null
  if (isSameStanding(standing, kept)) {
    // Where names cannot be exchanged, a crash leaves the place free.
    if (isHalf && now?.kind === "nothing" && leaves !== null) moveToFreeName(aside, place)
    else settle(parts, aside, kept)
    return null
  }
  if (isFinal && contentOfStanding(standing) === leaves) unlinkSync(at)
  else if (isHalf && now !== null && contentOfStanding(now) === leaves) giveBack(parts, aside, place, leaves)
  else {
    parts.area.retain(aside)
    return isFinal && standing.kind === "entry"
      ? { path, entry: { ...standing.entry, path }, at: realPathOf(aside) }
      : null
  }
  return null
}

/** Something that is displaced and is not what was kept. */
export interface LeftDisplaced {
  readonly path: string
  readonly entry: TreeEntry
  readonly at: string | Buffer
}

/** The descriptor of its directory is closed by the time it is used. */
function realPathOf({ directory, name }: NameIn): string | Buffer {
  const parent = pathFromBytes(readlinkSync(directory.at, { encoding: "buffer" }))
  return systemPath(`${parent}/${name}`)
}

/** What somebody wrote at the moment of the crash has its place again; what was to be there is kept elsewhere. */
function giveBack(
  parts: Pick<Displacing, "area" | "bytesMax">,
  aside: NameIn,
  place: NameIn,
  leaves: string | null,
): void {
  if (leaves === null) {
    moveToFreeName(aside, place)
    return
  }
  if (!exchangeNames(aside, place)) {
    parts.area.retain(aside)
    return
  }
  const { standing, isFinal } = lookAtDisplaced(parts, aside)
  if (isFinal && contentOfStanding(standing) === leaves) unlinkSync(pathOfName(aside))
  else parts.area.retain(aside)
}
