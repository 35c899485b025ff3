import { mkdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { dirname } from "node:path"
import { writeAtomically } from "./write.ts"

const bytesMax = 1024 * 1024

/** What a cache holds at a path; null when there is nothing to be had, which costs time and nothing else. */
export function readKept(path: string, sizeMax = bytesMax): string | null {
  try {
    return statSync(path).size > sizeMax ? null : readFileSync(path, "utf8")
  } catch {
    // Not there, or not to be read: it is found out again.
    return null
  }
}

export function keep(path: string, text: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    writeAtomically(path, text, 0o600)
  } catch {
    // A cache that cannot be written, such as on a full disk, must not keep anybody from working.
  }
}

export function dropKept(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // What cannot be removed is found out to be wrong once more.
  }
}
