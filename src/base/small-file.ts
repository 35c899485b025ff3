import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs"
import { errnoOf } from "./assert.ts"
import { systemPath } from "./path-bytes.ts"

/** A regular file of reasonable size as text, or null. Never blocks: a FIFO named HEAD is opened, seen and left. */
export function readSmall(path: string): string | null {
  return readSmallBytes(path, bytesMax)?.toString("utf8") ?? null
}

/** The same, as bytes and with a ceiling of the caller's. */
export function readSmallBytes(path: string, sizeMax: number): Buffer | null {
  let fd: number
  try {
    fd = openSync(systemPath(path), constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
  } catch (error) {
    // Whatever keeps it from being read, what it says is of use and never a reason to fail.
    if (errnoOf(error) !== null) return null
    throw error
  }
  try {
    const stat = fstatSync(fd)
    if (!stat.isFile() || stat.size > sizeMax) return null
    const content = Buffer.alloc(stat.size)
    return content.subarray(0, readSync(fd, content, 0, stat.size, 0))
  } finally {
    closeSync(fd)
  }
}

const bytesMax = 4 * 1024 * 1024
