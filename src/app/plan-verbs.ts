import { systemIds, toIso } from "../base/clock.ts"
import { newEvent } from "../domain/event-definition.ts"
import type { Plan } from "../domain/plan.ts"
import { concreteSteps } from "../domain/plan-order.ts"
import { planFailure } from "../domain/plan-problem.ts"
import { reachOfSteps, resourcesOf } from "../domain/plan-resources.ts"
import { SessionStarted } from "../domain/session-events.ts"
import { type PlanWatcher, type RunnablePlan, runPlan } from "../engine/plan-lane.ts"
import type { PlanReport } from "../engine/plan-result.ts"
import type { ApprovalDesk, SessionLog } from "../gate/contract.ts"
import { recordText } from "../gate/recorded.ts"
import { driveSession } from "../gate/session-log.ts"
import type { Store } from "../store/contract.ts"
import { processIdentity } from "../store/process-identity.ts"
import type { PlanApproval } from "../store/session/contract.ts"
import { readGitState } from "../workspace/git.ts"
import { type ApprovalPrompt, approvalDesk } from "./approval-desk.ts"
import { toApprovalSettings } from "./config-settings.ts"
import { authorizationOf } from "./plan-authorization.ts"
import { sweepOrphans, tidyUp } from "./upkeep.ts"
import { userName } from "./user-name.ts"
import type { Wiring } from "./wire.ts"
import { sessionDiffStat } from "./wire-diffstat.ts"
import { wireGate } from "./wire-gate.ts"

/** The plan lane: approve exactly this plan, run exactly this plan. */
export interface PlanVerbs {
  /** Records it after `show` was given what the plan could reach. */
  approvePlan(plan: Plan, forMs: number, show: (reach: string) => void): Promise<PlanApproval>
  runPlan(request: PlanRunRequest): Promise<PlanReport>
}

export interface PlanRunRequest {
  readonly plan: Plan
  /** Where it was read from, for messages. */
  readonly where: string
  /** Which approval is meant; null for any that fits. */
  readonly approvalId: string | null
  readonly watcher: PlanWatcher
  readonly signal: AbortSignal
  /** Whether somebody is there to be asked, and how. */
  readonly isInteractive: boolean
  readonly prompt: ApprovalPrompt
  readonly notice: (text: string) => void
}

export function planVerbs(wiring: Wiring): PlanVerbs {
  return {
    approvePlan: (plan, forMs, show) => approve(wiring, plan, forMs, show),
    runPlan: request => run(wiring, request),
  }
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
    const result = await runPlan({ log: session, gate, workspace, clock, faults }, lane, watcher, signal)
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
    ...{
      sessionId,
      approvals,
      isInteractive,
      prompt,
      notice,
      by: userName(),
      clock: wiring.clock,
      timeoutMs,
    },
    // A plan run is never taken up again, so a question that stays open would never be of use.
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
      policyVersion,
      agent: null,
      treeDigest: (await workspace.tree()).digest,
      outputs: [...wiring.ownOutputs],
      ...{ worktreeId, repoSha },
      owner: processIdentity(),
    }),
  ])
}

function runnableSteps(plan: Plan, where: string): RunnablePlan["steps"] {
  const ordered = concreteSteps(plan)
  if ("problems" in ordered) throw planFailure(ordered.problems, where)
  return ordered.steps
}
