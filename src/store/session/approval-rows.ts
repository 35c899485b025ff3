import {
  type ApprovalAnswer,
  ApprovalAnswered,
  ApprovalRequested,
  ToolCallStarted,
} from "../../domain/events/call-events.ts"
import { PlanApproved } from "../../domain/events/session-events.ts"
import type { StoredEvent } from "../contract.ts"
import { appendConflict } from "../database/store-failures.ts"
import { instant, type TableRow, tableProjection } from "../database/table-projection.ts"
import { fieldsOf } from "../log/event-rows.ts"

/** A row of the table `approvals`: whether a question is answered, and whether the answer was used. */
export interface ApprovalRow extends TableRow {
  readonly id: string
  readonly requested_position: number
  readonly session_id: string
  readonly requested_at: string
  readonly expires_at: string | null
  readonly answer: ApprovalAnswer | null
  readonly answered_at: string | null
  readonly answered_by: string | null
  readonly answer_reason: string | null
  readonly answer_expires_at: string | null
  readonly used_at: string | null
}

export const approvalsTable = "approvals"

export const approvalRows = tableProjection<ApprovalRow>({
  table: approvalsTable,
  createdBy: ApprovalRequested.type,
  eventTypes: new Set([ApprovalRequested.type, ApprovalAnswered.type, ToolCallStarted.type]),
  positionColumn: "requested_position",
  idOf: event =>
    fieldsOf(ApprovalRequested, event)?.approvalId ??
    fieldsOf(ApprovalAnswered, event)?.approvalId ??
    fieldsOf(ToolCallStarted, event)?.approvalId ??
    null,
  next: nextApprovalRow,
  // No row is final, because a second use of an answer must be refused; there are never many questions.
  isFinal: () => false,
  detailTables: [],
  detailsOf: () => [],
})

/** Returns the row of a question after one more event about it. */
export function nextApprovalRow(row: ApprovalRow | null, event: StoredEvent): ApprovalRow | null {
  return row === null ? requestedRow(event) : changedRow(row, event)
}

function requestedRow(event: StoredEvent): ApprovalRow | null {
  const requested = fieldsOf(ApprovalRequested, event)
  if (requested === null) return null
  return {
    id: requested.approvalId,
    requested_position: event.position,
    session_id: requested.sessionId,
    requested_at: event.at,
    expires_at: requested.expiresAt === null ? null : instant(requested.expiresAt),
    answer: null,
    answered_at: null,
    answered_by: null,
    answer_reason: null,
    answer_expires_at: null,
    used_at: null,
  }
}

function changedRow(row: ApprovalRow, event: StoredEvent): ApprovalRow {
  const answered = fieldsOf(ApprovalAnswered, event)
  // Only the first answer counts.
  if (answered !== null && row.answer === null)
    return {
      ...row,
      answer: answered.answer,
      answered_at: event.at,
      answered_by: answered.by,
      answer_reason: answered.reason,
      answer_expires_at: instant(answered.expiresAt),
    }
  if (fieldsOf(ToolCallStarted, event) === null) return row
  if (row.used_at !== null) throw appendConflict(event.stream, `the approval ${row.id} was already used`)
  return { ...row, used_at: event.at }
}

/** A row of the table `plan_approvals`: an approval of exactly one plan. */
export interface PlanApprovalRow extends TableRow {
  readonly id: string
  readonly position: number
  readonly plan_id: string
  readonly plan_hash: string
  readonly approver: string
  readonly step_count: number
  readonly approved_at: string
  readonly expires_at: string
}

export const planApprovalsTable = "plan_approvals"

/** Begins the name of a stream about one approval: of a plan, with its revocation, or the answer to a question. */
export const approvalStreamPrefix = "apr_"

export const planApprovalRows = tableProjection<PlanApprovalRow>({
  table: planApprovalsTable,
  createdBy: PlanApproved.type,
  eventTypes: new Set([PlanApproved.type]),
  positionColumn: "position",
  // An approval in the stream of a session is for that session only.
  idOf: event =>
    event.stream.startsWith(approvalStreamPrefix)
      ? (fieldsOf(PlanApproved, event)?.approvalId ?? null)
      : null,
  next: (row, event) => row ?? planApprovalRow(event),
  isFinal: () => false,
  detailTables: [],
  detailsOf: () => [],
})

/** Returns the row of an event that approves a plan; null for any other event. */
export function planApprovalRow(event: StoredEvent): PlanApprovalRow | null {
  const approved = fieldsOf(PlanApproved, event)
  if (approved === null) return null
  return {
    id: approved.approvalId,
    position: event.position,
    plan_id: approved.planId,
    plan_hash: approved.planHash,
    approver: approved.approver,
    step_count: approved.stepCount,
    approved_at: event.at,
    expires_at: instant(approved.expiresAt),
  }
}
