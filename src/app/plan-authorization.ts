import { toIso } from "../base/clock.ts"
import { shellQuoted } from "../base/text.ts"
import { Failure } from "../domain/failure.ts"
import type { Plan } from "../domain/plan.ts"
import type { ApprovalHistory, PlanApproval } from "../store/session/contract.ts"
import { unknownId } from "./recorded-id.ts"

export interface AuthorizationRequest {
  readonly plan: Plan
  readonly where: string
  readonly approvalId: string | null
}

/** The approval under which this very plan may run now. Throws E002 or E003 with the reason when there is none. */
export function authorizationOf(
  approvals: ApprovalHistory,
  { plan, where, approvalId }: AuthorizationRequest,
  now: number,
): PlanApproval {
  // What was piped in is in no file that is known here.
  const file = where === "-" ? "FILE" : shellQuoted(where)
  const refuse = (code: "E002" | "E003", message: string) =>
    new Failure({
      kind: "denied",
      code,
      message,
      where,
      hint: `look at it with \`acode plan show ${file}\`, then \`acode plan approve ${file}\``,
    })
  const isOver = ({ hasEnded, approvedAt, expiresAt }: PlanApproval) =>
    hasEnded || Date.parse(expiresAt) <= now || now < Date.parse(approvedAt)
  const over = ({ hasEnded, approvedAt, expiresAt }: PlanApproval) =>
    !hasEnded && now < Date.parse(approvedAt)
      ? refuse("E002", `the clock says ${toIso(now)}, which is before the plan was approved at ${approvedAt}`)
      : refuse("E002", `the approval of this plan ended at ${expiresAt}`)
  if (approvalId !== null) {
    const named = approvals.findPlan(approvalId)
    if (named === null) throw unknownId(approvalId, "planApproval")
    if (named.planId !== plan.planId)
      throw refuse("E003", `the approval is of the plan "${named.planId}", and this is "${plan.planId}"`)
    if (named.planHash !== plan.hash) throw refuse("E002", changed(named))
    if (isOver(named)) throw over(named)
    return named
  }
  const fitting = approvals.plansApproved({ planHash: plan.hash })
  const current = fitting.find(approval => !isOver(approval))
  if (current !== undefined) return current
  const [last] = fitting
  if (last !== undefined) throw over(last)
  const [other] = approvals.plansApproved({ planId: plan.planId })
  throw refuse("E002", other === undefined ? `nobody has approved this plan (${plan.hash})` : changed(other))
}

function changed({ planHash, approvedAt }: PlanApproval): string {
  return `the plan was changed after its approval of ${toIso(Date.parse(approvedAt))}, which is of ${planHash}`
}
