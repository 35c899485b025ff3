import { ApprovalRequested } from "../domain/events/call-events.ts"
import { HistoryPruned } from "../domain/events/command-events.ts"
import { controlStreamOf } from "../domain/events/pipeline-events.ts"
import { SessionStarted } from "../domain/events/session-events.ts"
import type { StoredEvent } from "./contract.ts"
import type { DatabaseConnection } from "./database/database.ts"
import { changedEvent, changedHistory, changedRow } from "./database/store-failures.ts"
import { readRow } from "./database/table-projection.ts"
import { type Anchor, anchorsGone, isStepBack, type KnownAnchors, knownAnchors } from "./log/anchors.ts"
import { firstHead, nextHead } from "./log/chain.ts"
import { readTail } from "./log/event-log.ts"
import {
  type EventReader,
  type EventRow,
  eventColumns,
  fieldsOf,
  rowProblem,
  toStoredEvent,
  unseenBefore,
} from "./log/event-rows.ts"
import { headElsewhere, type LogIdentity, lastPosition } from "./log/log-identity.ts"
import { tableProblems } from "./projection-check.ts"
import { sessionsTable } from "./session/session-rows.ts"

export interface GenuineDeps {
  readonly connection: DatabaseConnection
  readonly identity: LogIdentity
  readonly log: EventReader
  readonly anchorsDirectory: string
  readonly stateDirectory: string
}

/**
 * Throws ACODE-SEC-004 unless the log continues its last anchor: no older copy was restored, nothing behind the anchor
 * was changed or removed, and the anchors exist.
 */
export function assertAnchored(deps: GenuineDeps): void {
  const anchors = knownAnchors(deps)
  deps.connection.snapshot(() => {
    assertAnchors(deps, anchors)
    assertTail(deps, null, anchors.anchors)
  })
}

/**
 * Throws ACODE-SEC-004 unless a session may be acted upon: the log continues its last anchor; every event of the
 * session, and of the answers, the approval and the requests that it depends on, is the one that was written; none is
 * missing; and the tables match these events. The rest of the log is not read, except the events behind the last one of
 * the session: one of those may be in the place of a removed event of the session.
 */
export function assertGenuine(deps: GenuineDeps, sessionId: string): void {
  const anchors = knownAnchors(deps)
  deps.connection.snapshot(() => {
    assertAnchors(deps, anchors)
    const last = assertOwn(deps, sessionId)
    assertTail(deps, last === null ? null : { sessionId, position: last.position }, anchors.anchors)
  })
}

/**
 * Checks the events and rows of the session itself, in a transaction of the caller. Returns its last event; null for a
 * session that neither events nor tables know. Cannot detect that events were removed behind the last one.
 */
export function assertOwn(
  { connection, log }: Pick<GenuineDeps, "connection" | "log">,
  sessionId: string,
): StoredEvent | null {
  const merged = new MergedEvents(log, sessionId)
  const [problem] = tableProblems(connection, merged.inOrder())
  if (problem !== undefined) throw changedHistory(problem.what, sessionId)
  log.read(controlStreamOf(sessionId))
  if (merged.last === null && readRow(connection, sessionsTable, sessionId) !== null)
    throw changedRow(sessionsTable, sessionId)
  return merged.last
}

/**
 * Iterates over the events of a session, the approval of its plan and the answers to its questions, in the order of
 * their positions. One by one, so that a long session is not held in memory.
 */
class MergedEvents {
  /** The last event of the session itself, once all were read. */
  last: StoredEvent | null = null
  private waiting: readonly StoredEvent[] = []
  private readonly asked = new Set<string>()

  constructor(
    private readonly log: EventReader,
    private readonly sessionId: string,
  ) {}

  *inOrder(): Generator<StoredEvent> {
    for (const event of this.log.each(this.sessionId)) {
      this.take(this.relatedTo(event))
      yield* this.before(event.position)
      yield event
      this.last = event
    }
    yield* this.before(Number.POSITIVE_INFINITY)
  }

  private take(related: readonly StoredEvent[]): void {
    if (related.length > 0)
      this.waiting = [...this.waiting, ...related].sort((a, b) => a.position - b.position)
  }

  private *before(position: number): Generator<StoredEvent> {
    if (this.waiting.length === 0) return
    const due = this.waiting.filter(event => event.position < position)
    this.waiting = this.waiting.slice(due.length)
    yield* due
  }

  private relatedTo(event: StoredEvent): readonly StoredEvent[] {
    const asked = fieldsOf(ApprovalRequested, event)?.approvalId ?? null
    if (asked !== null) {
      if (this.asked.has(asked)) return []
      this.asked.add(asked)
      return this.log.read(asked)
    }
    const planApproval = fieldsOf(SessionStarted, event)?.approvalId ?? null
    if (planApproval === null) return []
    const approved = this.log.read(planApproval)
    if (approved.length === 0)
      throw changedHistory(`the approval ${planApproval} of its plan is missing`, this.sessionId)
    return approved
  }
}

function assertAnchors(
  { connection, identity, anchorsDirectory }: GenuineDeps,
  { anchors, problems, areMissing }: KnownAnchors,
): void {
  const { position } = readTail(connection)
  const missing = areMissing && position > 0 ? anchorsGone(anchorsDirectory, identity.workspaceId) : null
  const [problem] = missing === null ? problems : [missing]
  if (problem !== undefined) throw changedHistory(problem.what, connection.path)
  const back = anchors.find((anchor, index) => isStepBack(anchors.slice(0, index), anchor))
  if (back !== undefined)
    throw changedHistory(`an older copy of the database was restored by ${back.at}`, connection.path)
}

/** The last event of a session. */
interface SessionEnd {
  readonly sessionId: string
  readonly position: number
}

/**
 * Reads the events behind the last anchor and behind the end of the session, and verifies that they lead to the head.
 */
function assertTail(deps: GenuineDeps, end: SessionEnd | null, anchors: readonly Anchor[]): void {
  const { connection, identity } = deps
  const anchor = anchors.toSorted((a, b) => a.position - b.position).at(-1) ?? emptyLog(identity)
  const tail = readTail(connection)
  if (tail.position < anchor.position)
    throw changedHistory(
      `the log ends at position ${tail.position}, but position ${anchor.position} was anchored at ${anchor.at}`,
      connection.path,
    )
  const last = connection.db.query<{ last: number }, []>(`SELECT ${lastPosition} AS last`).get()?.last ?? 0
  if (last !== tail.position) throw headElsewhere(connection.path, { position: tail.position, last })
  const first = Math.min(anchor.position, end?.position ?? anchor.position) + 1
  const hashes = hashesFrom(deps, first, end?.sessionId ?? null)
  let { head } = anchor
  for (let position = first; position <= tail.position; position++) {
    const hash = hashes.get(position)
    if (hash === undefined)
      throw changedHistory(`the event at position ${position} is missing`, connection.path)
    if (position > anchor.position) head = nextHead(identity.key, head, position, hash)
  }
  if (head !== tail.head)
    throw changedHistory("the head of the log does not match its events", connection.path)
}

function emptyLog({ key, workspaceId }: LogIdentity): Pick<Anchor, "position" | "head" | "at"> {
  return { position: 0, head: firstHead(key, workspaceId), at: "" }
}

/** Returns the hashes of events and tombstones by position, after checking the signature of each. */
function hashesFrom(
  { connection, identity }: GenuineDeps,
  first: number,
  sessionId: string | null,
): ReadonlyMap<number, string> {
  const hashes = new Map<number, string>()
  const pruned = new Map<number, string>()
  const rows = connection.db
    .query<EventRow, [number]>(`SELECT ${eventColumns} FROM events WHERE position >= ? ORDER BY position`)
    .iterate(first)
  for (const row of rows) {
    const problem = rowProblem(identity.key, row, unseenBefore(row))
    if (problem !== null) throw changedEvent(row, problem)
    hashes.set(row.position, row.hash)
    if (row.type !== HistoryPruned.type) continue
    for (const { stream, events } of fieldsOf(HistoryPruned, toStoredEvent(row))?.streams ?? []) {
      if (stream === sessionId) throw changedHistory("it was pruned, and is present again", sessionId)
      for (const { position, hash } of events) pruned.set(position, hash)
    }
  }
  for (const [position, hash] of pruned) {
    if (hashes.has(position))
      throw changedHistory(
        `the event at position ${position} was pruned, and is present again`,
        connection.path,
      )
    hashes.set(position, hash)
  }
  return hashes
}
