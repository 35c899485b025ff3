import { closeSync, fchmodSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from "node:fs"
import { basename, dirname, join } from "node:path"

/** Replaces a file so that readers, and a crash, find either the old content or the new one, never a part. */
export function writeAtomically(path: string, content: string, mode: number): void {
  const directory = dirname(path)
  const temporary = join(directory, `.${basename(path)}.${crypto.randomUUID()}.tmp`)
  try {
    const descriptor = openSync(temporary, "wx", mode)
    try {
      // The umask narrows the mode that open gets; a replaced file keeps the mode that it had.
      fchmodSync(descriptor, mode)
      const bytes = Buffer.from(content)
      for (let written = 0; written < bytes.length; ) written += writeSync(descriptor, bytes, written)
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
    renameSync(temporary, path)
  } catch (thrown) {
    rmSync(temporary, { force: true })
    throw thrown
  }
  syncDirectory(directory)
}

/** Makes the rename durable: without it a crash right afterwards can bring the old file back. */
function syncDirectory(directory: string): void {
  const descriptor = openSync(directory, "r")
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
