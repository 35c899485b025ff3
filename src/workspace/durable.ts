import { closeSync, constants, fstatSync, fsyncSync, openSync, readSync, writeSync } from "node:fs"

/** Makes the names in a directory durable: without it a rename that happened can be lost with the power. */
export function syncDirectory(path: string): void {
  const fd = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

/** A name that nobody else comes upon. Not by the crypto module, which brings half of the runtime along. */
export function unlikelyName(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString("hex")
}

/** Writes all of it: a short write is no error to the system and a torn file to everybody else. */
export function writeAll(fd: number, content: Uint8Array): void {
  for (let written = 0; written < content.length; )
    written += writeSync(fd, content, written, content.length - written)
}

export interface ContentHash {
  readonly sha256: string
  readonly sizeBytes: number
}

/** Hashes an open file from its start in a bounded amount of memory; `onChunk` sees each piece on its way. */
export function hashContent(fd: number, onChunk: (chunk: Uint8Array) => void = () => undefined): ContentHash {
  const hasher = new Bun.CryptoHasher("sha256")
  let sizeBytes = 0
  for (const chunk of chunksOf(fd)) {
    hasher.update(chunk)
    onChunk(chunk)
    sizeBytes += chunk.length
  }
  return { sha256: hasher.digest("hex"), sizeBytes }
}

/** The pieces of an open file. Each is overwritten by the next: keep a copy of what is to be kept. */
export function* chunksOf(fd: number): Generator<Uint8Array> {
  // A small file needs a small buffer, and one byte more to see its end without growing.
  const buffer = Buffer.allocUnsafe(Math.min(chunkBytes, fstatSync(fd).size + 1))
  for (let position = 0; ; ) {
    const count = readSync(fd, buffer, 0, buffer.length, position)
    if (count === 0) return
    position += count
    yield buffer.subarray(0, count)
  }
}

const chunkBytes = 128 * 1024
