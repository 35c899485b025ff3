import { fstatSync } from "node:fs"
import { errnoOf } from "../base/assert.ts"
import { dataOf } from "../domain/events/definition.ts"
import { SessionStarted } from "../domain/events/session-events.ts"
import type { StoredEvent } from "../store/contract.ts"

/** The files standard output and error point to: they change by being told about, so they are not part of the tree. */
export function ownOutputs(): Set<string> {
  return new Set([1, 2].flatMap(fd => fileAt(fd) ?? []))
}

/** Those of the process that started a session: what it printed there is not what the session did. */
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
    // Closed by whoever started acode: then nothing is written there either.
    return null
  }
}
