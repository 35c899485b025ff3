import { oneLine } from "../base/text.ts"
import { ApprovalRequested } from "../domain/events/call-events.ts"
import { CommandStarted, HistoryPruned } from "../domain/events/command-events.ts"
import { ControlRequested } from "../domain/events/pipeline-events.ts"
import { SessionStarted } from "../domain/events/session-events.ts"
import { artifactProblems } from "./artifacts/artifact-check.ts"
import { artifactsReferencedBy } from "./artifacts/references.ts"
import type { AcceptedHistory, AuditProblem, AuditReport, StoredEvent } from "./contract.ts"
import { type DatabaseConnection, guarded } from "./database/database.ts"
import {
  countRows,
  isStoredRow,
  type ReportDifference,
  type TableCheck,
} from "./database/table-projection.ts"
import {
  type FinishedFields,
  finishedFields,
  type StartedFields,
  startedFields,
} from "./executions/execution-outcome.ts"
import {
  type ExecutionRow,
  finishedRow,
  readExecution,
  startedRow,
} from "./executions/execution-projection.ts"
import {
  type Anchor,
  acceptedHistories,
  anchorPath,
  anchorsGone,
  isStepBack,
  type KnownAnchors,
  knownAnchors,
  othersAnchoredAt,
} from "./log/anchors.ts"
import { ChainWalk } from "./log/chain-walk.ts"
import { findTail } from "./log/event-log.ts"
import { type EventRow, eventColumns, eventReader, toStoredEvent } from "./log/event-rows.ts"
import type { LogIdentity } from "./log/log-identity.ts"
import { readTombstones } from "./log/tombstones.ts"
import { sessionProjections } from "./projections.ts"

export interface VerifyParts {
  readonly connection: DatabaseConnection
  readonly identity: LogIdentity
  readonly artifactsDirectory: string
  readonly anchorsDirectory: string
  readonly place: string
  /** The walk ends when it has found this many: a log that is wrong everywhere needs no longer list. */
  readonly problemsMax: number
}

/**
 * Checks everything the log promises. With an id, what is wrong with tables and artifacts is told only where it
 * concerns that session or execution. What is wrong with the events always is: one whose signature does not match may
 * have been anybody's.
 */
export function verifyLog(parts: VerifyParts, id?: string): AuditReport {
  return guarded(parts.connection.path, () => {
    // Before the events: whatever is appended while this runs is then newer than the anchors.
    const known = knownAnchors(parts)
    const { anchors } = known
    const walked = parts.connection.snapshot(() => walk(parts, anchors, id))
    const isIntact = walked.problems.length === 0
    const artifacts = isIntact
      ? artifactProblems(parts.connection, parts.artifactsDirectory, walked.concerned)
      : []
    const file = isIntact && id === undefined ? damagedPages(parts.connection) : []
    const ofAnchors = [...known.problems, ...goneAnchors(parts, known), ...otherDatabases(parts)]
    const all = [...walked.problems, ...ofAnchors, ...artifacts, ...file]
    const problems = all.slice(0, parts.problemsMax)
    const anchored = Math.max(0, ...anchors.map(anchor => anchor.position))
    return {
      ok: problems.length === 0,
      events: walked.events,
      streams: walked.streams,
      anchoredPosition: anchored === 0 ? null : anchored,
      accepted: walked.accepted,
      problems,
    }
  })
}

/**
 * Returns what is wrong between a log and its anchors: what a person can accept who knows how that came about. An event
 * that was changed is none of it.
 */
export function anchorFindings(parts: VerifyParts): readonly AuditProblem[] {
  return guarded(parts.connection.path, () => {
    const known = knownAnchors(parts)
    const { anchors } = known
    const back = anchors.find((anchor, index) => isStepBack(anchors.slice(0, index), anchor))
    const walked = parts.connection.snapshot(() => chainOf(parts, anchors).anchorProblems)
    const stepBack = back === undefined || walked.length > 0 ? [] : [steppedBack(back)]
    return [...walked, ...stepBack, ...known.problems, ...goneAnchors(parts, known), ...otherDatabases(parts)]
  })
}

function steppedBack({ position, at }: Anchor): AuditProblem {
  return {
    stream: null,
    seq: null,
    position,
    what: `an older copy of the database had been put back by ${at}`,
  }
}

function goneAnchors(
  { connection, anchorsDirectory, identity }: VerifyParts,
  { areGone }: KnownAnchors,
): readonly AuditProblem[] {
  const hasEvents = (findTail(connection)?.position ?? 0) > 0
  return areGone && hasEvents ? [anchorsGone(anchorsDirectory, identity.workspaceId)] : []
}

/** An index may be damaged where the events are whole: whoever looks something up by it finds the wrong thing. */
function damagedPages(connection: DatabaseConnection): readonly AuditProblem[] {
  return integrityProblems(connection).map(line => ({
    stream: null,
    seq: null,
    position: null,
    what: `the database file is damaged: ${oneLine(line, 200)}`,
  }))
}

/** What is wrong with the file, in SQLite's words. */
export function integrityProblems(connection: DatabaseConnection): readonly string[] {
  return connection.db
    .query<{ integrity_check: string }, []>("PRAGMA integrity_check(20)")
    .all()
    .map(row => row.integrity_check)
    .filter(line => line !== "ok")
}

interface Walked {
  readonly events: number
  readonly streams: number
  readonly problems: readonly AuditProblem[]
  /** Null for all there are. */
  readonly concerned: readonly string[] | null
  readonly accepted: readonly AcceptedHistory[]
}

/** Goes over the log up to its end, or until it has found as much as is told. */
function chainOf({ connection, identity, problemsMax }: VerifyParts, anchors: readonly Anchor[]): ChainWalk {
  const chain = new ChainWalk(identity, readTombstones(connection), byPosition(anchors))
  for (const row of eventsInOrder(connection)) {
    chain.check(row)
    if (chain.problems.length >= problemsMax) break
  }
  if (chain.problems.length < problemsMax) chain.end(findTail(connection))
  return chain
}

function walk(parts: VerifyParts, anchors: readonly Anchor[], id: string | undefined): Walked {
  const { connection, identity } = parts
  const chain = chainOf(parts, anchors)
  const { problems, eventCount: events, streamCount: streams } = chain
  if (problems.length > 0) return { events, streams, problems, concerned: null, accepted: [] }
  const found = projectionProblems(connection)
  const accepted = acceptedHistories(eventReader(connection, identity))
  if (id !== undefined) return { ...concernedPart(connection, id, found), accepted }
  return { events, streams, problems: found, concerned: null, accepted }
}

/** Of a log whose events are genuine. */
function concernedPart(
  connection: DatabaseConnection,
  id: string,
  problems: readonly AuditProblem[],
): Omit<Walked, "accepted"> {
  const streams = concernedStreams(connection, id)
  const own = problems.filter(({ stream }) => stream === null || streams.has(stream))
  const unknown = { stream: id, seq: null, position: null, what: "no event tells of it" }
  return {
    events: streams.values().reduce((sum, events) => sum + events, 0),
    streams: streams.size,
    problems: streams.size === 0 ? [...own, unknown] : own,
    concerned: [...streams.keys()],
  }
}

function eventsInOrder(connection: DatabaseConnection): Iterable<EventRow> {
  return connection.db.query<EventRow, []>(`SELECT ${eventColumns} FROM events ORDER BY position`).iterate()
}

function byPosition(anchors: readonly Anchor[]): ReadonlyMap<number, readonly Anchor[]> {
  return Map.groupBy(anchors, anchor => anchor.position)
}

/** A fresh database in the place of an anchored one is the simplest way to make a history disappear. */
function otherDatabases(parts: VerifyParts): readonly AuditProblem[] {
  const { anchorsDirectory, place, identity } = parts
  return othersAnchoredAt(anchorsDirectory, place, identity.workspaceId).map(id => ({
    stream: null,
    seq: null,
    position: null,
    what:
      "another history was anchored here, and its database is gone or replaced; " +
      `if that was intended, \`acode audit accept --reason TEXT\` records it (${anchorPath(anchorsDirectory, id)})`,
  }))
}

/**
 * The streams that tell of a session or an execution, and how many events each has: its own, the answers to what it
 * asked, the approval of its plan, what others asked of it. A command that a session ran has no stream: the session's
 * is its own. Read from the events and not from tables, so it is as true as they are.
 */
export function concernedStreams(connection: DatabaseConnection, id: string): ReadonlyMap<string, number> {
  const rows = connection.db
    .query<{ stream: string; events: number }, string[]>(
      `WITH own (stream) AS (
         SELECT ?1
         UNION SELECT stream FROM events WHERE type = ?2 AND json_extract(data, '$.executionId') = ?1
       ), concerned (stream) AS (
         SELECT stream FROM own
         UNION SELECT json_extract(data, '$.approvalId') FROM events JOIN own USING (stream) WHERE type IN (?3, ?4)
         UNION SELECT events.stream FROM events JOIN own ON own.stream = json_extract(data, '$.sessionId')
           WHERE type = ?5
       )
       SELECT stream, count(*) AS events FROM concerned JOIN events USING (stream) GROUP BY stream`,
    )
    .all(id, CommandStarted.type, ApprovalRequested.type, SessionStarted.type, ControlRequested.type)
  return new Map(rows.map(({ stream, events }) => [stream, events]))
}

/**
 * Computes every projected row again from the events and compares it with the one in the table. Only worth asking
 * once the events themselves are known to be genuine.
 */
export function projectionProblems(connection: DatabaseConnection): readonly AuditProblem[] {
  const check = new ProjectionCheck(connection)
  const rows = connection.db
    .query<EventRow, [string]>(`SELECT ${eventColumns} FROM events WHERE type <> ? ORDER BY position`)
    // Tombstones are long, and no table is made of them.
    .iterate(HistoryPruned.type)
  for (const row of rows) check.see(toStoredEvent(row))
  check.end()
  return check.problems
}

/** The same for some events, in order: each row that they make. Rows that no event explains are not looked for. */
export function tableProblems(
  connection: DatabaseConnection,
  events: Iterable<StoredEvent>,
): readonly AuditProblem[] {
  const check = new ProjectionCheck(connection)
  for (const event of events) check.see(event)
  check.compareOpen()
  return check.problems
}

class ProjectionCheck {
  readonly problems: AuditProblem[] = []
  private executionCount = 0
  private referenceCount = 0
  /** Started and not finished so far: all that has to be remembered on the way. */
  private readonly open = new Map<string, { readonly row: ExecutionRow; readonly event: StoredEvent }>()

  private readonly tables: readonly TableCheck[]

  constructor(private readonly connection: DatabaseConnection) {
    const report: ReportDifference = (event, what) => this.report(event, what)
    this.tables = sessionProjections.map(projection => projection.check(connection, report))
  }

  see(event: StoredEvent): void {
    for (const table of this.tables) table.apply(event)
    for (const ref of artifactsReferencedBy(event)) this.seeReference(event, ref)
    const started = startedFields(event)
    if (started !== null) this.seeStarted(event, started)
    const finished = finishedFields(event)
    if (finished !== null) this.seeFinished(event, finished)
  }

  /** After the last event: commands that still run, and rows that may still change. */
  compareOpen(): void {
    for (const { row, event } of this.open.values()) this.compare(row, event)
    for (const table of this.tables) table.compareOpen()
  }

  /** Also rows that no event explains. */
  end(): void {
    this.compareOpen()
    this.compareCount("executions", this.executionCount)
    this.compareCount("artifact_references", this.referenceCount)
    for (const table of this.tables) table.end()
  }

  private seeStarted(event: StoredEvent, started: StartedFields): void {
    const row = startedRow(event, started)
    this.open.set(row.id, { row, event })
    this.executionCount += 1
  }

  private seeFinished(event: StoredEvent, finished: FinishedFields): void {
    const started = this.open.get(finished.executionId)
    this.open.delete(finished.executionId)
    if (started !== undefined) this.compare(finishedRow(started.row, event, finished), event)
  }

  private seeReference(event: StoredEvent, ref: string): void {
    this.referenceCount += 1
    if (!this.hasReference(ref, event.position))
      this.report(event, `the table of artifacts does not know ${ref}`)
  }

  private compare(expected: ExecutionRow, event: StoredEvent): void {
    if (!isStoredRow(readExecution(this.connection, expected.id), expected))
      this.report(event, "the table of executions does not match this event")
  }

  private hasReference(ref: string, position: number): boolean {
    return (
      this.connection.db
        .query("SELECT 1 FROM artifact_references WHERE ref = ? AND position = ?")
        .get(ref, position) !== null
    )
  }

  private compareCount(table: "executions" | "artifact_references", expected: number): void {
    const found = countRows(this.connection, table)
    if (found !== expected)
      this.report(null, `the table ${table} has ${found} rows, but its events make ${expected}`)
  }

  private report(event: StoredEvent | null, what: string): void {
    const { stream = null, seq = null, position = null } = event ?? {}
    this.problems.push({ stream, seq, position, what })
  }
}
