import type { Database } from "bun:sqlite"
import type { LogRow } from "./checker-log.ts"

type Row = Record<string, string | number | null>
type Tables = Record<string, Map<string, Row>>

/**
 * I7 for the tables of sessions: each is what the events say, no more and no less. Written a second time on purpose: a
 * rebuild that shares the writer's code shares its mistakes.
 */
export function tableViolations(database: Database, log: readonly LogRow[]): string[] {
  const expected = rebuilt(log)
  return Object.entries(expected).flatMap(([table, rows]) => differences(database, table, rows))
}

function differences(database: Database, table: string, expected: Map<string, Row>): string[] {
  const stored = new Map(
    database
      .query<Row, []>(`SELECT * FROM ${table}`)
      .all()
      .map(row => [keyOf(table, row), row]),
  )
  const wrong = [...stored].filter(([key, row]) => !Bun.deepEquals(row, expected.get(key)))
  const missing = [...expected.keys()].filter(key => !stored.has(key))
  return [
    ...wrong.map(([key]) => `I7 ${table}: the row of ${key} is not what the log says`),
    ...missing.map(key => `I7 ${table}: ${key} is in the log and not in the table`),
  ]
}

function keyOf(table: string, row: Row): string {
  if (table === "evidence_files") return `${row["position"]} ${row["path"]}`
  if (table === "evidence_diagnostics") return `${row["position"]} ${row["code"]} ${row["file_name"]}`
  return String(row["id"])
}

function rebuilt(log: readonly LogRow[]): Tables {
  const tables: Tables = {
    sessions: new Map(),
    approvals: new Map(),
    plan_approvals: new Map(),
    evidence: new Map(),
    evidence_files: new Map(),
    evidence_diagnostics: new Map(),
  }
  for (const event of log) steps[event.type]?.(tables, event, event.parsed as unknown as Said)
  return tables
}

/** The data of session events; each type has some of these members. */
interface Said {
  readonly lane: string
  readonly goal: string
  readonly planId: string | null
  readonly planHash: string | null
  readonly stepCount: number
  readonly owner: { readonly bootId: string; readonly pid: number; readonly startTicks: string }
  readonly success: boolean
  readonly state: string
  readonly stage: string
  readonly reason: string | null
  readonly exitCode: number | null
  readonly approvalId: string | null
  readonly sessionId: string
  readonly expiresAt: string | null
  readonly answer: string
  readonly by: string
  readonly approver: string
  readonly callId: string
  readonly tool: string
  readonly canonicalTool: string | null
  readonly origin: Readonly<Record<"planId" | "planHash" | "taskId" | "stepId" | "stepKey", string | null>>
  readonly outcome: string
  readonly certainty: string
  readonly durationMs: number
  readonly error: { readonly code: string; readonly message: string } | null
  readonly resultDigest: string | null
  readonly paths: readonly string[]
  readonly changes: { readonly value?: readonly { readonly path: string }[] }
  readonly diagnostics: readonly { readonly code: string | null; readonly file_name: string }[]
}

const steps: Record<string, (tables: Tables, event: LogRow, said: Said) => void> = {
  "session.started": (tables, event, said) => {
    add(tables, "sessions", {
      id: event.stream,
      started_position: event.position,
      lane: said.lane,
      goal: said.goal,
      plan_id: said.planId,
      plan_hash: said.planHash,
      state: "CREATED",
      reason: null,
      exit_code: null,
      step_count: said.stepCount,
      steps_done: 0,
      started_at: event.at,
      ended_at: null,
      boot_id: said.owner.bootId,
      pid: said.owner.pid,
      start_ticks: said.owner.startTicks,
      undone_at: null,
    })
  },
  "step.started": (tables, event) => change(tables, "sessions", event.stream, { state: "EXECUTING" }),
  "step.finished": (tables, event, said) => {
    const done = Number(tables["sessions"]?.get(event.stream)?.["steps_done"])
    if (said.success) change(tables, "sessions", event.stream, { steps_done: done + 1 })
  },
  "stage.entered": (tables, event, said) =>
    change(tables, "sessions", event.stream, { state: said.stage === "planner" ? "PLANNING" : "EXECUTING" }),
  "plan.proposed": (tables, event, said) =>
    change(tables, "sessions", event.stream, { plan_hash: said.planHash }),
  "session.resumed": (tables, event, { owner: { bootId, pid, startTicks } }) =>
    change(tables, "sessions", event.stream, {
      boot_id: bootId,
      pid,
      start_ticks: startTicks,
      state: "EXECUTING",
      reason: null,
      exit_code: null,
      ended_at: null,
    }),
  "session.rested": (tables, event, said) => change(tables, "sessions", event.stream, endOf(said)),
  "session.finished": (tables, event, said) =>
    change(tables, "sessions", event.stream, { ...endOf(said), ended_at: event.at }),
  "session.undone": (tables, event) => change(tables, "sessions", event.stream, { undone_at: event.at }),
  "approval.requested": (tables, event, said) => {
    add(tables, "approvals", {
      id: said.approvalId,
      requested_position: event.position,
      session_id: said.sessionId,
      requested_at: event.at,
      expires_at: timeOf(said.expiresAt),
      answer: null,
      answered_at: null,
      answered_by: null,
      answer_reason: null,
      answer_expires_at: null,
      used_at: null,
    })
  },
  "approval.answered": (tables, event, said) => {
    if (tables["approvals"]?.get(String(said.approvalId))?.["answer"] !== null) return
    change(tables, "approvals", String(said.approvalId), {
      answer: said.answer,
      answered_at: event.at,
      answered_by: said.by,
      answer_reason: said.reason,
      answer_expires_at: timeOf(said.expiresAt),
    })
  },
  "plan.approved": (tables, event, said) => {
    if (!event.stream.startsWith("apr_")) {
      change(tables, "sessions", event.stream, { plan_id: said.planId, step_count: said.stepCount })
      return
    }
    add(tables, "plan_approvals", {
      id: said.approvalId,
      position: event.position,
      plan_id: said.planId,
      plan_hash: said.planHash,
      approver: said.approver,
      step_count: said.stepCount,
      approved_at: event.at,
      expires_at: timeOf(said.expiresAt),
    })
  },
  "tool_call.requested": (tables, event, said) => {
    const { planId, planHash, taskId, stepId, stepKey } = said.origin
    add(tables, "evidence", {
      position: event.position,
      id: said.callId,
      settled_position: null,
      session_id: event.stream,
      tool: said.tool,
      canonical_tool: said.canonicalTool,
      plan_id: planId,
      plan_hash: planHash,
      task_id: taskId,
      step_id: stepId,
      step_key: stepKey,
      status: "started",
      certainty: null,
      exit_code: null,
      duration_ms: null,
      error_code: null,
      error_message: null,
      result_digest: null,
      at: event.at,
    })
  },
  "tool_call.started": (tables, event, said) => {
    if (said.approvalId !== null) change(tables, "approvals", said.approvalId, { used_at: event.at })
  },
  "tool_call.settled": (tables, event, said) => {
    const ended = said.outcome === "succeeded" || said.outcome === "interrupted"
    change(tables, "evidence", said.callId, {
      settled_position: event.position,
      status: ended ? said.outcome : "failed",
      certainty: said.certainty,
      exit_code: said.exitCode,
      duration_ms: said.durationMs,
      error_code: said.error?.code ?? null,
      error_message: said.error?.message ?? null,
      result_digest: said.resultDigest,
    })
    addDetails(tables, said)
  },
}

function addDetails(tables: Tables, said: Said): void {
  const call = tables["evidence"]?.get(said.callId)
  if (call === undefined) return
  const { at = null, position = null, id = null } = call
  const changed = (said.changes.value ?? []).map(each => each.path)
  for (const path of [...said.paths, ...changed])
    add(tables, "evidence_files", { path, at, position, changed: changed.includes(path) ? 1 : 0 })
  const codes = new Set<string>()
  const seen = new Set<string>()
  for (const { code, file_name } of said.diagnostics) {
    if (code === null || seen.has(`${code} ${file_name}`)) continue
    seen.add(`${code} ${file_name}`)
    const is_first = codes.has(code) ? 0 : 1
    codes.add(code)
    add(tables, "evidence_diagnostics", { code, at, position, file_name, call_id: id, is_first })
  }
}

function endOf(said: Said): Row {
  return { state: said.state, reason: said.reason, exit_code: said.exitCode }
}

function timeOf(text: string | null): string | null {
  return text === null ? null : new Date(text).toISOString()
}

function add(tables: Tables, table: string, row: Row): void {
  tables[table]?.set(keyOf(table, row), row)
}

function change(tables: Tables, table: string, id: string, cells: Row): void {
  const row = tables[table]?.get(id)
  if (row !== undefined) tables[table]?.set(id, { ...row, ...cells })
}
