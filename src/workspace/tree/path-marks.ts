import { lstatSync } from "node:fs"
import { relative } from "node:path"
import { nameOf, parentOf } from "../../base/path-names.ts"
import { Failure } from "../../domain/failure.ts"
import type { PathMark } from "../contract.ts"
import { entryPath, type PinRoot, pin } from "../files/pin.ts"
import { gitPlace, readGitIndex } from "../git.ts"
import { readIndexEntries } from "./git-rules.ts"

/** Returns how some paths are left: their inodes and times, and what git has of them in its index. */
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
    // It cannot be looked at, so it is not what it was.
    if (error instanceof Failure) return null
    throw error
  }
}

function indexOf(root: string): (path: string) => string | null {
  const place = gitPlace(root)
  if (place === null) return () => null
  const { bytes, hashBytes } = readGitIndex(place)
  const entries = readIndexEntries(bytes, hashBytes)
  const below = relative(place.topLevel, root)
  const prefix = below === "" ? "" : `${below}/`
  return path => entries.get(`${prefix}${path}`) ?? null
}
