import { systemIds, toIso } from "../../base/clock.ts"
import { shellQuoted } from "../../base/text.ts"
import { toApprovalSettings } from "../../config/settings.ts"
import { newEvent } from "../../domain/events/definition.ts"
import { SessionStarted } from "../../domain/events/session-events.ts"
import { Failure } from "../../domain/failure.ts"
import { concreteSteps } from "../../domain/plan/order.ts"
import { type Plan, reachOfSteps, resourcesOf } from "../../domain/plan/plan.ts"
import { planFailure } from "../../domain/plan/problem.ts"
import { type PlanWatcher, type RunnablePlan, runPlan } from "../../engine/lanes/plan-lane.ts"
import type { PlanReport } from "../../engine/lanes/plan-result.ts"
import type { ApprovalDesk, SessionLog } from "../../gate/contract.ts"
import { recordText } from "../../gate/recorded.ts"
import { driveSession } from "../../gate/session-log.ts"
import type { Store } from "../../store/contract.ts"
import { processIdentity } from "../../store/process-identity.ts"
import { whyEnded } from "../../store/session/approvals.ts"
import type { ApprovalHistory, PlanApproval } from "../../store/session/contract.ts"
import { readGitState } from "../../workspace/git.ts"
import { type ApprovalPrompt, approvalDesk } from "../approval-desk.ts"
import { unknownId } from "../recorded-id.ts"
import { userName } from "../user-name.ts"
import { codeTools } from "../wiring/code-tools.ts"
import { sessionDiffStat } from "../wiring/diffstat.ts"
import { wireGate } from "../wiring/gate.ts"
import { sweepOrphans, tidyUp } from "../wiring/upkeep.ts"
import type { Wiring } from "../wiring/wire.ts"

interface AuthorizationRequest {
  readonly plan: Plan
  readonly where: string
  readonly approvalId: string | null
}

/** Returns the approval under which exactly this plan may run now. Throws E002 or E003 with the reason without one. */
export function authorizationOf(
  approvals: ApprovalHistory,
  { plan, where, approvalId }: AuthorizationRequest,
  now: number,
): PlanApproval {
  // A plan from standard input has no known file name.
  const file = where === "-" ? "FILE" : shellQuoted(where)
  const refuse = (code: "E002" | "E003", message: string) =>
    new Failure({
      kind: "denied",
      code,
      message,
      where,
      hint: `read it with \`acode plan show ${file}\`, then \`acode plan approve ${file}\``,
    })
  const over = (approval: PlanApproval) => {
    const why = whyEnded(approval, now)
    return why === null ? null : refuse("E002", `the approval of this plan ${why}`)
  }
  if (approvalId !== null) {
    const named = approvals.findPlan(approvalId)
    if (named === null) throw unknownId(approvalId, "planApproval")
    if (named.planId !== plan.planId)
      throw refuse("E003", `the approval is of the plan "${named.planId}", and this is "${plan.planId}"`)
    if (named.planHash !== plan.hash) throw refuse("E002", changed(named))
    const ended = over(named)
    if (ended !== null) throw ended
    return named
  }
  const fitting = approvals.plansApproved({ planHash: plan.hash })
  const current = fitting.find(approval => whyEnded(approval, now) === null)
  if (current !== undefined) return current
  const [last] = fitting
  const ended = last === undefined ? null : over(last)
  if (ended !== null) throw ended
  const [other] = approvals.plansApproved({ planId: plan.planId })
  throw refuse(
    "E002",
    other === undefined ? `this plan has not been approved (${plan.hash})` : changed(other),
  )
}

function changed({ planHash, approvedAt }: PlanApproval): string {
  return `the plan was changed after its approval of ${toIso(Date.parse(approvedAt))}, which is of ${planHash}`
}

/** An approval of a plan, and whether the plan may be run under it now. */
export interface ShownPlanApproval extends PlanApproval {
  readonly id: string
  readonly state: "valid" | "revoked" | "ended"
}

/** The plan lane: approve exactly this plan, run exactly this plan. */
export interface PlanVerbs {
  /** Records the approval, after `show` has received what the plan could reach. */
  approvePlan(plan: Plan, forMs: number, show: (reach: string) => void): Promise<PlanApproval>
  /** Approvals of plans, newest first. */
  planApprovals(): Promise<readonly ShownPlanApproval[]>
  /** Ends an approval, also for a run that is under way: it makes no further step. */
  revokePlan(approvalId: string, reason: string | null): Promise<ShownPlanApproval>
  runPlan(request: PlanRunRequest): Promise<PlanReport>
}

export interface PlanRunRequest {
  readonly plan: Plan
  /** The place the plan was read from, for messages. */
  readonly where: string
  /** The approval to use; null for any that matches. */
  readonly approvalId: string | null
  readonly watcher: PlanWatcher
  readonly signal: AbortSignal
  /** True when a person can answer `prompt`. */
  readonly isInteractive: boolean
  readonly prompt: ApprovalPrompt
  readonly notice: (text: string) => void
}

export function planVerbs(wiring: Wiring): PlanVerbs {
  return {
    approvePlan: (plan, forMs, show) => approve(wiring, plan, forMs, show),
    planApprovals: async () => {
      const store = await wiring.existingStore()
      if (store === null) return []
      store.noteChanged(() => store.assertAnchored())
      return store.approvals.plansApproved({}).map(each => shown(each, wiring.clock.now()))
    },
    revokePlan: async (approvalId, reason) => {
      const store = await wiring.store()
      store.assertAnchored()
      const revoked = store.approvals.revokePlan({ approvalId, by: userName(), reason })
      store.anchor()
      return shown(revoked, wiring.clock.now())
    },
    runPlan: request => run(wiring, request),
  }
}

function shown(approval: PlanApproval, now: number): ShownPlanApproval {
  const isOver = whyEnded(approval, now) !== null
  const state = approval.revoked !== null ? "revoked" : isOver ? "ended" : "valid"
  return { id: approval.approvalId, state, ...approval }
}

async function approve(
  wiring: Wiring,
  plan: Plan,
  forMs: number,
  show: (reach: string) => void,
): Promise<PlanApproval> {
  const steps = runnableSteps(plan, plan.planId)
  const isConfined = await wiring.hasSandbox()
  show(reachOfSteps(plan, isConfined))
  const store = await wiring.store()
  store.assertAnchored()
  const approval = store.approvals.approvePlan({
    approvalId: systemIds.next("apr"),
    planId: plan.planId,
    planHash: plan.hash,
    approver: userName(),
    stepCount: steps.length,
    expiresAt: toIso(wiring.clock.now() + forMs),
    isUnconfined: !isConfined,
  })
  store.anchor()
  return approval
}

async function run(wiring: Wiring, request: PlanRunRequest): Promise<PlanReport> {
  const { plan, watcher, signal } = request
  wiring.stopping = signal
  const steps = runnableSteps(plan, request.where)
  const store = await wiring.store()
  store.assertAnchored()
  const authorization = authorizationOf(store.approvals, request, wiring.clock.now())
  const { isUnconfined } = authorization
  const lane = { plan, steps, grant: { ...resourcesOf(plan), exact: [], isUnconfined, isUnseen: false } }
  const session = driveSession(
    { log: store.log, leases: store.leases, owner: processIdentity() },
    systemIds.next("ses"),
  )
  try {
    await start(wiring, store, session, lane, authorization)
    const { workspace } = await wiring.workspace()
    const { timeoutMs } = toApprovalSettings((await wiring.config()).values)
    const desk = deskOf(wiring, store, session.sessionId, { ...request, timeoutMs })
    const gate = await wireGate(wiring, session, desk, request.notice)
    const { clock, faults } = wiring
    const { code } = codeTools(wiring)
    const whyRevoked = () => {
      const revoked = store.approvals.revocationOf(authorization.approvalId)
      return revoked === null ? null : `the approval of the plan was revoked by ${revoked.by}`
    }
    const result = await runPlan(
      { log: session, gate, workspace, code, clock, faults, whyRevoked },
      lane,
      watcher,
      signal,
    )
    if (!signal.aborted) await tidyUp(wiring, request.notice)
    return { ...result, changes: await sessionDiffStat(wiring, store, session.sessionId) }
  } finally {
    session.release()
    store.anchor()
  }
}

function deskOf(
  wiring: Wiring,
  { approvals }: Store,
  sessionId: string,
  {
    isInteractive,
    prompt,
    notice,
    timeoutMs,
  }: Pick<PlanRunRequest, "isInteractive" | "prompt" | "notice"> & { readonly timeoutMs: number | null },
): ApprovalDesk {
  return approvalDesk({
    sessionId,
    approvals,
    isInteractive,
    prompt,
    notice,
    by: userName(),
    clock: wiring.clock,
    timeoutMs,
    // A plan run is never resumed, so the answer to an open question would never be used.
    whenNobody: "deny",
  })
}

async function start(
  wiring: Wiring,
  store: Store,
  session: SessionLog,
  { plan, steps }: RunnablePlan,
  approval: PlanApproval,
): Promise<void> {
  await sweepOrphans(wiring)
  const { workspace } = await wiring.workspace()
  const redactor = await wiring.redactor([])
  const { policyVersion } = await wiring.policy()
  const { worktreeId, repoSha } = readGitState(wiring.root.path)
  session.append([
    newEvent(SessionStarted, {
      lane: "plan",
      goal: plan.goal,
      planId: plan.planId,
      planHash: plan.hash,
      approvalId: approval.approvalId,
      plan: recordText(redactor.redactText(JSON.stringify(plan.tasks)), store.artifacts),
      stepCount: steps.length,
      intent: plan.intent,
      evidenceReferenced: [...plan.evidenceReferenced],
      policyVersion,
      agent: null,
      treeDigest: (await workspace.tree()).digest,
      outputs: [...wiring.ownOutputs],
      worktreeId,
      repoSha,
      owner: processIdentity(),
    }),
  ])
}

function runnableSteps(plan: Plan, where: string): RunnablePlan["steps"] {
  const ordered = concreteSteps(plan)
  if ("problems" in ordered) throw planFailure(ordered.problems, where)
  return ordered.steps
}
