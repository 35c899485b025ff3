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
import type { PinnedName } from "./pinned-name.ts"

/** Matches temporary names. They carry no part of the target: `a.rs` and `a.toml` must not share one. */
const leftoverName = /^\.acode-[0-9a-f]{32}\.tmp~$/

/** Reports whether a name is that of a file which an interrupted write left behind. */
export function isLeftover(name: string): boolean {
  return leftoverName.test(name)
}

/**
 * Replaces the content of a file in one step: a reader sees the whole old file or the whole new one, also after a
 * crash. Keeps the owner and mode of the old file. A new file never replaces one that appeared meanwhile.
 */
export function putContent(
  pinned: PinnedName,
  content: Uint8Array,
  mode: number | null,
  faults: Faults,
): void {
  const replaced = pinned.stat
  putEntry(pinned, faults, temporary => {
    const fd = openSync(temporary, createExclusively, replaced === null && mode === null ? 0o666 : 0o600)
    try {
      writeAll(fd, content)
      if (replaced !== null) keepOwner(fd, replaced)
      // New content does not inherit setuid and setgid; restored content had the mode before.
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

function putEntry(pinned: PinnedName, faults: Faults, make: (temporary: string | Buffer) => void): void {
  const temporary = entryPath(pinned.directory, `.acode-${unlikelyName()}.tmp~`)
  try {
    make(temporary)
    if (pinned.stat === null) nameNew(temporary, pinned)
    else replace(temporary, pinned, pinned.stat)
  } catch (error) {
    removeQuietly(temporary)
    throw systemFailure(error, pinned.relative)
  }
  faults.reach("file.renamed")
  syncDirectory(pinned.directory.at)
  faults.reach("file.directory-synced")
}

/** A link fails where a rename would silently replace. */
function nameNew(temporary: string | Buffer, pinned: PinnedName): void {
  const target = entryPath(pinned.directory, pinned.name)
  try {
    linkSync(temporary, target)
    unlinkSync(temporary)
  } catch (error) {
    const code = errnoOf(error)
    if (code === "EEXIST")
      throw fileFailure("changed", pinned.relative, "was created by another process meanwhile")
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "EOPNOTSUPP") throw error
    // The file system has no hard links, so checking before the rename is the only protection.
    if (lstatSync(target, { throwIfNoEntry: false }) !== undefined)
      throw fileFailure("changed", pinned.relative, "was created by another process meanwhile")
    renameSync(temporary, target)
  }
}

function replace(temporary: string | Buffer, pinned: PinnedName, before: Stats): void {
  const target = entryPath(pinned.directory, pinned.name)
  const now = lstatSync(target, { throwIfNoEntry: false })
  if (now === undefined || !isUntouched(now, before))
    throw fileFailure("changed", pinned.relative, "was changed by another process meanwhile")
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
    // Only root can give files away; any other user owns the new file, as with an editor.
    if (errnoOf(error) !== "EPERM") throw error
  }
}

function removeQuietly(path: string | Buffer): void {
  try {
    unlinkSync(path)
  } catch {
    // The file was never made or is already renamed; if it still exists, recovery knows it by its name.
  }
}
