import { fstatSync } from "node:fs"
import { errnoOf } from "../base/assert.ts"
import { dataOf } from "../domain/events/definition.ts"
import { SessionStarted } from "../domain/events/session-events.ts"
import type { StoredEvent } from "../store/contract.ts"

/** Returns the files that stdout and stderr write to: acode's own output changes them, so the tree excludes them. */
export function ownOutputs(): Set<string> {
  return new Set([1, 2].flatMap(fd => fileAt(fd) ?? []))
}

/** Returns the output files of the process that started a session: its output is not a change by the session. */
export function recordedOutputs(events: Iterable<StoredEvent>): readonly string[] {
  const [first] = events
  return first === undefined ? [] : (dataOf(SessionStarted, first)?.outputs ?? [])
}

function fileAt(fd: number): string | null {
  try {
    const stat = fstatSync(fd)
    return stat.isFile() ? `${stat.dev}:${stat.ino}` : null
  } catch (error) {
    if (errnoOf(error) === null) throw error
    // The parent process closed this descriptor, so nothing is written to it.
    return null
  }
}
