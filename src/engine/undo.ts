import type * as z from "zod/mini"
import { type RecordedChanges, ToolCallSettled, ToolCallStarted } from "../domain/call-events.ts"
import { dataOf } from "../domain/event-definition.ts"
import { FileChange } from "../domain/tool-call.ts"
import type { ArtifactStore, StoredEvent } from "../store/contract.ts"
import type { Checkpoint, Checkpoints, Restored } from "../workspace/checkpoint/contract.ts"

export interface UndoParts {
  readonly checkpoints: Checkpoints
  readonly artifacts: ArtifactStore
}

/** What undoing a session would do. */
export interface UndoPlan {
  /** New files of the session: these go. */
  readonly remove: readonly string[]
  /** These get their old content. */
  readonly write: readonly string[]
  /** Somebody else changed them since: these stay as they are. */
  readonly foreign: readonly string[]
  /** There is no copy of what they were. */
  readonly lost: readonly string[]
  readonly parts: readonly UndoPart[]
}

/** Paths that go back to one checkpoint, each with the content the session left it with. */
export interface UndoPart {
  readonly checkpoint: Checkpoint
  readonly expected: ReadonlyMap<string, string | null>
}

/** Looks, and changes nothing. */
export function planUndo(parts: UndoParts, events: readonly StoredEvent[]): UndoPlan {
  const { goals, lost } = goalsOf(changesOf(parts.artifacts, events))
  const undoParts: UndoPart[] = []
  const missing: string[] = []
  for (const [checkpointId, expected] of goals) {
    const checkpoint = parts.checkpoints.load(checkpointId)
    if (checkpoint === null) missing.push(...expected.keys())
    else undoParts.push({ checkpoint, expected })
  }
  const plans = undoParts.map(({ checkpoint, expected }) => parts.checkpoints.plan(checkpoint, expected))
  return {
    remove: plans.flatMap(plan => plan.remove).sort(),
    write: plans.flatMap(plan => plan.write.map(({ path }) => path)).sort(),
    foreign: plans.flatMap(plan => plan.foreign).sort(),
    lost: [...lost, ...missing].sort(),
    parts: undoParts,
  }
}

export interface Undone {
  readonly removed: readonly string[]
  readonly restored: readonly string[]
  readonly foreign: readonly string[]
  readonly blocked: Restored["blocked"]
}

/** Puts everything back. Can be repeated after a crash: what is back already is left alone. */
export function undo(parts: UndoParts, plan: UndoPlan): Undone {
  const done = plan.parts.map(({ checkpoint, expected }) => parts.checkpoints.restore(checkpoint, expected))
  return {
    removed: done.flatMap(each => each.remove).sort(),
    restored: done.flatMap(each => each.write.map(({ path }) => path)).sort(),
    foreign: done.flatMap(each => each.foreign).sort(),
    blocked: [
      ...done.flatMap(each => each.blocked),
      ...plan.lost.map(path => ({ path, reason: "there is no copy of what it was" })),
    ],
  }
}

interface RecordedChange extends FileChange {
  readonly checkpointId: string | null
}

function changesOf(artifacts: ArtifactStore, events: readonly StoredEvent[]): readonly RecordedChange[] {
  const checkpointOf = new Map<string, string | null>()
  const changes: RecordedChange[] = []
  for (const event of events) {
    const started = dataOf(ToolCallStarted, event)
    if (started !== null) checkpointOf.set(started.callId, started.checkpointId)
    const settled = dataOf(ToolCallSettled, event)
    if (settled === null) continue
    const checkpointId = checkpointOf.get(settled.callId) ?? null
    for (const change of listed(settled.changes, artifacts)) changes.push({ ...change, checkpointId })
  }
  return changes
}

/**
 * Where each path goes back to. A path that was changed several times goes back to before the first of them, but not
 * beyond a change that somebody else made in between: that one was seen as what was there before ours.
 */
function goalsOf(changes: readonly RecordedChange[]) {
  const goals = new Map<string, Map<string, string | null>>()
  const lost: string[] = []
  for (const [path, history] of Map.groupBy(changes, change => change.path)) {
    const newestFirst = history.toReversed()
    const [newest] = newestFirst
    if (newest === undefined) continue
    let goal = newest
    for (const earlier of newestFirst.slice(1)) {
      if (earlier.after !== goal.before) break
      goal = earlier
    }
    // A change that leaves the content alone is one of the mode, which only the checkpoint knows.
    const isModeChanged = history.some(({ before, after }) => before === after)
    if (goal.before === newest.after && !isModeChanged) continue
    if (goal.checkpointId === null) lost.push(path)
    else goals.set(goal.checkpointId, (goals.get(goal.checkpointId) ?? new Map()).set(path, newest.after))
  }
  return { goals, lost }
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
