import { assert } from "../base/assert.ts"
import type { ExecutionRecord } from "../domain/command-result.ts"
import { artifactTotals } from "./artifact-collection.ts"
import { finishedFields, startedFields } from "./command-events.ts"
import type { ArtifactStore, ExecutionFilter, ExecutionStats, ExecutionSummary } from "./contract.ts"
import type { Connection } from "./database.ts"
import { readEvent } from "./event-rows.ts"
import { recordOf } from "./execution-outcome.ts"
import { type ExecutionRow, readExecution } from "./execution-projection.ts"
import { instant } from "./time-range.ts"
import { filesBytes } from "./upkeep/shrink.ts"

/** Newest first; two that started in the same millisecond stand in the order they were recorded. */
export function listExecutions(connection: Connection, filter: ExecutionFilter): readonly ExecutionSummary[] {
  const { where, values } = conditionsOf(filter)
  const limit = filter.limit ?? -1
  return connection.db
    .query<ExecutionRow, (string | number)[]>(
      `SELECT * FROM executions ${where} ORDER BY start_time DESC, started_position DESC LIMIT ?`,
    )
    .all(...values, limit)
    .map(toSummary)
}

export function hasOtherExecutions({ db }: Connection, sessionId: string, from: number, to: number): boolean {
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

/** SQLite's GLOB has one more special character than people expect. */
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
  connection: Connection,
  artifacts: ArtifactStore,
  id: string,
): ExecutionRecord | null {
  const row = readExecution(connection, id)
  if (row === null || row.finished_position === null) return null
  const started = startedFields(readEvent(connection, row.started_position))
  const finished = finishedFields(readEvent(connection, row.finished_position))
  assert(started !== null && finished !== null, `the row of ${id} names the two events of its execution`)
  return recordOf(started, finished, artifacts)
}

type Counted = Omit<ExecutionStats, "databaseBytes" | "artifactCount" | "artifactBytes">

export function executionStats(connection: Connection, artifactsDirectory: string): ExecutionStats {
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
