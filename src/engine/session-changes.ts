import * as z from "zod/mini"
import { ToolCallSettled, ToolCallStarted } from "../domain/call-events.ts"
import { dataOf, type NewEvent } from "../domain/event-definition.ts"
import { Failure } from "../domain/failure.ts"
import { isRedactedPath } from "../domain/redacted-path.ts"
import { SessionUndone } from "../domain/session-events.ts"
import { FileChange, type UncoveredChanges } from "../domain/tool-call.ts"
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

export interface SessionChanges {
  readonly histories: readonly PathHistory[]
  /** Calls that changed files nobody can name any more, because the list of them is gone. */
  readonly unlisted: readonly UnlistedChanges[]
  /** What its commands changed, or may have changed, of which nothing was kept. */
  readonly uncovered: readonly UncoveredPath[]
}

export type UncoveredPath = UncoveredChanges["paths"][number]

export interface UnlistedChanges {
  readonly callId: string
  readonly count: number
}

/**
 * Every path a session left different, but for what was put back. A path that was changed several times goes back to
 * before the first of them, but not beyond a change that somebody else made in between: that one was seen as what was
 * there before ours.
 */
export function sessionChanges(artifacts: ArtifactStore, events: Iterable<StoredEvent>): SessionChanges {
  const { changes, unlisted, uncovered } = changesOf(artifacts, events)
  const histories = [...Map.groupBy(changes, change => change.path)].flatMap(
    ([path, history]) => historyOf(path, history) ?? [],
  )
  // A file of the tree has a history, which tells what becomes of it.
  const ofTree = new Set(changes.map(({ path }) => path))
  return { histories, unlisted, uncovered: [...uncovered.values()].filter(({ path }) => !ofTree.has(path)) }
}

function pathsOf({ paths, count, unwatched }: UncoveredChanges, callId: string): readonly UncoveredPath[] {
  const more = {
    path: `${count - paths.length} more files that ${callId} changed`,
    reason: "no copy was kept",
  }
  const reason = "it holds too much to be watched, so whether it was changed is not known"
  return [...paths, ...(count > paths.length ? [more] : []), ...unwatched.map(path => ({ path, reason }))]
}

function historyOf(path: string, changes: readonly RecordedChange[]): PathHistory | null {
  const newestFirst = changes.toReversed()
  const [newest] = newestFirst
  if (newest === undefined) return null
  let first = newest
  for (const earlier of newestFirst.slice(1)) {
    if (earlier.after !== first.before) break
    first = earlier
  }
  // A change that leaves the content alone is one of the mode, which only the checkpoint knows.
  const isModeChanged = changes.some(({ before, after }) => before === after)
  // Several files may share what is left of a redacted name, so that nothing can be said of any of them.
  const isBack = first.before === newest.after && !isModeChanged && !isRedactedPath(path)
  if (isBack) return null
  const { checkpointId, before } = first
  return { path, checkpointId, before, after: newest.after }
}

interface RecordedChange extends FileChange {
  readonly checkpointId: string | null
}

function changesOf(artifacts: ArtifactStore, events: Iterable<StoredEvent>) {
  const checkpointOf = new Map<string, string | null>()
  const unlisted: UnlistedChanges[] = []
  const uncovered = new Map<string, UncoveredPath>()
  let changes: RecordedChange[] = []
  for (const event of events) {
    const undone = dataOf(SessionUndone, event)
    if (undone !== null) changes = notPutBack(changes, undone)
    const started = dataOf(ToolCallStarted, event)
    if (started !== null) checkpointOf.set(started.callId, started.checkpointId)
    const settled = dataOf(ToolCallSettled, event)
    if (settled === null) continue
    const { callId, changes: recorded } = settled
    for (const lost of settled.uncovered === undefined ? [] : pathsOf(settled.uncovered, callId))
      uncovered.set(lost.path, lost)
    const checkpointId = checkpointOf.get(callId) ?? null
    const list = recorded.kind === "inline" ? recorded.value : storedChanges(recorded.ref, artifacts)
    if (list !== null) for (const change of list) changes.push({ ...change, checkpointId })
    else if (recorded.kind === "artifact") unlisted.push({ callId, count: recorded.count })
  }
  return { changes, unlisted, uncovered }
}

/** What an undoing left alone is still the session's; the rest of it is not there any more. */
function notPutBack(
  changes: readonly RecordedChange[],
  { foreign, blocked }: NewEvent<typeof SessionUndone>["data"],
): RecordedChange[] {
  const left = new Set([...foreign, ...blocked.map(({ path }) => path)])
  return changes.filter(({ path }) => left.has(path))
}

/** Null when it is missing or damaged: the rest of what the session did is worth putting back all the same. */
function storedChanges(ref: string, artifacts: ArtifactStore): readonly FileChange[] | null {
  try {
    const bytes = artifacts.get(ref)
    return bytes === null ? null : z.array(FileChange()).parse(JSON.parse(new TextDecoder().decode(bytes)))
  } catch (error) {
    const isDamaged =
      error instanceof Failure || error instanceof SyntaxError || error instanceof z.core.$ZodError
    if (isDamaged) return null
    throw error
  }
}
