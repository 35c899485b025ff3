import { SessionResumed } from "../../domain/events/pipeline-events.ts"
import { type Lane, SessionUndone } from "../../domain/events/session-events.ts"
import type { ProcessIdentity } from "../../domain/process-identity.ts"
import type { DatabaseConnection } from "../database/database.ts"
import { changedRow, type NoteFailure, unlessChanged } from "../database/store-failures.ts"
import { isStoredRow, matchingIds, readRow } from "../database/table-projection.ts"
import { leaseOwner } from "../leases.ts"
import type { EventReader } from "../log/event-rows.ts"
import type { SessionHistory, SessionSummary } from "./contract.ts"
import type { FactsOf, SessionFacts } from "./session-facts.ts"
import { type SessionRow, sessionsTable } from "./session-rows.ts"

export interface SessionDeps {
  readonly connection: DatabaseConnection
  readonly log: EventReader
  readonly facts: FactsOf
  readonly note: NoteFailure
}

export function createSessions(deps: SessionDeps): SessionHistory {
  const { connection, facts } = deps
  const read = connection.snapshot
  return {
    latest: () =>
      read(() => {
        const id = latestId(deps)
        return id === null ? null : summaryOf(facts(id))
      }),
    latestId: () => read(() => latestId(deps)),
    list: filter => read(() => listSessions(deps, filter)),
    matching: typed => read(() => matchingIds(connection, sessionsTable, typed)),
    find: id => read(() => findSession(deps, id)),
    interrupted: (isAlive, lane) => read(() => interruptedSessions(deps, isAlive, lane ?? null)),
  }
}

function findSession({ connection, facts }: SessionDeps, id: string): SessionSummary | null {
  const found = facts(id)
  if (found === null && readRow(connection, sessionsTable, id) !== null) throw changedRow(sessionsTable, id)
  return summaryOf(found)
}

/**
 * Returns the id of the session that started last. Reads the sequence numbers of the events, which are in an index: a
 * changed table cannot make another session the latest.
 */
function latestId({ connection, log }: SessionDeps): string | null {
  const last = connection.db
    .query<{ position: number | null }, []>(
      "SELECT max(position) AS position FROM events WHERE stream >= 'ses_' AND stream < 'ses`' AND seq = 1",
    )
    .get()
  if (last?.position != null) return log.at(last.position).stream
  const left = connection.db.query<{ id: string }, []>("SELECT id FROM sessions LIMIT 1").get()
  if (left !== null) throw changedRow(sessionsTable, left.id)
  return null
}

function listSessions(
  deps: SessionDeps,
  { lane, limit, isChecked }: Parameters<SessionHistory["list"]>[0],
): readonly SessionSummary[] {
  const { connection } = deps
  const rows = connection.db
    .query<SessionRow, [string | null, number]>(
      `SELECT * FROM sessions WHERE ?1 IS NULL OR lane = ?1
       ORDER BY started_position DESC LIMIT ?2`,
    )
    .all(lane ?? null, limit ?? -1)
  if (isChecked === true) for (const row of rows) unlessChanged(deps.note, () => assertRow(deps, row))
  return rows.map(row => summaryOfRow(connection, row))
}

function assertRow({ facts }: SessionDeps, row: SessionRow): void {
  const expected = facts(row.id)?.row ?? null
  if (expected === null || !isStoredRow(row, expected)) throw changedRow(sessionsTable, row.id)
}

/** Returns the sessions whose process died. The table only selects candidates; their events decide. */
function interruptedSessions(
  deps: SessionDeps,
  isAlive: (owner: ProcessIdentity) => boolean,
  lane: Lane | null,
): readonly SessionSummary[] {
  return deps.connection.db
    .query<{ id: string }, [string | null]>(
      "SELECT id FROM sessions WHERE reason IS NULL AND (?1 IS NULL OR lane = ?1) ORDER BY started_position",
    )
    .all(lane)
    .flatMap(({ id }) => {
      const found = unlessChanged(deps.note, () => deps.facts(id))
      const isInterrupted =
        found != null && found.row.reason === null && (lane === null || found.row.lane === lane)
      return isInterrupted && !isDrivenBy(deps.connection, found.row, isAlive) ? [toSummary(found)] : []
    })
}

/**
 * Returns whether a living process drives a session. The lease holds the owner unchanged but unsigned; the event is
 * signed but has passed the redactor: one living owner is enough.
 */
function isDrivenBy(
  connection: DatabaseConnection,
  row: SessionRow,
  isAlive: (owner: ProcessIdentity) => boolean,
): boolean {
  const holder = leaseOwner(connection, row.id)
  const owner = ownerIn(row)
  return (holder !== null && !Bun.deepEquals(holder, owner) && isAlive(holder)) || isAlive(owner)
}

function ownerIn(row: SessionRow): ProcessIdentity {
  return { bootId: row.boot_id, pid: row.pid, startTicks: row.start_ticks }
}

function summaryOf(facts: SessionFacts | null): SessionSummary | null {
  return facts === null ? null : toSummary(facts)
}

function toSummary({ row, undone }: SessionFacts): SessionSummary {
  if (undone === null) return { ...cellsOf(row), ...neverUndone }
  return { ...cellsOf(row), ...undoneAt(undone.at, undone.isPartly) }
}

function cellsOf(row: SessionRow) {
  return {
    id: row.id,
    lane: row.lane,
    goal: row.goal,
    planId: row.plan_id,
    planHash: row.plan_hash,
    state: row.state,
    reason: row.reason,
    exitCode: row.exit_code,
    stepCount: row.step_count,
    stepsDone: row.steps_done,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    owner: ownerIn(row),
  }
}

const neverUndone = { undoneAt: null, partlyUndoneAt: null }

function undoneAt(at: string, isPartly: boolean): Pick<SessionSummary, "undoneAt" | "partlyUndoneAt"> {
  return isPartly ? { undoneAt: null, partlyUndoneAt: at } : { undoneAt: at, partlyUndoneAt: null }
}

/** Returns a row as the table has it, for listings. */
function summaryOfRow(connection: DatabaseConnection, row: SessionRow): SessionSummary {
  return { ...cellsOf(row), ...(row.undone_at === null ? neverUndone : lastUndone(connection, row)) }
}

/**
 * Returns the undo times of a session according to its events. The row holds only when it was last undone: if the
 * column got another meaning, existing rows would look as if they had been changed. A session that was resumed is not
 * undone.
 */
function lastUndone(
  connection: DatabaseConnection,
  { id, undone_at: at }: SessionRow,
): Pick<SessionSummary, "undoneAt" | "partlyUndoneAt"> {
  const last = connection.db
    .query<{ type: string; left: number | null }, [string, string, string]>(
      "SELECT type, json_array_length(data, '$.foreign') + json_array_length(data, '$.blocked') AS left " +
        "FROM events WHERE stream = ? AND type IN (?, ?) ORDER BY seq DESC LIMIT 1",
    )
    .get(id, SessionResumed.type, SessionUndone.type)
  if (last?.type !== SessionUndone.type || at === null) return neverUndone
  return undoneAt(at, last.left !== 0)
}
