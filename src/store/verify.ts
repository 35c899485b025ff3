import { oneLine } from "../base/text.ts"
import {
  type Anchor,
  acceptedHistories,
  anchorPath,
  anchorsGone,
  isStepBack,
  type KnownAnchors,
  knownAnchors,
  othersAnchoredAt,
} from "./anchors.ts"
import { artifactProblems } from "./artifact-check.ts"
import { ChainWalk } from "./chain-walk.ts"
import { concernedStreams } from "./concerned-streams.ts"
import type { AcceptedHistory, AuditProblem, AuditReport } from "./contract.ts"
import { type Connection, guarded } from "./database.ts"
import { findTail } from "./event-log.ts"
import { type EventRow, eventColumns, eventReader } from "./event-rows.ts"
import type { LogIdentity } from "./log-identity.ts"
import { projectionProblems } from "./projection-check.ts"
import { readTombstones } from "./tombstones.ts"

export interface VerifyParts {
  readonly connection: Connection
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
function damagedPages(connection: Connection): readonly AuditProblem[] {
  return integrityProblems(connection).map(line => ({
    stream: null,
    seq: null,
    position: null,
    what: `the database file is damaged: ${oneLine(line, 200)}`,
  }))
}

/** What is wrong with the file, in SQLite's words. */
export function integrityProblems(connection: Connection): readonly string[] {
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
    chain.see(row)
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
  connection: Connection,
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

function eventsInOrder(connection: Connection): Iterable<EventRow> {
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
