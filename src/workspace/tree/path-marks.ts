import { lstatSync } from "node:fs"
import { relative } from "node:path"
import { readNames, systemPath } from "../../base/path-bytes.ts"
import { nameOf, parentOf } from "../../base/path-names.ts"
import { Failure } from "../../domain/failure.ts"
import type { PathMark, StampedFile } from "../contract.ts"
import { onPath } from "../failures.ts"
import { entryPath, joinRelative, type PinRoot, pin } from "../files/pin.ts"
import { pinDirectory } from "../files/pinned-name.ts"
import type { WorkspaceRoot } from "../files/root.ts"
import { findGitDirectories, readGitIndex } from "../git.ts"
import { readIndexEntries } from "./git-rules.ts"
import { isRacy, statIdentity } from "./stat-cache.ts"

/** Returns the state of some paths: their inodes and times, and their objects in git's index. */
export function markPaths(root: PinRoot, paths: readonly string[]): readonly PathMark[] {
  if (paths.length === 0) return []
  const indexed = indexOf(root.path)
  return paths.map(path => ({ path, identity: identityOf(root, path), staged: indexed(path) }))
}

function identityOf(root: PinRoot, path: string): string | null {
  try {
    using directory = pin(root, parentOf(path), "never")
    if (!directory?.stat.isDirectory()) return null
    const stat = lstatSync(entryPath(directory, nameOf(path)), { throwIfNoEntry: false })
    return stat === undefined ? null : `${stat.ino}:${stat.mtimeMs}:${stat.ctimeMs}`
  } catch (error) {
    // A path that cannot be inspected any more has changed.
    if (error instanceof Failure) return null
    throw error
  }
}

function indexOf(root: string): (path: string) => string | null {
  const gitDirectories = findGitDirectories(root)
  if (gitDirectories === null) return () => null
  const { bytes, hashBytes } = readGitIndex(gitDirectories)
  const entries = readIndexEntries(bytes, hashBytes)
  const below = relative(gitDirectories.topLevel, root)
  const prefix = below === "" ? "" : `${below}/`
  return path => entries.get(`${prefix}${path}`) ?? null
}

/**
 * Returns what identifies the content of each regular file in a directory. Files are looked up by the path of the
 * directory, because a lookup below a descriptor takes twice as long; nothing is read on the strength of a stamp.
 */
export function stampFiles(
  root: WorkspaceRoot,
  path: string,
  isHidden: (path: string) => boolean,
  nowMs: number,
): readonly StampedFile[] {
  using directory = pinDirectory(root, path, "list")
  const prefix = `${root.path}/${directory.relative}/`
  return onPath(directory.relative, () => readNames(directory.at)).flatMap(name => {
    const stat = lstatSync(systemPath(prefix + name), { throwIfNoEntry: false })
    if (!stat?.isFile() || isHidden(joinRelative(directory.relative, name))) return []
    return [{ name, identity: statIdentity(stat), isSettled: !isRacy(stat.ctimeMs, nowMs) }]
  })
}
