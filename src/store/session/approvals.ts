import { assert } from "../../base/assert.ts"
import { type Clock, toIso } from "../../base/clock.ts"
import { ApprovalAnswered } from "../../domain/events/call-events.ts"
import { newEvent } from "../../domain/events/definition.ts"
import { PlanApproved, PlanRevoked } from "../../domain/events/session-events.ts"
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
  revocationsIn,
} from "./approval-queries.ts"
import { approvalsTable, planApprovalsTable } from "./approval-rows.ts"
import type {
  AnswerToApproval,
  ApprovalHistory,
  ApprovalSummary,
  NewPlanApproval,
  NewPlanRevocation,
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
    revokePlan: revocation => recordRevocation(deps, revocation),
    plansApproved: filter => read(() => planApprovals(deps, filter)),
    findPlan: id => read(() => planApprovals(deps, { id })[0] ?? null),
    revocationOf: id => read(() => revocationsIn(deps.log.read(id)).get(id) ?? null),
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

/** Records that an approval is revoked. Of two people who revoke it at once, the second gets an error. */
function recordRevocation(deps: ApprovalDeps, revocation: NewPlanRevocation): PlanApproval {
  const { connection, log, clock } = deps
  const { approvalId } = revocation
  const prepared = log.prepare([newEvent(PlanRevoked, { ...revocation })])
  const find = () => planApprovals(deps, { id: approvalId })[0] ?? null
  return connection.transaction("plan-revocation", () => {
    const approval = find()
    if (approval === null) throw unknownApproval(approvalId)
    const ended = whyEnded(approval, clock.now())
    if (ended !== null) throw closedPlanApproval(approvalId, ended)
    writeAlone(deps, approvalId, log.lastSeq(approvalId), prepared)
    const revoked = find()
    assert(revoked !== null, "a revoked plan approval can be read")
    return revoked
  })
}

/** Returns why a plan may no longer be run under an approval, behind "the approval of this plan"; null if it may. */
export function whyEnded(
  { revoked, hasEnded, approvedAt, expiresAt }: PlanApproval,
  now: number,
): string | null {
  if (revoked !== null) {
    const why = revoked.reason === null ? "" : `: ${revoked.reason}`
    return `was revoked by ${revoked.by} at ${revoked.at}${why}`
  }
  if (hasEnded || Date.parse(expiresAt) <= now) return `ended at ${expiresAt}`
  return now < Date.parse(approvedAt)
    ? `cannot hold yet: the clock says ${toIso(now)}, which is before the time it was given, ${approvedAt}`
    : null
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

function closedPlanApproval(id: string, why: string): Failure {
  return new Failure({
    kind: "usage",
    code: "ACODE-APPR-002",
    message: `the approval of this plan ${why}`,
    where: id,
    hint: "nothing was recorded; `acode approvals list --plans` shows the approvals that hold",
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
