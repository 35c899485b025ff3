import { assert } from "../../base/assert.ts"
import type { StoredExecution } from "../../domain/command-result.ts"
import { artifactTotals } from "../artifacts/collection.ts"
import type {
  ArtifactStore,
  ExecutionFilter,
  ExecutionStats,
  ExecutionSummary,
  StoredEvent,
} from "../contract.ts"
import type { DatabaseConnection } from "../database/database.ts"
import { filesBytes } from "../database/shrink.ts"
import { changedRow, type NoteFailure, unlessChanged } from "../database/store-failures.ts"
import { instant, isStoredRow } from "../database/table-projection.ts"
import type { EventReader } from "../log/event-rows.ts"
import {
  type FinishedFields,
  finishedFields,
  recordOf,
  type StartedFields,
  startedFields,
} from "./execution-outcome.ts"
import { type ExecutionRow, finishedRow, readExecution, startedRow } from "./execution-projection.ts"

/** Returns summaries, newest first; executions of the same millisecond in the order of the log. */
export function listExecutions(
  { connection, log, note }: ExecutionReading,
  filter: ExecutionFilter,
): readonly ExecutionSummary[] {
  const { where, values } = conditionsOf(filter)
  const limit = filter.limit ?? -1
  const rows = connection.db
    .query<ExecutionRow, (string | number)[]>(
      `SELECT * FROM executions ${where} ORDER BY start_time DESC, started_position DESC LIMIT ?`,
    )
    .all(...values, limit)
  for (const row of rows) unlessChanged(note, () => recordedExecution(log, row))
  return rows.map(toSummary)
}

/** The dependencies of execution queries. */
export interface ExecutionReading {
  readonly connection: DatabaseConnection
  readonly log: EventReader
  readonly artifacts: ArtifactStore
  readonly note: NoteFailure
}

/**
 * Returns the events that a row refers to. Throws ACODE-SEC-004 if they belong to another execution, or if the row
 * differs from what they produce.
 */
export function recordedExecution(log: EventReader, row: ExecutionRow): RecordedExecution {
  const event = log.at(row.started_position)
  const started = startedFields(event)
  if (started?.executionId !== row.id) throw changedRow("executions", row.id)
  const open = startedRow(event, started)
  const last = row.finished_position === null ? null : log.at(row.finished_position)
  const finished = last === null ? null : finishedFields(last)
  if (last !== null && finished?.executionId !== row.id) throw changedRow("executions", row.id)
  const expected = last === null || finished === null ? open : finishedRow(open, last, finished)
  if (!isStoredRow(row, expected)) throw changedRow("executions", row.id)
  return { event, started, finished }
}

export interface RecordedExecution {
  /** The event that starts it. */
  readonly event: StoredEvent
  readonly started: StartedFields
  readonly finished: FinishedFields | null
}

/** Returns whether an execution outside the session ran between two positions of the log. */
export function hasOtherExecutions(
  { db }: DatabaseConnection,
  sessionId: string,
  from: number,
  to: number,
): boolean {
  const found = db
    .query<{ readonly id: string }, [string, number, number]>(
      "SELECT id FROM executions WHERE session_id IS NOT ? AND started_position < ? " +
        "AND (finished_position IS NULL OR finished_position > ?) LIMIT 1",
    )
    .get(sessionId, to, from)
  return found !== null
}

interface Conditions {
  readonly where: string
  readonly values: readonly (string | number)[]
}

function conditionsOf(filter: ExecutionFilter): Conditions {
  const terms: [string, string | undefined][] = [
    ["run_id = ?", filter.runId],
    ["session_id = ?", filter.sessionId],
    ["task_id = ?", filter.taskId],
    ["command_line GLOB ?", filter.command === undefined ? undefined : toGlob(filter.command)],
    ["start_time >= ?", filter.since === undefined ? undefined : instant(filter.since)],
    ["start_time < ?", filter.until === undefined ? undefined : instant(filter.until)],
  ]
  const used = terms.filter((term): term is [string, string] => term[1] !== undefined)
  const success = filter.failed === undefined ? [] : [`success = ${filter.failed ? 0 : 1}`]
  const all = [...success, ...used.map(([sql]) => sql)]
  return {
    where: all.length === 0 ? "" : `WHERE ${all.join(" AND ")}`,
    values: used.map(([, value]) => value),
  }
}

/** Escapes the bracket, which is special in SQLite's GLOB and not in the filter. */
function toGlob(pattern: string): string {
  return pattern.replaceAll("[", "[[]").replace(/\*+/g, "*")
}

function toSummary(row: ExecutionRow): ExecutionSummary {
  return {
    id: row.id,
    commandLine: row.command_line,
    ending: row.ending,
    exitCode: row.exit_code,
    success: row.success === null ? null : row.success === 1,
    startTime: row.start_time,
    durationMs: row.duration_ms,
    runId: row.run_id,
    sessionId: row.session_id,
    taskId: row.task_id,
  }
}

export function showExecution(
  { connection, log, artifacts }: ExecutionReading,
  id: string,
): StoredExecution | null {
  const row = readExecution(connection, id)
  if (row === null) return null
  const { started, finished } = recordedExecution(log, row)
  return finished === null ? null : recordOf(started, finished, artifacts)
}

type Counted = Omit<ExecutionStats, "databaseBytes" | "artifactCount" | "artifactBytes">

export function executionStats(connection: DatabaseConnection, artifactsDirectory: string): ExecutionStats {
  const counted = connection.db
    .query<Counted, []>(
      `SELECT count(*) AS executions,
         count(*) FILTER (WHERE success = 1) AS succeeded,
         count(*) FILTER (WHERE success = 0) AS failed,
         count(*) FILTER (WHERE ending = 'timedOut') AS timedOut,
         count(*) FILTER (WHERE ending = 'interrupted') AS interrupted,
         count(*) FILTER (WHERE ending IS NULL) AS running,
         coalesce(sum(duration_ms), 0) AS durationMsTotal,
         min(start_time) AS oldest,
         max(start_time) AS newest
       FROM executions`,
    )
    .get()
  assert(counted !== null, "an aggregate has one row")
  return { ...counted, databaseBytes: filesBytes(connection.path), ...artifactTotals(artifactsDirectory) }
}
