import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs"
import { errnoOf } from "./assert.ts"
import { systemPath } from "./path-bytes.ts"

/**
 * Returns a regular file of limited size as text, or null. Never blocks: a FIFO named HEAD is opened, recognized and
 * closed.
 */
export function readSmall(path: string): string | null {
  return readSmallBytes(path, bytesMax)?.toString("utf8") ?? null
}

/** Returns a regular file of at most `sizeMax` bytes, or null. Never blocks. */
export function readSmallBytes(path: string, sizeMax: number): Buffer | null {
  let fd: number
  try {
    fd = openSync(systemPath(path), constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
  } catch (error) {
    // A file that cannot be read is treated as absent: its content is optional for every caller.
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
