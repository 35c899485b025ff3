import { closeSync, constants, fstatSync, fsyncSync, lstatSync, openSync, readSync, writeSync } from "node:fs"
import type { Pace } from "../pace.ts"

/** Makes the names in a directory durable: without it a power failure can lose a rename. */
export function syncDirectory(path: string): void {
  const fd = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

/** Returns the bytes that an entry occupies on the disk; 0 when it does not exist. */
export function allotted(path: string): number {
  return (lstatSync(path, { throwIfNoEntry: false })?.blocks ?? 0) * blockBytes
}

const blockBytes = 512

/** Returns a name that no other process picks. Avoids the crypto module, which loads half of the runtime. */
export function unlikelyName(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString("hex")
}

/** Writes all of the content: a short write is not an error to the system, but leaves a torn file. */
export function writeAll(fd: number, content: Uint8Array): void {
  for (let written = 0; written < content.length; )
    written += writeSync(fd, content, written, content.length - written)
}

export interface ContentHash {
  readonly sha256: string
  readonly sizeBytes: number
}

/** Hashes an open file from its start in bounded memory. Returns null for a file that grows meanwhile. */
export function hashSteady(fd: number): string | null {
  try {
    return hashChunks(passingChunksOf(fd), bounded(fstatSync(fd).size, outgrown)).sha256
  } catch (error) {
    if (error === outgrown) return null
    throw error
  }
}

/** Hashes a long file as `hashSteady` does, and lets other work run in between. */
export async function hashSteadyPaced(fd: number, pace: Pace): Promise<string | null> {
  try {
    return (await hashPaced(fd, pace, bounded(fstatSync(fd).size, outgrown))).sha256
  } catch (error) {
    if (error === outgrown) return null
    throw error
  }
}

/** Thrown for a file that grows as fast as it is read: it has no end and no content to compare. */
const outgrown = new Error("the file grows while it is read")

/** Hashes chunks and passes each to `use`. */
export function hashChunks(chunks: Iterable<Uint8Array>, use: (chunk: Uint8Array) => void): ContentHash {
  const hasher = new Bun.CryptoHasher("sha256")
  let sizeBytes = 0
  for (const chunk of chunks) {
    hasher.update(chunk)
    use(chunk)
    sizeBytes += chunk.length
  }
  return { sha256: hasher.digest("hex"), sizeBytes }
}

/** Hashes an open file in bounded memory, passes each chunk to `use`, and lets other work run in between. */
export async function hashPaced(
  fd: number,
  pace: Pace,
  use: (chunk: Uint8Array) => void = () => undefined,
): Promise<ContentHash> {
  const hasher = new Bun.CryptoHasher("sha256")
  let sizeBytes = 0
  for (const chunk of passingChunksOf(fd)) {
    hasher.update(chunk)
    sizeBytes += chunk.length
    use(chunk)
    if (pace.isDue()) await pace.rest()
  }
  return { sha256: hasher.digest("hex"), sizeBytes }
}

/** Returns a callback for the chunks of a file that throws `tooMuch` once there is more than `bytesMax`. */
export function bounded(
  bytesMax: number,
  tooMuch: unknown,
  use: (chunk: Uint8Array) => void = () => undefined,
): (chunk: Uint8Array) => void {
  let leftBytes = bytesMax
  return chunk => {
    leftBytes -= chunk.length
    // A file that grows as fast as it is read has no end.
    if (leftBytes < 0) throw tooMuch
    use(chunk)
  }
}

/** Yields an open file from its start in pieces that may be kept: each has its own memory. */
export function* chunksOf(fd: number): Generator<Uint8Array> {
  for (const chunk of passingChunksOf(fd)) yield new Uint8Array(chunk)
}

/**
 * Yields an open file in pieces that must not be kept: the next one overwrites the memory of the last. Reads files of
 * any size in little memory, because the runtime frees no buffer while a loop runs.
 */
export function* passingChunksOf(fd: number): Generator<Uint8Array> {
  // A small file gets a small buffer, with one more byte to detect its end without growing. Not a Buffer: its slice()
  // is a view and would let a reader keep overwritten memory.
  const buffer = new Uint8Array(Math.min(chunkBytes, fstatSync(fd).size + 1))
  for (let position = 0; ; ) {
    const count = readSync(fd, buffer, 0, buffer.length, position)
    if (count === 0) return
    position += count
    yield buffer.subarray(0, count)
  }
}

const chunkBytes = 128 * 1024
