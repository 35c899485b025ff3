import type * as z from "zod/mini"
import { type RecordedChanges, ToolCallSettled, ToolCallStarted } from "../domain/call-events.ts"
import { dataOf, type NewEvent } from "../domain/event-definition.ts"
import { isRedactedPath } from "../domain/redacted-path.ts"
import { SessionUndone } from "../domain/session-events.ts"
import { FileChange } from "../domain/tool-call.ts"
import type { ArtifactStore, StoredEvent } from "../store/contract.ts"

/** What a session made of one path, from the first of its changes that still counts to the last. */
export interface PathHistory {
  readonly path: string
  /** The pre-image of the first; null when there is none. */
  readonly checkpointId: string | null
  readonly before: string | null
  /** What the session left. */
  readonly after: string | null
}

/**
 * Every path a session left different, but for what was put back. A path that was changed several times goes back to before the first of them,
 * but not beyond a change that somebody else made in between: that one was seen as what was there before ours.
 */
export function sessionChanges(
  artifacts: ArtifactStore,
  events: Iterable<StoredEvent>,
): readonly PathHistory[] {
  const changes = changesOf(artifacts, events)
  return [...Map.groupBy(changes, change => change.path)].flatMap(([path, history]) => {
    const newestFirst = history.toReversed()
    const [newest] = newestFirst
    if (newest === undefined) return []
    let first = newest
    for (const earlier of newestFirst.slice(1)) {
      if (earlier.after !== first.before) break
      first = earlier
    }
    // A change that leaves the content alone is one of the mode, which only the checkpoint knows.
    const isModeChanged = history.some(({ before, after }) => before === after)
    // Several files may share what is left of a redacted name, so that nothing can be said of any of them.
    const isBack = first.before === newest.after && !isModeChanged && !isRedactedPath(path)
    if (isBack) return []
    const { checkpointId, before } = first
    return [{ path, checkpointId, before, after: newest.after }]
  })
}

interface RecordedChange extends FileChange {
  readonly checkpointId: string | null
}

function changesOf(artifacts: ArtifactStore, events: Iterable<StoredEvent>): readonly RecordedChange[] {
  const checkpointOf = new Map<string, string | null>()
  let changes: RecordedChange[] = []
  for (const event of events) {
    const undone = dataOf(SessionUndone, event)
    if (undone !== null) changes = notPutBack(changes, undone)
    const started = dataOf(ToolCallStarted, event)
    if (started !== null) checkpointOf.set(started.callId, started.checkpointId)
    const settled = dataOf(ToolCallSettled, event)
    if (settled === null) continue
    const checkpointId = checkpointOf.get(settled.callId) ?? null
    for (const change of listed(settled.changes, artifacts)) changes.push({ ...change, checkpointId })
  }
  return changes
}

/** What an undoing left alone is still the session's; the rest of it is not there any more. */
function notPutBack(
  changes: readonly RecordedChange[],
  { foreign, blocked }: NewEvent<typeof SessionUndone>["data"],
): RecordedChange[] {
  const left = new Set([...foreign, ...blocked.map(({ path }) => path)])
  return changes.filter(({ path }) => left.has(path))
}

function listed(
  recorded: z.infer<ReturnType<typeof RecordedChanges>>,
  artifacts: ArtifactStore,
): readonly FileChange[] {
  if (recorded.kind === "inline") return recorded.value
  const bytes = artifacts.get(recorded.ref)
  if (bytes === null) return []
  const parsed: unknown = JSON.parse(new TextDecoder().decode(bytes))
  return Array.isArray(parsed) ? parsed.map(item => FileChange().parse(item)) : []
}
