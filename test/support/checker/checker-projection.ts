import type { Database } from "bun:sqlite"
import type { LogRow } from "./checker-log.ts"

interface ProjectedExecution {
  readonly id: string
  readonly started_position: number
  readonly finished_position: number | null
  readonly run_id: string
  readonly ending: string | null
  readonly exit_code: number | null
  readonly success: number | null
  readonly duration_ms: number | null
}

/** I7: the table of executions is what the events say, no more and no less. */
export function projectionViolations(database: Database, log: readonly LogRow[]): string[] {
  const columns = "id, started_position, finished_position, run_id, ending, exit_code, success, duration_ms"
  const stored = database.query<ProjectedExecution, []>(`SELECT ${columns} FROM executions`).all()
  const expected = new Map(rebuild(log).map(row => [row.id, row]))
  const wrong = stored.filter(row => !Bun.deepEquals(row, expected.get(row.id)))
  const storedIds = new Set(stored.map(row => row.id))
  const missing = [...expected.keys()].filter(id => !storedIds.has(id))
  return [
    ...wrong.map(row => `I7 the row of ${row.id} is ${JSON.stringify(row)}, the log says otherwise`),
    ...missing.map(id => `I7 ${id} is in the log and not in the table`),
  ]
}

function rebuild(log: readonly LogRow[]): ProjectedExecution[] {
  const rows = new Map<string, ProjectedExecution>()
  for (const row of log) {
    const id = String(row.parsed["executionId"])
    if (row.type === "command.started") rows.set(id, startedRow(id, row))
    const open = rows.get(id)
    if (row.type === "command.finished" && open !== undefined) rows.set(id, finishedRow(open, row))
  }
  return [...rows.values()]
}

function startedRow(id: string, row: LogRow): ProjectedExecution {
  const { correlationIds } = row.parsed as { correlationIds: { runId: string } }
  const unknown = { finished_position: null, ending: null, exit_code: null, success: null, duration_ms: null }
  return { id, started_position: row.position, run_id: correlationIds.runId, ...unknown }
}

function finishedRow(open: ProjectedExecution, row: LogRow): ProjectedExecution {
  const { result } = row.parsed as {
    result: { ending: string; exitCode: number | null; success: boolean; durationMs: number }
  }
  return {
    ...open,
    finished_position: row.position,
    ending: result.ending,
    exit_code: result.exitCode,
    success: result.success ? 1 : 0,
    duration_ms: result.durationMs,
  }
}
