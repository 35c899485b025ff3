import { ApprovalAnswered, type ApprovalKind, ApprovalRequested } from "../call-events.ts"
import { dataOf } from "../event-definition.ts"
import type { Plan } from "../plan.ts"
import { orderedSteps } from "../plan-order.ts"
import { readPlan } from "../plan-reading.ts"
import { PlanApproved } from "../session-events.ts"
import { activeState } from "./active-state.ts"
import { isSameDoneStep, newStep } from "./fold-steps.ts"
import { PlanProposed } from "./pipeline-events.ts"
import type { Contents, PipelineEvent } from "./recorded-event.ts"
import type { PersonsAnswer, PipelineState, PlanVersion, PutQuestion, StepState } from "./state.ts"

/** Plans, and the questions that are put about plans and reviews. */
export function applyPlan(state: PipelineState, event: PipelineEvent, contents: Contents): PipelineState {
  const proposed = dataOf(PlanProposed, event)
  if (proposed !== null) {
    const plan = planOf(contents, proposed.plan)
    if (plan === null) return unreadable(state)
    const version: PlanVersion = {
      version: proposed.version,
      seq: event.seq,
      plan: { ...plan, hash: proposed.planHash },
      checks: proposed.checks ?? [],
      isApproved: false,
      isUnconfined: false,
      isUnseen: false,
      question: null,
    }
    return { ...state, plans: [...state.plans, version] }
  }
  const approved = dataOf(PlanApproved, event)
  if (approved !== null) {
    if (state.plans.at(-1)?.plan.hash !== approved.planHash) return state
    const { isUnconfined = false, isUnseen = true } = approved
    return withNewestPlan(approveNewest(state), plan => ({ ...plan, isUnconfined, isUnseen }))
  }
  const requested = dataOf(ApprovalRequested, event)
  if (requested !== null)
    return ask(state, requested.kind, { approvalId: requested.approvalId, answer: null })
  const answered = dataOf(ApprovalAnswered, event)
  return answered === null ? state : withAnswer(state, answered.approvalId, answered)
}

/** The plan was valid when it was recorded; which tools there are today does not change what it was. */
function planOf(contents: Contents, recorded: Parameters<Contents["json"]>[0]): Plan | null {
  const reading = readPlan(JSON.stringify(contents.json(recorded)), { check: () => [] })
  return "plan" in reading ? reading.plan : null
}

/** What is recorded is redacted, which can leave no plan; proposing it again and again would never end. */
function unreadable(state: PipelineState): PipelineState {
  const problems = ["what was recorded of the plan is not a plan: does it contain a secret?"]
  const turns = state.turns.map((turn, index) =>
    index === state.turns.length - 1 ? { ...turn, output: null, problems } : turn,
  )
  return { ...state, turns }
}

function approveNewest(state: PipelineState): PipelineState {
  const newest = state.plans.at(-1)
  if (newest === undefined || newest.isApproved) return state
  const approved = withNewestPlan(state, plan => ({ ...plan, isApproved: true }))
  return { ...approved, steps: stepsOf(newest.plan, state.steps) }
}

/** What is done stays done, as long as the new plan has the very same step. */
function stepsOf(plan: Plan, before: readonly StepState[]): readonly StepState[] {
  return orderedSteps(plan).map(({ task, step, index }) => {
    const same = before.find(old => isSameDoneStep(old, task, step))
    return same === undefined ? newStep(task, step, index) : { ...same, task, index }
  })
}

function ask(state: PipelineState, kind: ApprovalKind, question: PutQuestion): PipelineState {
  if (kind === "plan") return active(withNewestPlan(state, plan => ({ ...plan, question })))
  if (kind === "review" && state.stage !== null)
    return active({ ...state, stage: { ...state.stage, question } })
  return state
}

function active(state: PipelineState): PipelineState {
  return { ...state, state: activeState(state) }
}

function withNewestPlan(state: PipelineState, change: (plan: PlanVersion) => PlanVersion): PipelineState {
  const newest = state.plans.at(-1)
  return newest === undefined ? state : { ...state, plans: [...state.plans.slice(0, -1), change(newest)] }
}

/** The first answer counts. Granting a plan is approving it, also when acode ended before it could say so. */
function withAnswer(state: PipelineState, approvalId: string, given: PersonsAnswer): PipelineState {
  const { answer, by, reason } = given
  const isAbout = (question: PutQuestion | null) =>
    question !== null && question.approvalId === approvalId && question.answer === null
  const question: PutQuestion = { approvalId, answer: { answer, by, reason } }
  const { stage } = state
  if (stage !== null && isAbout(stage.question)) return unrested({ ...state, stage: { ...stage, question } })
  if (!isAbout(state.plans.at(-1)?.question ?? null)) return state
  const answered = withNewestPlan(state, plan => ({ ...plan, question }))
  return unrested(answer === "granted" ? approveNewest(answered) : answered)
}

/** An answer that comes while the session rests does not wake it: somebody has to resume it. */
function unrested(state: PipelineState): PipelineState {
  return state.rest === null ? active(state) : state
}
