import { SessionResumed } from "../../domain/pipeline/pipeline-events.ts"
import type { ProcessIdentity } from "../../domain/process-identity.ts"
import { type Lane, SessionUndone } from "../../domain/session-events.ts"
import type { Connection } from "../database.ts"
import { leaseOwner } from "../leases.ts"
import { matchingIds, readRow } from "../table-projection.ts"
import type { SessionHistory, SessionSummary } from "./contract.ts"
import { type SessionRow, sessionsTable } from "./session-rows.ts"

export function createSessions(connection: Connection): SessionHistory {
  const read = connection.snapshot
  return {
    latest: () => read(() => listSessions(connection, { limit: 1 })[0] ?? null),
    list: filter => read(() => listSessions(connection, filter)),
    matching: typed => read(() => matchingIds(connection, sessionsTable, typed)),
    find: id =>
      read(() => {
        const row = readRow<SessionRow>(connection, sessionsTable, id)
        return row === null ? null : toSummary(connection, row)
      }),
    interrupted: isAlive =>
      read(() =>
        runningSessions(connection)
          .filter(row => !isAlive(ownerOf(connection, row)))
          .map(row => toSummary(connection, row)),
      ),
  }
}

function listSessions(
  connection: Connection,
  filter: { readonly lane?: Lane; readonly limit?: number },
): readonly SessionSummary[] {
  return connection.db
    .query<SessionRow, [string | null, number]>(
      `SELECT * FROM sessions WHERE ?1 IS NULL OR lane = ?1
       ORDER BY started_position DESC LIMIT ?2`,
    )
    .all(filter.lane ?? null, filter.limit ?? -1)
    .map(row => toSummary(connection, row))
}

function runningSessions(connection: Connection): readonly SessionRow[] {
  return connection.db
    .query<SessionRow, []>("SELECT * FROM sessions WHERE reason IS NULL ORDER BY started_position")
    .all()
}

/** The lease first: it is written as it is, while the event has passed the redactor. */
function ownerOf(connection: Connection, row: SessionRow): ProcessIdentity {
  return leaseOwner(connection, row.id) ?? ownerIn(row)
}

function ownerIn(row: SessionRow): ProcessIdentity {
  return { bootId: row.boot_id, pid: row.pid, startTicks: row.start_ticks }
}

function toSummary(connection: Connection, row: SessionRow): SessionSummary {
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
    ...(row.undone_at === null ? neverUndone : lastUndone(connection, row.id, row.undone_at)),
  }
}

const neverUndone = { undoneAt: null, partlyUndoneAt: null }

/**
 * Asks the events, because the row only keeps when a session was last undone: with another meaning, rows that are there
 * already would look as if somebody had changed them. A session that was taken up again is not undone.
 */
function lastUndone(
  connection: Connection,
  id: string,
  at: string,
): Pick<SessionSummary, "undoneAt" | "partlyUndoneAt"> {
  const last = connection.db
    .query<{ type: string; left: number | null }, [string, string, string]>(
      "SELECT type, json_array_length(data, '$.foreign') + json_array_length(data, '$.blocked') AS left " +
        "FROM events WHERE stream = ? AND type IN (?, ?) ORDER BY seq DESC LIMIT 1",
    )
    .get(id, SessionResumed.type, SessionUndone.type)
  if (last?.type !== SessionUndone.type) return neverUndone
  return last.left === 0 ? { undoneAt: at, partlyUndoneAt: null } : { undoneAt: null, partlyUndoneAt: at }
}
