import { assert } from "../../base/assert.ts"
import { type Clock, toIso } from "../../base/clock.ts"
import { ApprovalAnswered } from "../../domain/events/call-events.ts"
import { newEvent } from "../../domain/events/definition.ts"
import { PlanApproved } from "../../domain/events/session-events.ts"
import { Failure } from "../../domain/failure.ts"
import type { ProcessIdentity } from "../../domain/process-identity.ts"
import { matchingIds } from "../database/table-projection.ts"
import { dropLease, takeLease } from "../leases.ts"
import type { LogWriter } from "../log/event-log.ts"
import type { PreparedEvent } from "../log/event-preparation.ts"
import {
  type ApprovalReading,
  approvalsOf,
  findApproval,
  listApprovals,
  planApprovals,
} from "./approval-queries.ts"
import { approvalsTable, planApprovalsTable } from "./approval-rows.ts"
import type {
  AnswerToApproval,
  ApprovalHistory,
  ApprovalSummary,
  NewPlanApproval,
  PlanApproval,
} from "./contract.ts"

export interface ApprovalDeps extends ApprovalReading {
  readonly log: LogWriter
  readonly clock: Clock
  readonly self: ProcessIdentity
  /** The time that a granted answer may be used after it was given. */
  readonly answerLastsMs: number
}

export function createApprovals(deps: ApprovalDeps): ApprovalHistory {
  const { connection, clock } = deps
  const read = connection.snapshot
  return {
    list: filter => read(() => listApprovals(deps, clock.now(), filter)),
    matching: (typed, of = "questions") =>
      read(() => matchingIds(connection, of === "plans" ? planApprovalsTable : approvalsTable, typed)),
    find: id => read(() => findApproval(deps, clock.now(), id)),
    ofSession: id => read(() => approvalsOf(deps, clock.now(), id)),
    answer: given => recordAnswer(deps, given),
    approvePlan: approval => recordPlanApproval(deps, approval),
    plansApproved: filter => read(() => planApprovals(deps, filter)),
    findPlan: id => read(() => planApprovals(deps, { id })[0] ?? null),
  }
}

/**
 * Records an answer. The check and the write are one transaction: of two people who answer at once, the second gets an
 * error.
 */
function recordAnswer(deps: ApprovalDeps, given: AnswerToApproval): ApprovalSummary {
  const { connection, log, clock } = deps
  const { approvalId } = given
  const expiresAt = toIso(clock.now() + deps.answerLastsMs)
  const prepared = log.prepare([newEvent(ApprovalAnswered, { ...given, expiresAt })])
  return connection.transaction("answer", () => {
    const approval = findApproval(deps, clock.now(), approvalId)
    if (approval === null) throw unknownApproval(approvalId)
    if (approval.state !== "open") throw closedApproval(approvalId, whyClosed(approval))
    writeAlone(deps, approvalId, log.lastSeq(approvalId), prepared)
    const answered = findApproval(deps, clock.now(), approvalId)
    assert(answered !== null, "an answered approval can be read")
    return answered
  })
}

function recordPlanApproval(deps: ApprovalDeps, approval: NewPlanApproval): PlanApproval {
  const { connection, log } = deps
  const { approvalId } = approval
  const prepared = log.prepare([newEvent(PlanApproved, { ...approval })])
  return connection.transaction("plan-approval", () => {
    writeAlone(deps, approvalId, 0, prepared)
    const [recorded] = planApprovals(deps, { id: approvalId })
    assert(recorded !== undefined, "an approved plan can be read")
    return recorded
  })
}

/** Writes a stream that is complete with these events: takes its lease and drops it again. */
function writeAlone(
  deps: ApprovalDeps,
  stream: string,
  lastSeq: number,
  prepared: readonly PreparedEvent[],
): void {
  const { epoch } = takeLease(deps.connection, stream, deps.self)
  deps.log.write(stream, lastSeq, epoch, prepared)
  dropLease(deps.connection, stream)
}

function whyClosed(approval: ApprovalSummary): string {
  if (approval.state === "expired") return `has expired at ${approval.expiresAt}`
  if (approval.state === "abandoned") return "belongs to a session that has ended"
  return `was already answered: ${approval.state} by ${approval.answeredBy} at ${approval.answeredAt}`
}

export function unknownApproval(id: string): Failure {
  return new Failure({
    kind: "usage",
    code: "ACODE-APPR-001",
    message: "no approval request has this id",
    where: id,
    hint: "`acode approvals list` shows the open requests",
  })
}

/** Reports that an approval request cannot be answered; `why` completes "the approval request …". */
export function closedApproval(id: string, why: string): Failure {
  return new Failure({
    kind: "usage",
    code: "ACODE-APPR-002",
    message: `the approval request ${why}`,
    where: id,
    hint: `\`acode approvals show ${id}\` shows how it ended; nothing was recorded`,
  })
}
