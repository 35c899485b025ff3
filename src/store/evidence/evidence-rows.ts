import type { z } from "zod"
import { assert } from "../../base/assert.ts"
import { ToolCallRequested, ToolCallSettled } from "../../domain/events/call-events.ts"
import type { Certainty, ToolOutcome } from "../../domain/tool-call.ts"
import type { StoredEvent } from "../contract.ts"
import { type DetailRow, type TableRow, tableProjection } from "../database/table-projection.ts"
import { fieldsOf } from "../log/event-rows.ts"
import type { EvidenceRow } from "./contract.ts"

/** A row of the table `evidence`, computed from the request of a call and its outcome. */
export interface CallRow extends TableRow {
  readonly position: number
  readonly id: string
  readonly settled_position: number | null
  readonly session_id: string
  readonly tool: string
  readonly canonical_tool: string | null
  readonly plan_id: string | null
  readonly plan_hash: string | null
  readonly task_id: string | null
  readonly step_id: string | null
  readonly step_key: string | null
  readonly status: EvidenceRow["status"]
  readonly certainty: Certainty | null
  readonly exit_code: number | null
  readonly duration_ms: number | null
  readonly error_code: string | null
  readonly error_message: string | null
  readonly result_digest: string | null
  readonly at: string
}

export type SettledFields = z.infer<typeof ToolCallSettled.data>

export const evidenceTable = "evidence"

export const evidenceRows = tableProjection<CallRow>({
  table: evidenceTable,
  createdBy: ToolCallRequested.type,
  eventTypes: new Set([ToolCallRequested.type, ToolCallSettled.type]),
  positionColumn: "position",
  idOf: event =>
    fieldsOf(ToolCallRequested, event)?.callId ?? fieldsOf(ToolCallSettled, event)?.callId ?? null,
  next: nextCallRow,
  isFinal: row => row.settled_position !== null,
  detailTables: ["evidence_files", "evidence_diagnostics"],
  detailsOf: (row, event) => {
    const settled = fieldsOf(ToolCallSettled, event)
    return settled === null ? [] : [...fileRows(row, settled), ...diagnosticRows(row, settled)]
  },
})

/** Returns the row of a call after one more event about it. */
export function nextCallRow(row: CallRow | null, event: StoredEvent): CallRow | null {
  const settled = fieldsOf(ToolCallSettled, event)
  if (settled === null) return requestedRow(row, event)
  assert(row?.settled_position === null, "a call is settled once, after it was requested")
  return settledRow(row, event, settled)
}

/** Returns every path that a call read or changed, each once, sorted. */
export function pathsOf(settled: SettledFields): readonly string[] {
  return [...new Set([...settled.paths, ...changedPaths(settled)])].sort()
}

function requestedRow(row: CallRow | null, event: StoredEvent): CallRow | null {
  const requested = fieldsOf(ToolCallRequested, event)
  if (requested === null) return row
  assert(row === null, "a call is requested once")
  const { origin } = requested
  return {
    position: event.position,
    id: requested.callId,
    settled_position: null,
    session_id: event.stream,
    tool: requested.tool,
    canonical_tool: requested.canonicalTool,
    plan_id: origin.planId,
    plan_hash: origin.planHash,
    task_id: origin.taskId,
    step_id: origin.stepId,
    step_key: origin.stepKey,
    status: "started",
    certainty: null,
    exit_code: null,
    duration_ms: null,
    error_code: null,
    error_message: null,
    result_digest: null,
    at: event.at,
  }
}

function settledRow(row: CallRow, event: StoredEvent, settled: SettledFields): CallRow {
  return {
    ...row,
    settled_position: event.position,
    status: statuses[settled.outcome],
    certainty: settled.certainty,
    exit_code: settled.exitCode,
    duration_ms: settled.durationMs,
    error_code: settled.error?.code ?? null,
    error_message: settled.error?.message ?? null,
    result_digest: settled.resultDigest,
  }
}

const statuses: Readonly<Record<ToolOutcome, EvidenceRow["status"]>> = {
  succeeded: "succeeded",
  failed: "failed",
  refused: "failed",
  denied: "failed",
  interrupted: "interrupted",
}

function fileRows(row: CallRow, settled: SettledFields): readonly DetailRow[] {
  const changed = new Set(changedPaths(settled))
  return pathsOf(settled).map(path => ({
    table: "evidence_files",
    cells: { path, at: row.at, position: row.position, changed: changed.has(path) ? 1 : 0 },
  }))
}

/**
 * Returns the paths that a call changed. If the event refers to an artifact for them, `settled.paths` has them too, and
 * the artifact is not read here.
 */
function changedPaths({ changes }: SettledFields): readonly string[] {
  return changes.kind === "inline" ? changes.value.map(change => change.path) : []
}

/** Returns each code once for each file, however often a compiler repeats it. */
function diagnosticRows(row: CallRow, settled: SettledFields): readonly DetailRow[] {
  const found = new Map<string, TableRow>()
  const codes = new Set<string>()
  for (const { code, file_name } of settled.diagnostics) {
    const key = `${code}\0${file_name}`
    if (code === null || found.has(key)) continue
    const is_first = codes.has(code) ? 0 : 1
    codes.add(code)
    found.set(key, { code, at: row.at, position: row.position, file_name, call_id: row.id, is_first })
  }
  return [...found.values()].map(cells => ({ table: "evidence_diagnostics", cells }))
}
