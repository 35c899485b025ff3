import { mkdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { dirname } from "node:path"
import { writeAtomically } from "./write.ts"

const bytesMax = 1024 * 1024

/** Reads a cache file. Returns null when it is missing, unreadable or large: the caller computes its content then. */
export function readKept(path: string, sizeMax = bytesMax): string | null {
  try {
    return statSync(path).size > sizeMax ? null : readFileSync(path, "utf8")
  } catch {
    // The file is missing or unreadable: the caller computes its content again.
    return null
  }
}

export function keep(path: string, text: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    writeAtomically(path, text, 0o600)
  } catch {
    // A cache that cannot be written, such as on a full disk, must not stop the command.
  }
}

export function dropKept(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // The next reader of a file that cannot be removed finds it invalid again.
  }
}
