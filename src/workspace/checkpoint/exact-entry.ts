import { closeSync, constants, lstatSync, openSync, readlinkSync } from "node:fs"
import { errnoOf } from "../../base/assert.ts"
import { pathFromBytes } from "../../base/path-bytes.ts"
import { nameOf, parentOf } from "../../base/path-names.ts"
import type { ExactContent, TreeEntry } from "../contract.ts"
import { fileFailure, onPath } from "../failures.ts"
import { bounded, chunksOf, hashChunks, passingChunksOf } from "../files/durable.ts"
import { entryPath, type PinRoot, pin } from "../files/pin.ts"
import { statIdentity } from "../tree/stat-cache.ts"

/**
 * Returns the entry at a path of the tree right now, without following symlinks; null when there is none. Throws for
 * anything but a file. A file that is larger than `fileBytesMax` is not read.
 */
export function readExactEntry(root: PinRoot, path: string, fileBytesMax: number): TreeEntry | null {
  using directory = pin(root, parentOf(path), "never")
  if (!directory?.stat.isDirectory()) return null
  const at = entryPath(directory, nameOf(path))
  const stat = lstatSync(at, { throwIfNoEntry: false })
  if (stat === undefined) return null
  const known = { path, mode: stat.mode & 0o7777, sizeBytes: stat.size }
  if (stat.isSymbolicLink())
    return { ...known, kind: "symlink", target: pathFromBytes(readlinkSync(at, { encoding: "buffer" })) }
  if (!stat.isFile()) throw fileFailure("notRegular", path, "is neither a file nor a symlink")
  const sha256 = stat.size > fileBytesMax ? null : hashAt(at, fileBytesMax)
  return sha256 === null
    ? { ...known, kind: "file", sha256, identity: statIdentity(stat) }
    : { ...known, kind: "file", sha256 }
}

/**
 * Returns the content at a path of the tree, without following symlinks or interpreting the name; null when it is not a
 * file or a symlink.
 */
export function readExactContent(root: PinRoot, path: string, bytesMax: number): ExactContent | null {
  using directory = pin(root, parentOf(path), "never")
  if (!directory?.stat.isDirectory()) return null
  const at = entryPath(directory, nameOf(path))
  const stat = lstatSync(at, { throwIfNoEntry: false })
  if (stat === undefined || stat.isDirectory()) return null
  if (stat.isSymbolicLink()) {
    const target = pathFromBytes(readlinkSync(at, { encoding: "buffer" }))
    return { bytes: Buffer.from(target), content: `link:${target}` }
  }
  if (!stat.isFile()) throw fileFailure("notRegular", path, "is not a regular file")
  const tooLarge = fileFailure("tooLarge", path, `is larger than ${bytesMax} bytes`)
  if (stat.size > bytesMax) throw tooLarge
  return onPath(path, () => {
    const fd = openSync(at, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      const pieces: Uint8Array[] = []
      const count = bounded(bytesMax, tooLarge)
      const { sha256 } = hashChunks(chunksOf(fd), chunk => {
        count(chunk)
        pieces.push(chunk)
      })
      return { bytes: Buffer.concat(pieces), content: sha256 }
    } finally {
      closeSync(fd)
    }
  })
}

/** Returns null when the file may not be read, or grows beyond the bound meanwhile. */
function hashAt(path: string | Buffer, bytesMax: number): string | null {
  let fd: number
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    if (errnoOf(error) === "EACCES" || errnoOf(error) === "EPERM") return null
    throw error
  }
  try {
    return hashChunks(passingChunksOf(fd), bounded(bytesMax, outgrown)).sha256
  } catch (error) {
    if (error === outgrown) return null
    throw error
  } finally {
    closeSync(fd)
  }
}

const outgrown = new Error("the file has become too large to be read")
