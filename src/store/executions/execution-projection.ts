import { assert } from "../../base/assert.ts"
import { toIso } from "../../base/clock.ts"
import { shellQuoted } from "../../base/text.ts"
import type { RecordedCommand } from "../../domain/command-result.ts"
import type { StoredEvent } from "../contract.ts"
import type { DatabaseConnection } from "../database/database.ts"
import type { Projector } from "../database/table-projection.ts"
import {
  type FinishedFields,
  finishedFields,
  type StartedFields,
  startedFields,
} from "./execution-outcome.ts"

/** A row of the table `executions`, computed from the two events of an execution and nothing else. */
export interface ExecutionRow {
  readonly id: string
  readonly stream: string
  readonly started_position: number
  readonly finished_position: number | null
  readonly command_line: string
  readonly run_id: string
  readonly session_id: string | null
  readonly task_id: string | null
  readonly start_time: string
  readonly ending: string | null
  readonly exit_code: number | null
  readonly success: number | null
  readonly duration_ms: number | null
}

export function executionsProjection(connection: DatabaseConnection): Projector {
  return {
    apply: event => {
      const started = startedFields(event)
      if (started !== null) insertRow(connection, startedRow(event, started))
      const finished = finishedFields(event)
      if (finished === null) return
      const open = readExecution(connection, finished.executionId)
      assert(open?.finished_position === null, "an execution is finished once, after it started")
      updateRow(connection, finishedRow(open, event, finished))
    },
  }
}

export function startedRow(event: StoredEvent, started: StartedFields): ExecutionRow {
  return {
    id: started.executionId,
    stream: event.stream,
    started_position: event.position,
    finished_position: null,
    command_line: commandLine(started.command),
    run_id: started.correlationIds.runId,
    session_id: started.correlationIds.sessionId,
    task_id: started.correlationIds.taskId,
    start_time: event.at,
    ending: null,
    exit_code: null,
    success: null,
    duration_ms: null,
  }
}

export function finishedRow(
  open: ExecutionRow,
  event: StoredEvent,
  { result }: FinishedFields,
): ExecutionRow {
  return {
    ...open,
    finished_position: event.position,
    // One form of time, because rows are compared as text.
    start_time: toIso(Date.parse(result.startTime)),
    ending: result.ending,
    exit_code: result.exitCode,
    success: result.success ? 1 : 0,
    duration_ms: result.durationMs,
  }
}

export function readExecution(connection: DatabaseConnection, id: string): ExecutionRow | null {
  return connection.db.query<ExecutionRow, [string]>("SELECT * FROM executions WHERE id = ?").get(id)
}

/** Long enough to recognise and to search; the event holds the whole command. */
const commandLineCharsMax = 4000

/** Returns a shell script as it was written, an argument list as a person would type it. */
function commandLine(command: RecordedCommand): string {
  const words = command.shell
    ? [command.executable]
    : [command.executable, ...command.arguments].map(shellQuoted)
  return words.join(" ").slice(0, commandLineCharsMax).toWellFormed()
}

function insertRow(connection: DatabaseConnection, row: ExecutionRow): void {
  connection.db
    .query(
      `INSERT INTO executions (id, stream, started_position, command_line, run_id, session_id, task_id, start_time)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    .run(
      row.id,
      row.stream,
      row.started_position,
      row.command_line,
      row.run_id,
      row.session_id,
      row.task_id,
      row.start_time,
    )
}

function updateRow(connection: DatabaseConnection, row: ExecutionRow): void {
  connection.db
    .query(
      `UPDATE executions SET finished_position = ?, start_time = ?, ending = ?, exit_code = ?, success = ?,
         duration_ms = ? WHERE id = ?`,
    )
    .run(
      row.finished_position,
      row.start_time,
      row.ending,
      row.exit_code,
      row.success,
      row.duration_ms,
      row.id,
    )
}
