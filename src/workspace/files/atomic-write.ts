import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  renameSync,
  type Stats,
  unlinkSync,
} from "node:fs"
import { errnoOf } from "../../base/assert.ts"
import type { Faults } from "../../base/faults.ts"
import { fileFailure, systemFailure } from "../failures.ts"
import { syncDirectory, unlikelyName, writeAll } from "./durable.ts"
import { entryPath } from "./pin.ts"
import type { Place } from "./place.ts"

/** The temporary name carries no part of the target: `a.rs` and `a.toml` must not share one. */
const leftoverName = /^\.acode-[0-9a-f]{32}\.tmp~$/

/** Whether a name is that of a file which a write that was cut short left behind. */
export function isLeftover(name: string): boolean {
  return leftoverName.test(name)
}

/**
 * Puts content at a place in one step: whoever looks sees the old file or the new one, whole, also after a crash.
 * Owner and mode of the old file are kept. A file that is new never replaces one that appeared meanwhile.
 */
export function putContent(place: Place, content: Uint8Array, mode: number | null, faults: Faults): void {
  const replaced = place.stat
  putEntry(place, faults, temporary => {
    const fd = openSync(temporary, createExclusively, replaced === null && mode === null ? 0o666 : 0o600)
    try {
      writeAll(fd, content)
      if (replaced !== null) keepOwner(fd, replaced)
      // New content does not inherit the power to run as somebody else; what is put back was that before.
      const wanted = mode ?? (replaced === null ? null : replaced.mode & 0o777)
      if (wanted !== null) fchmodSync(fd, wanted)
      faults.reach("file.temporary-written")
      fsyncSync(fd)
      faults.reach("file.temporary-synced")
    } finally {
      closeSync(fd)
    }
  })
}

const createExclusively = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW

function putEntry(place: Place, faults: Faults, make: (temporary: string | Buffer) => void): void {
  const temporary = entryPath(place.directory, `.acode-${unlikelyName()}.tmp~`)
  try {
    make(temporary)
    if (place.stat === null) nameNew(temporary, place)
    else replace(temporary, place, place.stat)
  } catch (error) {
    removeQuietly(temporary)
    throw systemFailure(error, place.relative)
  }
  faults.reach("file.renamed")
  syncDirectory(place.directory.at)
  faults.reach("file.directory-synced")
}

/** A link fails where a rename would silently replace. */
function nameNew(temporary: string | Buffer, place: Place): void {
  const target = entryPath(place.directory, place.name)
  try {
    linkSync(temporary, target)
    unlinkSync(temporary)
  } catch (error) {
    const code = errnoOf(error)
    if (code === "EEXIST") throw fileFailure("changed", place.relative, "appeared while it was being made")
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "EOPNOTSUPP") throw error
    // A file system without hard links: the look before the rename is all there is.
    if (lstatSync(target, { throwIfNoEntry: false }) !== undefined)
      throw fileFailure("changed", place.relative, "appeared while it was being made")
    renameSync(temporary, target)
  }
}

function replace(temporary: string | Buffer, place: Place, before: Stats): void {
  const target = entryPath(place.directory, place.name)
  const now = lstatSync(target, { throwIfNoEntry: false })
  if (now === undefined || !isUntouched(now, before))
    throw fileFailure("changed", place.relative, "was changed by somebody else meanwhile")
  renameSync(temporary, target)
}

function isUntouched(now: Stats, before: Stats): boolean {
  return (
    now.ino === before.ino &&
    now.dev === before.dev &&
    now.size === before.size &&
    now.mtimeMs === before.mtimeMs &&
    now.ctimeMs === before.ctimeMs
  )
}

export function keepOwner(fd: number, { uid, gid }: Stats): void {
  try {
    fchownSync(fd, uid, gid)
  } catch (error) {
    // Only root can give files away; anybody else wrote it as themselves, as an editor would.
    if (errnoOf(error) !== "EPERM") throw error
  }
}

function removeQuietly(path: string | Buffer): void {
  try {
    unlinkSync(path)
  } catch {
    // It was never made or is already renamed; if it is still there, recovery knows it by its name.
  }
}
