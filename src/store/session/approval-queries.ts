import { assert } from "../../base/assert.ts"
import { toIso } from "../../base/clock.ts"
import { ApprovalRequested } from "../../domain/call-events.ts"
import { Failure } from "../../domain/failure.ts"
import type { RecordedText } from "../../domain/recorded-text.ts"
import { PlanApproved } from "../../domain/session-events.ts"
import type { ArtifactStore } from "../contract.ts"
import type { Connection } from "../database.ts"
import { fieldsOf } from "../event-fields.ts"
import { readEvent } from "../event-rows.ts"
import { textOf } from "../recorded-values.ts"
import type { ApprovalRow } from "./approval-rows.ts"
import type { ApprovalSummary, PlanApproval } from "./contract.ts"
import type { PlanApprovalRow } from "./plan-approval-rows.ts"

interface AskedRow extends ApprovalRow {
  /** When its session ended. */
  readonly session_ended_at: string | null
}

const selectAsked = `SELECT approvals.*, sessions.ended_at AS session_ended_at
  FROM approvals LEFT JOIN sessions ON sessions.id = approvals.session_id`

const newestFirst = "ORDER BY requested_position DESC LIMIT ?"

export function listApprovals(
  connection: Connection,
  artifacts: ArtifactStore,
  now: number,
  filter: { readonly open?: boolean; readonly limit?: number },
): readonly ApprovalSummary[] {
  const limit = filter.limit ?? -1
  const rows = filter.open
    ? connection.db
        .query<AskedRow, [string, number]>(
          `${selectAsked} WHERE answer IS NULL AND sessions.ended_at IS NULL
             AND (expires_at IS NULL OR expires_at > ?) ${newestFirst}`,
        )
        .all(toIso(now), limit)
    : connection.db.query<AskedRow, [number]>(`${selectAsked} ${newestFirst}`).all(limit)
  return rows.map(row => toSummary(connection, artifacts, now, row))
}

export function findApproval(
  connection: Connection,
  artifacts: ArtifactStore,
  now: number,
  id: string,
): ApprovalSummary | null {
  const row = connection.db.query<AskedRow, [string]>(`${selectAsked} WHERE approvals.id = ?`).get(id)
  return row === null ? null : toSummary(connection, artifacts, now, row)
}

export function planApprovals(
  connection: Connection,
  filter: { readonly planHash?: string; readonly planId?: string },
): readonly PlanApproval[] {
  const terms = [
    ...(filter.planHash === undefined ? [] : [{ sql: "plan_hash = ?", value: filter.planHash }]),
    ...(filter.planId === undefined ? [] : [{ sql: "plan_id = ?", value: filter.planId }]),
  ]
  const where = terms.length === 0 ? "" : `WHERE ${terms.map(term => term.sql).join(" AND ")}`
  return connection.db
    .query<SeenPlanApproval, string[]>(`${selectPlans} ${where} ORDER BY position DESC`)
    .all(...terms.map(term => term.value))
    .map(row => toPlanApproval(connection, row))
}

export function findPlanApproval(connection: Connection, id: string): PlanApproval | null {
  const row = connection.db.query<SeenPlanApproval, [string]>(`${selectPlans} WHERE id = ?`).get(id)
  return row === null ? null : toPlanApproval(connection, row)
}

interface SeenPlanApproval extends PlanApprovalRow {
  readonly has_ended: number
}

/** A clock that is set back does not bring back an approval whose end some later event has seen. */
const selectPlans = `SELECT *, EXISTS (
    SELECT 1 FROM events
    WHERE events.position > plan_approvals.position AND events.at >= plan_approvals.expires_at
  ) AS has_ended FROM plan_approvals`

function toPlanApproval(connection: Connection, row: SeenPlanApproval): PlanApproval {
  const { isUnconfined = false } = fieldsOf(PlanApproved, readEvent(connection, row.position)) ?? {}
  return {
    isUnconfined,
    approvalId: row.id,
    planId: row.plan_id,
    planHash: row.plan_hash,
    approver: row.approver,
    stepCount: row.step_count,
    expiresAt: row.expires_at,
    approvedAt: row.approved_at,
    hasEnded: row.has_ended === 1,
  }
}

function toSummary(
  connection: Connection,
  artifacts: ArtifactStore,
  now: number,
  row: AskedRow,
): ApprovalSummary {
  const requested = fieldsOf(ApprovalRequested, readEvent(connection, row.requested_position))
  assert(requested !== null, `the row of ${row.id} names the event that asks`)
  const { callId, stepId, kind, level, category, operation, files, reason, rule, subjectHash } = requested
  // A record that does not say is from an acode that showed redacted questions as if they were whole.
  const { reach = null, isRedacted = true } = requested
  const preview = previewOf(requested.preview, artifacts)
  return {
    id: row.id,
    sessionId: row.session_id,
    callId,
    stepId,
    kind,
    level,
    category,
    operation,
    reach,
    isRedacted: isRedacted || !preview.isWhole,
    files,
    reason,
    rule,
    preview: preview.text,
    subjectHash,
    requestedAt: row.requested_at,
    expiresAt: row.expires_at,
    state: stateOf(row, toIso(now)),
    answeredAt: row.answered_at,
    answeredBy: row.answered_by,
    answerReason: row.answer_reason,
    answerExpiresAt: row.answer_expires_at,
    usedAt: row.used_at,
  }
}

/** One that is gone or was changed says so instead: it must not keep anybody from the other approvals. */
function previewOf(preview: RecordedText, artifacts: ArtifactStore) {
  try {
    const isGone = preview.kind === "artifact" && artifacts.get(preview.ref) === null
    return { text: textOf(preview, artifacts), isWhole: !isGone && preview.kind !== "omitted" }
  } catch (error) {
    if (!(error instanceof Failure && error.report.kind === "integrity")) throw error
    return { text: `[${error.report.message}: ${error.report.where}]`, isWhole: false }
  }
}

/** What ended it first, the clock or its session, is what it is said to have died of. */
function stateOf(row: AskedRow, now: string): ApprovalSummary["state"] {
  if (row.answer !== null) return row.answer
  const seenUntil = row.session_ended_at ?? now
  if (row.expires_at !== null && row.expires_at <= seenUntil) return "expired"
  return row.session_ended_at === null ? "open" : "abandoned"
}
