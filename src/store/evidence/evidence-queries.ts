import type { z } from "zod"
import { ToolCallRequested, ToolCallSettled } from "../../domain/events/call-events.ts"
import type { DatabaseConnection } from "../database/database.ts"
import { changedRow, type NoteFailure, unlessChanged } from "../database/store-failures.ts"
import { isStoredRow, timeRange } from "../database/table-projection.ts"
import { type EventReader, fieldsOf } from "../log/event-rows.ts"
import type { EvidenceRange, EvidenceRow } from "./contract.ts"
import { type CallRow, evidenceTable, nextCallRow, type SettledFields } from "./evidence-rows.ts"

/**
 * The dependencies of evidence queries. Rows that differ from their events are noted, and shown as the table has them.
 */
export interface EvidenceReading {
  readonly connection: DatabaseConnection
  readonly log: EventReader
  readonly note: NoteFailure
}

/** Returns the calls of a tool, oldest first. A name that no tool has is matched as it was written. */
export function callsByTool(
  reading: EvidenceReading,
  tool: string,
  range: EvidenceRange,
): readonly EvidenceRow[] {
  return rows(
    reading,
    `SELECT * FROM evidence WHERE ${toolIs} AND at >= ? AND at < ? ORDER BY at, position LIMIT ?`,
    [tool, ...limits(range)],
  )
}

/** The expression as the indexes spell it: SQLite would not use them for another spelling. */
const toolIs = "coalesce(canonical_tool, tool) = ?"
const hasFailed = "status IN ('failed', 'interrupted')"

export function failedCalls(
  reading: EvidenceReading,
  tool: string | null,
  range: EvidenceRange,
): readonly EvidenceRow[] {
  const ofTool = tool === null ? "" : `${toolIs} AND`
  return rows(
    reading,
    `SELECT * FROM evidence WHERE ${ofTool} ${hasFailed} AND at >= ? AND at < ?
     ORDER BY at DESC, position DESC LIMIT ?`,
    [...(tool === null ? [] : [tool]), ...limits(range)],
  )
}

export function callsByCode(
  reading: EvidenceReading,
  code: string,
  range: EvidenceRange,
): readonly EvidenceRow[] {
  return rows(
    reading,
    `SELECT evidence.* FROM (
       SELECT position FROM evidence_diagnostics WHERE is_first = 1 AND code = ? AND at >= ? AND at < ?
       ORDER BY at DESC, position DESC LIMIT ?
     ) JOIN evidence USING (position) ORDER BY at DESC, position DESC`,
    [code, ...limits(range)],
  )
}

export function callsByFile(
  reading: EvidenceReading,
  path: string,
  range: EvidenceRange,
): readonly EvidenceRow[] {
  return rows(
    reading,
    `SELECT evidence.* FROM (
       SELECT position FROM evidence_files WHERE path = ? AND at >= ? AND at < ?
       ORDER BY at DESC, position DESC LIMIT ?
     ) JOIN evidence USING (position) ORDER BY at DESC, position DESC`,
    [path, ...limits(range)],
  )
}

export function lastCallOf(reading: EvidenceReading, path: string): EvidenceRow | null {
  return callsByFile(reading, path, { limit: 1 })[0] ?? null
}

function limits(range: EvidenceRange): readonly [string, string, number] {
  const { since, until } = timeRange(range)
  return [since, until, range.limit ?? -1]
}

function rows(
  { connection, log, note }: EvidenceReading,
  sql: string,
  values: readonly (string | number)[],
): readonly EvidenceRow[] {
  const found = connection.db.query<CallRow, (string | number)[]>(sql).all(...values)
  for (const row of found) unlessChanged(note, () => recordedCall(log, row))
  return found.map(toEvidence)
}

/**
 * Returns the events that a row refers to. Throws ACODE-SEC-004 if they belong to another call, or if the row differs
 * from what they produce.
 */
export function recordedCall(log: EventReader, row: CallRow): RecordedCall {
  const event = log.at(row.position)
  const requested = fieldsOf(ToolCallRequested, event)
  if (requested?.callId !== row.id) throw changedRow(evidenceTable, row.id)
  const end = row.settled_position === null ? null : log.at(row.settled_position)
  const settled = end === null ? null : fieldsOf(ToolCallSettled, end)
  if (end !== null && settled?.callId !== row.id) throw changedRow(evidenceTable, row.id)
  const begun = nextCallRow(null, event)
  const expected = end === null ? begun : nextCallRow(begun, end)
  if (expected === null || !isStoredRow(row, expected)) throw changedRow(evidenceTable, row.id)
  return { requested, settled }
}

interface RecordedCall {
  readonly requested: z.infer<typeof ToolCallRequested.data>
  readonly settled: SettledFields | null
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
