import { holdWorkspace } from "../../gate/session-log.ts"
import type { Store } from "../../store/contract.ts"
import { isProcessAlive, processIdentity } from "../../store/process-identity.ts"
import type { SessionSummary } from "../../store/session/contract.ts"
import type { ObservedTime } from "../../store/upkeep/contract.ts"
import type { Checkpoints } from "../../workspace/checkpoint/contract.ts"
import { checkpointsOf } from "../state/kept-copies.ts"
import type { Wiring } from "../wiring/wire.ts"

/** The sessions to remove. */
export interface SessionPruning {
  readonly olderThanMs: number
  readonly trustsClock: boolean
  /** The number of newest sessions that stay, however old they are. */
  readonly keep: number
  /** True to remove also sessions that wait for an answer or can still be undone. */
  readonly isForced: boolean
  readonly isDryRun: boolean
}

export interface PrunedSessions extends ObservedTime {
  readonly removed: readonly PrunedSession[]
  /** Sessions that are old enough and stay nevertheless, each with the reason. */
  readonly left: readonly { readonly id: string; readonly reason: string }[]
  readonly freedBytes: number
}

export interface PrunedSession {
  readonly id: string
  readonly goal: string
  readonly startedAt: string
  /** True when the session could have been undone until now. */
  readonly wasUndoable: boolean
}

/** Replaces old sessions by a tombstone, and removes the copies for undo that only they need. */
export async function pruneOldSessions(wiring: Wiring, request: SessionPruning): Promise<PrunedSessions> {
  const store = await wiring.existingStore()
  if (store === null) return { removed: [], left: [], freedBytes: 0, ...nothingSeen(wiring) }
  store.assertAnchored()
  const { checkpoints } = await wiring.workspace()
  if (request.trustsClock && !request.isDryRun) store.upkeep.trustClock()
  if (request.isDryRun)
    return { ...chosen(store, checkpoints, request), freedBytes: 0, ...store.upkeep.time() }
  using _ = holdWorkspace({ leases: store.leases, owner: processIdentity() })
  const { removed, left } = chosen(store, checkpoints, request)
  const gone = new Set(
    store.upkeep.pruneSessions(
      removed.map(({ id }) => id),
      "session prune",
    ),
  )
  const shrunk = gone.size === 0 ? 0 : store.upkeep.shrink()
  const freed = shrunk + checkpoints.collect(orphans(store, checkpoints)).freedBytes
  store.anchor()
  return {
    removed: removed.filter(({ id }) => gone.has(id)),
    left,
    freedBytes: freed,
    ...store.upkeep.time(),
  }
}

/**
 * Returns copies that belong to no session, also those that a dying acode left. None while there is a session whose
 * history was changed, because it may need any of them.
 */
function orphans(store: Store, checkpoints: Checkpoints): readonly string[] {
  const needed = store.noteChanged(
    () => new Set(store.sessions.list({}).flatMap(({ id }) => [...checkpointsOf(store.log, id)])),
  )
  return needed === null ? [] : checkpoints.ids().filter(id => id.startsWith("cal_") && !needed.has(id))
}

function chosen(
  store: Store,
  checkpoints: Checkpoints,
  { olderThanMs, keep, isForced }: SessionPruning,
): Pick<PrunedSessions, "removed" | "left"> {
  const firstYoung = store.upkeep.firstPositionWithin(olderThanMs)
  const ends = new Map(store.upkeep.records().map(({ id, position }) => [id, position]))
  const kept = new Set(checkpoints.ids())
  const asking = new Set(store.approvals.list({ open: true }).map(({ sessionId }) => sessionId))
  const old = store.sessions
    .list({})
    .slice(keep)
    .filter(({ id }) => (ends.get(id) ?? firstYoung) < firstYoung)
  const judged = old.map(session => {
    // Read to the end: an open query prevents SQLite from shrinking the database.
    const copies = store.noteChanged(() => [...checkpointsOf(store.log, session.id)])
    if (copies === null)
      return { session, wasUndoable: false, reason: "its history was changed outside acode" }
    const wasUndoable = session.undoneAt === null && copies.some(id => kept.has(id))
    return { session, wasUndoable, reason: whyNot(session, asking, wasUndoable, isForced) }
  })
  return {
    removed: judged.flatMap(({ session: { id, goal, startedAt }, wasUndoable, reason }) =>
      reason === null ? [{ id, goal, startedAt, wasUndoable }] : [],
    ),
    left: judged.flatMap(({ session: { id }, reason }) => (reason === null ? [] : [{ id, reason }])),
  }
}

function whyNot(
  { id, exitCode, owner }: SessionSummary,
  asking: ReadonlySet<string>,
  isUndoable: boolean,
  isForced: boolean,
): string | null {
  if (exitCode === null && isProcessAlive(owner)) return "it runs"
  if (isForced) return null
  if (asking.has(id)) return "it waits for an answer"
  return isUndoable ? "it can still be undone" : null
}

function nothingSeen({ clock }: Wiring): ObservedTime {
  return { agedMs: 0, nowMs: clock.now(), aheadMs: 0 }
}
