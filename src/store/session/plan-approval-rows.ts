import { PlanApproved } from "../../domain/session-events.ts"
import type { StoredEvent } from "../contract.ts"
import { fieldsOf } from "../event-fields.ts"
import { type TableRow, tableProjection } from "../table-projection.ts"
import { instant } from "../time-range.ts"

/** A row of the table `plan_approvals`: that somebody approved exactly this plan. */
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

/** Streams of one event each: the approval of a plan, or the answer to a question. */
export const approvalStreamPrefix = "apr_"

export const planApprovalRows = tableProjection<PlanApprovalRow>({
  table: planApprovalsTable,
  // In a session's own stream a plan is approved for that session only.
  idOf: event =>
    event.stream.startsWith(approvalStreamPrefix)
      ? (fieldsOf(PlanApproved, event)?.approvalId ?? null)
      : null,
  next: (row, event) => row ?? planApprovalRow(event),
  isFinal: () => false,
  detailTables: [],
  detailsOf: () => [],
})

/** Returns the row of an event that approves a plan; null for any other. */
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
