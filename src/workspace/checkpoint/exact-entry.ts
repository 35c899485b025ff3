import { closeSync, constants, lstatSync, openSync, readlinkSync } from "node:fs"
import { errnoOf } from "../../base/assert.ts"
import { nameOf, parentOf } from "../../base/path-names.ts"
import type { TreeEntry } from "../contract.ts"
import { hashContent } from "../durable.ts"
import { fileFailure } from "../failures.ts"
import { pathFromBytes } from "../path-bytes.ts"
import { entryPath, type PinRoot, pin } from "../pin.ts"

/**
 * What is at a path of the tree right now, no symlink followed. Null when nothing is; anything but a file is refused.
 */
export function readExactEntry(root: PinRoot, path: string): TreeEntry | null {
  using directory = pin(root, parentOf(path), "never")
  if (!directory?.stat.isDirectory()) return null
  const at = entryPath(directory, nameOf(path))
  const stat = lstatSync(at, { throwIfNoEntry: false })
  if (stat === undefined) return null
  const known = { path, mode: stat.mode & 0o7777, sizeBytes: stat.size }
  if (stat.isSymbolicLink())
    return { ...known, kind: "symlink", target: pathFromBytes(readlinkSync(at, { encoding: "buffer" })) }
  if (!stat.isFile()) throw fileFailure("notRegular", path, "is neither a file nor a symlink")
  return { ...known, kind: "file", sha256: hashAt(at) }
}

function hashAt(path: string | Buffer): string | null {
  let fd: number
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    if (errnoOf(error) === "EACCES" || errnoOf(error) === "EPERM") return null
    throw error
  }
  try {
    return hashContent(fd).sha256
  } finally {
    closeSync(fd)
  }
}
