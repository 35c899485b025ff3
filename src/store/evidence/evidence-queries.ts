import type { Connection } from "../database.ts"
import { timeRange } from "../time-range.ts"
import type { EvidenceRange, EvidenceRow } from "./contract.ts"
import type { CallRow } from "./evidence-rows.ts"

/** Oldest first. A name that no tool has is found as it was written. */
export function callsByTool(
  connection: Connection,
  tool: string,
  range: EvidenceRange,
): readonly EvidenceRow[] {
  return rows(
    connection,
    `SELECT * FROM evidence WHERE ${toolIs} AND at >= ? AND at < ? ORDER BY at, position LIMIT ?`,
    [tool, ...limits(range)],
  )
}

/** As the indexes are written: another spelling would not use them. */
const toolIs = "coalesce(canonical_tool, tool) = ?"
const hasFailed = "status IN ('failed', 'interrupted')"

export function failedCalls(
  connection: Connection,
  tool: string | null,
  range: EvidenceRange,
): readonly EvidenceRow[] {
  const ofTool = tool === null ? "" : `${toolIs} AND`
  return rows(
    connection,
    `SELECT * FROM evidence WHERE ${ofTool} ${hasFailed} AND at >= ? AND at < ?
     ORDER BY at DESC, position DESC LIMIT ?`,
    [...(tool === null ? [] : [tool]), ...limits(range)],
  )
}

export function callsByCode(
  connection: Connection,
  code: string,
  range: EvidenceRange,
): readonly EvidenceRow[] {
  return rows(
    connection,
    `SELECT evidence.* FROM (
       SELECT position FROM evidence_diagnostics WHERE is_first = 1 AND code = ? AND at >= ? AND at < ?
       ORDER BY at DESC, position DESC LIMIT ?
     ) JOIN evidence USING (position) ORDER BY at DESC, position DESC`,
    [code, ...limits(range)],
  )
}

export function callsByFile(
  connection: Connection,
  path: string,
  range: EvidenceRange,
): readonly EvidenceRow[] {
  return rows(
    connection,
    `SELECT evidence.* FROM (
       SELECT position FROM evidence_files WHERE path = ? AND at >= ? AND at < ?
       ORDER BY at DESC, position DESC LIMIT ?
     ) JOIN evidence USING (position) ORDER BY at DESC, position DESC`,
    [path, ...limits(range)],
  )
}

export function lastCallOf(connection: Connection, path: string): EvidenceRow | null {
  return callsByFile(connection, path, { limit: 1 })[0] ?? null
}

function limits(range: EvidenceRange): readonly [string, string, number] {
  const { since, until } = timeRange(range)
  return [since, until, range.limit ?? -1]
}

function rows(
  connection: Connection,
  sql: string,
  values: readonly (string | number)[],
): readonly EvidenceRow[] {
  return connection.db
    .query<CallRow, (string | number)[]>(sql)
    .all(...values)
    .map(toEvidence)
}

export function toEvidence(row: CallRow): EvidenceRow {
  return {
    id: row.id,
    sessionId: row.session_id,
    tool: row.tool,
    canonicalTool: row.canonical_tool,
    planId: row.plan_id,
    planHash: row.plan_hash,
    taskId: row.task_id,
    stepId: row.step_id,
    stepKey: row.step_key,
    status: row.status,
    certainty: row.certainty,
    exitCode: row.exit_code,
    durationMs: row.duration_ms,
    errorCode: row.error_code,
    errorMessage: row.error_message,
    resultDigest: row.result_digest,
    at: row.at,
  }
}
