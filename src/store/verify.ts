import { oneLine } from "../base/text.ts"
import { ApprovalRequested } from "../domain/events/call-events.ts"
import { CommandStarted } from "../domain/events/command-events.ts"
import { ControlRequested } from "../domain/events/pipeline-events.ts"
import { SessionStarted } from "../domain/events/session-events.ts"
import { artifactProblems } from "./artifacts/artifact-check.ts"
import type { AcceptedHistory, AuditProblem, AuditReport } from "./contract.ts"
import { type DatabaseConnection, guarded } from "./database/database.ts"
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
import { type EventRow, eventColumns, eventReader } from "./log/event-rows.ts"
import type { LogIdentity } from "./log/log-identity.ts"
import { readTombstones } from "./log/tombstones.ts"
import { projectionProblems } from "./projection-check.ts"

export interface VerifyDeps {
  readonly connection: DatabaseConnection
  readonly identity: LogIdentity
  readonly artifactsDirectory: string
  readonly anchorsDirectory: string
  readonly stateDirectory: string
  /** The walk stops after this many problems: if a log is wrong everywhere, a longer list does not help. */
  readonly problemsMax: number
}

/**
 * Checks everything that the log guarantees. With an id, reports problems of tables and artifacts only if they concern
 * that session or execution. Problems of events are always reported: an event with a wrong signature may have belonged
 * to any session.
 */
export function verifyLog(deps: VerifyDeps, id?: string): AuditReport {
  return guarded(deps.connection.path, () => {
    // Before the events: everything that is appended meanwhile is then newer than the anchors.
    const known = knownAnchors(deps)
    const { anchors } = known
    const walked = deps.connection.snapshot(() => walk(deps, anchors, id))
    const isIntact = walked.problems.length === 0
    const artifacts = isIntact
      ? artifactProblems(deps.connection, deps.artifactsDirectory, walked.concerned)
      : []
    const file = isIntact && id === undefined ? damagedPages(deps.connection) : []
    const ofAnchors = [...known.problems, ...missingAnchors(deps, known), ...otherDatabases(deps)]
    const all = [...walked.problems, ...ofAnchors, ...artifacts, ...file]
    const problems = all.slice(0, deps.problemsMax)
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
 * Returns the differences between a log and its anchors: a person who knows their cause can accept them. Changed events
 * are not among them.
 */
export function anchorFindings(deps: VerifyDeps): readonly AuditProblem[] {
  return guarded(deps.connection.path, () => {
    const known = knownAnchors(deps)
    const { anchors } = known
    const back = anchors.find((anchor, index) => isStepBack(anchors.slice(0, index), anchor))
    const walked = deps.connection.snapshot(() => chainOf(deps, anchors).anchorProblems)
    const stepBack = back === undefined || walked.length > 0 ? [] : [stepBackProblem(back)]
    return [
      ...walked,
      ...stepBack,
      ...known.problems,
      ...missingAnchors(deps, known),
      ...otherDatabases(deps),
    ]
  })
}

function stepBackProblem({ position, at }: Anchor): AuditProblem {
  return {
    stream: null,
    seq: null,
    position,
    what: `an older copy of the database was restored by ${at}`,
  }
}

function missingAnchors(
  { connection, anchorsDirectory, identity }: VerifyDeps,
  { areMissing }: KnownAnchors,
): readonly AuditProblem[] {
  const hasEvents = (findTail(connection)?.position ?? 0) > 0
  return areMissing && hasEvents ? [anchorsGone(anchorsDirectory, identity.workspaceId)] : []
}

/**
 * Reports damaged pages: an index may be damaged although the events are complete, and a lookup by it would return
 * wrong rows.
 */
function damagedPages(connection: DatabaseConnection): readonly AuditProblem[] {
  return integrityProblems(connection).map(line => ({
    stream: null,
    seq: null,
    position: null,
    what: `the database file is damaged: ${oneLine(line, 200)}`,
  }))
}

/** Returns the problems of the file, as SQLite words them. */
export function integrityProblems(connection: DatabaseConnection): readonly string[] {
  return connection.db
    .query<{ integrity_check: string }, []>("PRAGMA integrity_check(20)")
    .all()
    .map(row => row.integrity_check)
    .filter(line => line !== "ok")
}

/** The result of one walk over the log. */
interface WalkResult {
  readonly events: number
  readonly streams: number
  readonly problems: readonly AuditProblem[]
  /** The streams that the report is about; null for all. */
  readonly concerned: readonly string[] | null
  readonly accepted: readonly AcceptedHistory[]
}

/** Walks over the log to its end, or until the maximum number of problems is found. */
function chainOf({ connection, identity, problemsMax }: VerifyDeps, anchors: readonly Anchor[]): ChainWalk {
  const chain = new ChainWalk(identity, readTombstones(connection), byPosition(anchors))
  for (const row of eventsInOrder(connection)) {
    chain.check(row)
    if (chain.problems.length >= problemsMax) break
  }
  if (chain.problems.length < problemsMax) chain.end(findTail(connection))
  return chain
}

function walk(deps: VerifyDeps, anchors: readonly Anchor[], id: string | undefined): WalkResult {
  const { connection, identity } = deps
  const chain = chainOf(deps, anchors)
  const { problems, eventCount: events, streamCount: streams } = chain
  if (problems.length > 0) return { events, streams, problems, concerned: null, accepted: [] }
  const found = projectionProblems(connection)
  const accepted = acceptedHistories(eventReader(connection, identity))
  if (id !== undefined) return { ...concernedPart(connection, id, found), accepted }
  return { events, streams, problems: found, concerned: null, accepted }
}

/** Limits the result to one session or execution. The events are known to be genuine. */
function concernedPart(
  connection: DatabaseConnection,
  id: string,
  problems: readonly AuditProblem[],
): Omit<WalkResult, "accepted"> {
  const streams = concernedStreams(connection, id)
  const own = problems.filter(({ stream }) => stream === null || streams.has(stream))
  const unknown = { stream: id, seq: null, position: null, what: "no event mentions it" }
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

/**
 * Reports other histories that were anchored at this directory: replacing an anchored database by a new one is the
 * simplest way to hide a history.
 */
function otherDatabases(deps: VerifyDeps): readonly AuditProblem[] {
  const { anchorsDirectory, stateDirectory, identity } = deps
  return othersAnchoredAt(anchorsDirectory, stateDirectory, identity.workspaceId).map(id => ({
    stream: null,
    seq: null,
    position: null,
    what:
      "another history was anchored here, and its database is missing or was replaced; " +
      `if that was intended, \`acode audit accept --reason TEXT\` records it (${anchorPath(anchorsDirectory, id)})`,
  }))
}

/**
 * Returns the streams that concern a session or an execution, with the number of events of each: its own, the answers
 * to its questions, the approval of its plan, and the requests that other processes sent it. A command of a session has
 * no stream of its own but that of the session. Reads events and no tables, so the result is as trustworthy as the
 * events.
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
