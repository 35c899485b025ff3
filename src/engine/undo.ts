import type { ArtifactStore, StoredEvent } from "../store/contract.ts"
import type { Checkpoint, Checkpoints, Restored } from "../workspace/checkpoint/contract.ts"
import { type PathHistory, sessionChanges } from "./session-changes.ts"

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
  const { goals, lost } = goalsOf(sessionChanges(parts.artifacts, events))
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

/** Paths by the checkpoint they go back to. */
function goalsOf(changes: readonly PathHistory[]) {
  const goals = new Map<string, Map<string, string | null>>()
  const lost: string[] = []
  for (const { path, checkpointId, after } of changes) {
    if (checkpointId === null) lost.push(path)
    else goals.set(checkpointId, (goals.get(checkpointId) ?? new Map()).set(path, after))
  }
  return { goals, lost }
}
