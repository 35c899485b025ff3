import { fstatSync } from "node:fs"
import { errnoOf } from "../base/assert.ts"

/** The files standard output and error point to: they change by being told about, so they are not part of the tree. */
export function ownOutputs(): Set<string> {
  return new Set([1, 2].flatMap(fd => fileAt(fd) ?? []))
}

function fileAt(fd: number): string | null {
  try {
    const stat = fstatSync(fd)
    return stat.isFile() ? `${stat.dev}:${stat.ino}` : null
  } catch (error) {
    if (errnoOf(error) === null) throw error
    // Closed by whoever started acode: then nothing is written there either.
    return null
  }
}
