import { isRedactedPath } from "../domain/redacted-path.ts"
import type { ArtifactStore, StoredEvent } from "../store/contract.ts"
import type {
  Checkpoint,
  Checkpoints,
  Restored,
  RestorePlan,
  WhileOwned,
} from "../workspace/checkpoint/contract.ts"
import { type PathHistory, sessionChanges, type UnlistedChanges } from "./session-changes.ts"

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
  /** These cannot be put back, and why. */
  readonly lost: readonly LostPath[]
  readonly parts: readonly UndoPart[]
}

type LostPath = Restored["blocked"][number]

/** Paths that go back to one checkpoint, each with the content the session left it with. */
export interface UndoPart {
  readonly checkpoint: Checkpoint
  readonly expected: ReadonlyMap<string, string | null>
}

/** Looks, and changes nothing. */
export async function planUndo(parts: UndoParts, events: readonly StoredEvent[]): Promise<UndoPlan> {
  const { histories, unlisted } = sessionChanges(parts.artifacts, events)
  const { undoParts, lost } = goalsOf(parts.checkpoints, histories)
  const plans: RestorePlan[] = []
  for (const { checkpoint, expected } of undoParts)
    plans.push(await parts.checkpoints.plan(checkpoint, expected))
  return {
    remove: plans.flatMap(plan => plan.remove).sort(),
    write: plans.flatMap(plan => plan.write.map(({ path }) => path)).sort(),
    foreign: plans.flatMap(plan => plan.foreign).sort(),
    lost: [...lost.sort((a, b) => (a.path < b.path ? -1 : 1)), ...unlisted.map(lostList)],
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
export async function undo({ checkpoints }: UndoParts, plan: UndoPlan, owned: WhileOwned): Promise<Undone> {
  const done: Restored[] = []
  for (const { checkpoint, expected } of plan.parts)
    done.push(await checkpoints.restore(checkpoint, expected, owned))
  return {
    removed: done.flatMap(each => each.remove).sort(),
    restored: done.flatMap(each => each.write.map(({ path }) => path)).sort(),
    foreign: done.flatMap(each => each.foreign).sort(),
    blocked: [...done.flatMap(each => each.blocked), ...plan.lost],
  }
}

/** Paths by the checkpoint they go back to. */
function goalsOf(checkpoints: Checkpoints, changes: readonly PathHistory[]) {
  const undoParts: UndoPart[] = []
  const lost: LostPath[] = []
  for (const [checkpointId, histories] of Map.groupBy(changes, change => change.checkpointId)) {
    const checkpoint = checkpointId === null ? null : checkpoints.load(checkpointId)
    const expected = new Map<string, string | null>()
    for (const history of histories) {
      const { path, after } = history
      const reason = checkpoint === null ? noCopy : reasonAgainst(checkpoint, history)
      if (reason === null) expected.set(path, after)
      else lost.push({ path, reason })
    }
    if (checkpoint !== null && expected.size > 0) undoParts.push({ checkpoint, expected })
  }
  return { undoParts, lost }
}

function lostList({ callId, count }: UnlistedChanges): LostPath {
  return { path: `${count} files that ${callId} changed`, reason: "the list of their names is gone" }
}

const noCopy = "there is no copy of what it was"

/** A path that the pre-image does not know would look as if it were back already: nothing was there, nothing is. */
function reasonAgainst(
  { scope, entries, absent, uncovered }: Checkpoint,
  { path, before }: PathHistory,
): string | null {
  const reason = uncovered.get(path)
  if (reason !== undefined) return reason
  const wasThere = entries.has(path)
  const wasFree = scope === "tree" ? before === null && !isRedactedPath(path) : absent.includes(path)
  if (wasThere || wasFree) return null
  return isRedactedPath(path) ? "its name was redacted, so nobody can tell which file it is" : noCopy
}
