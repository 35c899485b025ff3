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
import { sessionsTable } from "./session/session-rows.ts"
import { tableProblems } from "./verify.ts"

export interface GenuineParts {
  readonly connection: DatabaseConnection
  readonly identity: LogIdentity
  readonly log: EventReader
  readonly anchorsDirectory: string
  readonly place: string
}

/**
 * Throws ACODE-SEC-004 unless the log goes on from its last anchor: no older copy was put back, nothing behind the
 * anchor was changed or removed, and the anchors are there.
 */
export function assertAnchored(parts: GenuineParts): void {
  const known = knownAnchors(parts)
  parts.connection.snapshot(() => {
    assertAnchors(parts, known)
    assertTail(parts, null, known.anchors)
  })
}

/**
 * Throws ACODE-SEC-004 unless a session may be acted upon: the log goes on from its last anchor, every event of the
 * session and of the answers, the approval and the requests that it depends on is the one that was written, none of
 * them is missing, and the tables say of the session what they say. The rest of the log is not looked at, but for the
 * events behind the session's last one: one of those may stand where an event of the session was removed.
 */
export function assertGenuine(parts: GenuineParts, sessionId: string): void {
  const known = knownAnchors(parts)
  parts.connection.snapshot(() => {
    assertAnchors(parts, known)
    const last = assertOwn(parts, sessionId)
    assertTail(parts, last === null ? null : { sessionId, position: last.position }, known.anchors)
  })
}

/**
 * Checks what concerns the session itself, inside a transaction of the caller. Returns its last event, and null for a
 * session that neither events nor tables know. An event that was removed behind the last is not missed here.
 */
export function assertOwn(
  { connection, log }: Pick<GenuineParts, "connection" | "log">,
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
 * The events of a session with the approval under which its plan runs and the answers to what it asked, in the order of
 * their positions. One by one: a long session is not held in memory.
 */
class MergedEvents {
  /** The last one of the session itself, once all were read. */
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
      throw changedHistory(`the approval ${planApproval} of its plan is gone`, this.sessionId)
    return approved
  }
}

function assertAnchors(
  { connection, identity, anchorsDirectory }: GenuineParts,
  { anchors, problems, areGone }: KnownAnchors,
): void {
  const { position } = readTail(connection)
  const gone = areGone && position > 0 ? anchorsGone(anchorsDirectory, identity.workspaceId) : null
  const [problem] = gone === null ? problems : [gone]
  if (problem !== undefined) throw changedHistory(problem.what, connection.path)
  const back = anchors.find((anchor, index) => isStepBack(anchors.slice(0, index), anchor))
  if (back !== undefined)
    throw changedHistory(`an older copy of the database had been put back by ${back.at}`, connection.path)
}

/** The last event of a session. */
interface SessionEnd {
  readonly sessionId: string
  readonly position: number
}

/** Goes over the events behind the last anchor and behind the end of the session, and no others. */
function assertTail(parts: GenuineParts, end: SessionEnd | null, anchors: readonly Anchor[]): void {
  const { connection, identity } = parts
  const anchor = anchors.toSorted((a, b) => a.position - b.position).at(-1) ?? beginning(identity)
  const tail = readTail(connection)
  if (tail.position < anchor.position)
    throw changedHistory(
      `the log ends at position ${tail.position}, but position ${anchor.position} was anchored at ${anchor.at}`,
      connection.path,
    )
  const last = connection.db.query<{ last: number }, []>(`SELECT ${lastPosition} AS last`).get()?.last ?? 0
  if (last !== tail.position) throw headElsewhere(connection.path, { position: tail.position, last })
  const first = Math.min(anchor.position, end?.position ?? anchor.position) + 1
  const hashes = hashesFrom(parts, first, end?.sessionId ?? null)
  let { head } = anchor
  for (let position = first; position <= tail.position; position++) {
    const hash = hashes.get(position)
    if (hash === undefined) throw changedHistory(`the event at position ${position} is gone`, connection.path)
    if (position > anchor.position) head = nextHead(identity.key, head, position, hash)
  }
  if (head !== tail.head)
    throw changedHistory("the head of the log does not match its events", connection.path)
}

function beginning({ key, workspaceId }: LogIdentity): Pick<Anchor, "position" | "head" | "at"> {
  return { position: 0, head: firstHead(key, workspaceId), at: "" }
}

/** The hashes of events and tombstones by their positions, each of which is signed. */
function hashesFrom(
  { connection, identity }: GenuineParts,
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
      if (stream === sessionId) throw changedHistory("it was pruned, and is there again", sessionId)
      for (const { position, hash } of events) pruned.set(position, hash)
    }
  }
  for (const [position, hash] of pruned) {
    if (hashes.has(position))
      throw changedHistory(`what was pruned at position ${position} is there again`, connection.path)
    hashes.set(position, hash)
  }
  return hashes
}
