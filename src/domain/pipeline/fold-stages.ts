import { canonicalJson } from "../../base/canonical.ts"
import { ApprovalAnswered, type ApprovalKind, ApprovalRequested } from "../events/call-events.ts"
import { dataOf, type NewEvent } from "../events/definition.ts"
import {
  CheckFinished,
  CycleStarted,
  PlanProposed,
  StageEntered,
  StageFinished,
  StageTransitioned,
  StepRefused,
} from "../events/pipeline-events.ts"
import { PlanApproved, StepFinished, StepStarted } from "../events/session-events.ts"
import { orderedSteps } from "../plan/order.ts"
import type { Plan, PlanStep, PlanTask } from "../plan/plan.ts"
import { readPlan } from "../plan/reading.ts"
import { backwardEdge, type Stage } from "../stage.ts"
import { answerIn } from "./claim.ts"
import { checkKey } from "./progress.ts"
import type { Contents, PipelineEvent } from "./recorded-event.ts"
import {
  activeState,
  type PersonsAnswer,
  type PipelineState,
  type PlanVersion,
  type PutQuestion,
  type StageRun,
  type StepState,
} from "./state.ts"

export function applyStage(state: PipelineState, event: PipelineEvent): PipelineState {
  const entered = dataOf(StageEntered, event)
  if (entered !== null) return enter(state, entered.stage, runOf(state, event, entered))
  const finished = dataOf(StageFinished, event)
  if (finished !== null) {
    const { stage, attempt, status } = finished
    const history = [...state.history, { stage, attempt, status, seq: event.seq }]
    // A later move replaces this; without one, the stage is entered again when the session continues.
    const moved = { to: stage, feedback: state.stage?.feedback ?? [], isRetry: true }
    return { ...state, stage: null, moved, history }
  }
  const moved = dataOf(StageTransitioned, event)
  if (moved !== null) {
    const { from, to, feedback } = moved
    return { ...state, moved: { to, feedback, isRetry: from === to } }
  }
  const cycle = dataOf(CycleStarted, event)
  if (cycle !== null) return startCycle(state, cycle.from, cycle.to, cycle.fixes)
  const check = dataOf(CheckFinished, event)
  return check === null ? state : addCheck(state, event.seq, check)
}

function runOf(
  { tokens }: PipelineState,
  event: PipelineEvent,
  entered: Pick<StageRun, "stage" | "attempt" | "feedback" | "checks">,
): StageRun {
  const { stage, attempt, feedback, checks } = entered
  return {
    stage,
    attempt,
    feedback,
    checks,
    enteredAtMs: Date.parse(event.at),
    enteredSeq: event.seq,
    tokensBefore: tokens,
    question: null,
  }
}

/** Enters a stage. The executor keeps the turns of an unfinished step, but counts them from here. */
function enter(before: PipelineState, stage: Stage, run: StageRun): PipelineState {
  const turns = stage === "executor" ? before.turns : []
  const state: PipelineState = { ...before, stage: run, moved: null, turns }
  const entered = { ...state, state: activeState(state) }
  if (stage !== "verifier") return entered
  // After a rest a person may have fixed something: the same failure again is then not a lack of progress.
  const lastVerification = run.attempt > 0 ? null : before.verification
  return { ...entered, verification: null, lastVerification }
}

/** Starts a cycle. Finished steps stay finished; each task that needs a fix gets one more step. */
function startCycle(
  state: PipelineState,
  from: Stage,
  to: Stage,
  fixes: readonly { readonly taskId: string; readonly stepId: string; readonly description: string }[],
): PipelineState {
  const edge = backwardEdge(from, to)
  const cycles = edge === null ? state.cycles : { ...state.cycles, [edge]: state.cycles[edge] + 1 }
  const added = fixes.flatMap((fix, offset) => fixStep(state, fix, state.steps.length + offset) ?? [])
  return { ...state, cycles, turns: [], steps: [...state.steps, ...added] }
}

function fixStep(
  { steps }: PipelineState,
  fix: { readonly taskId: string; readonly stepId: string; readonly description: string },
  index: number,
): StepState | null {
  const task = steps.find(step => step.task.id === fix.taskId)?.task
  if (task === undefined) return null
  return newStep(
    task,
    {
      kind: "open",
      id: fix.stepId,
      title: "fix what was found",
      description: fix.description,
      action: "FIX",
      dependsOn: [],
    },
    index,
  )
}

function addCheck(
  state: PipelineState,
  seq: number,
  check: NonNullable<ReturnType<typeof dataOf<typeof CheckFinished>>>,
): PipelineState {
  const { criterionId, taskId, kind, verdict, reason, treeDigest, treeAfter, paths = [] } = check
  const checks = [...(state.verification?.checks ?? [])]
  const last = checks.findIndex(each => each.criterionId === criterionId && each.taskId === taskId)
  const result = {
    seq,
    criterionId,
    taskId,
    kind,
    verdict,
    reason,
    treeDigest,
    paths,
    hasChangedTree: treeAfter !== undefined,
    runs: (checks[last]?.runs ?? 0) + 1,
  }
  checks.splice(last === -1 ? checks.length : last, last === -1 ? 0 : 1, result)
  const failedChecks =
    verdict === "failed" ? new Set([...state.failedChecks, checkKey(check)]) : state.failedChecks
  return { ...state, failedChecks, verification: { seq, treeDigest: treeAfter ?? treeDigest, checks } }
}

/** Returns a step for which nothing has been done. */
export function newStep(task: PlanTask, step: PlanStep, index: number): StepState {
  return { task, step, index, status: "pending", attempts: 0, startedAtMs: null, ...nothingDone }
}

/** Returns whether the same step, with the same text, is done already, so that a new plan does not repeat it. */
export function isSameDoneStep(old: StepState, task: PlanTask, step: PlanStep): boolean {
  return old.task.id === task.id && old.status === "done" && canonicalJson(old.step) === canonicalJson(step)
}

const nothingDone = {
  callCount: 0,
  changedPaths: [],
  commandCount: 0,
  lastCommand: null,
  refusedSeq: 0,
  lastCall: null,
  refusalCode: null,
  summary: null,
} as const

export function applyStep(state: PipelineState, event: PipelineEvent): PipelineState {
  const started = dataOf(StepStarted, event)
  if (started !== null)
    return {
      ...withStep(state, started.index, step => ({
        ...step,
        status: "active",
        attempts: step.attempts + 1,
        startedAtMs: Date.parse(event.at),
        ...nothingDone,
      })),
      turns: [],
      knownFiles: state.touchedFiles,
    }
  const refused = dataOf(StepRefused, event)
  if (refused !== null) {
    const mark = (step: StepState): StepState =>
      step.status === "active" ? { ...step, refusedSeq: event.seq } : step
    return { ...state, steps: state.steps.map(mark) }
  }
  const finished = dataOf(StepFinished, event)
  if (finished === null) return state
  const said = finished.success ? answerIn(state.turns) : null
  const ended = withStep(state, finished.index, step => ({ ...end(step, finished), summary: said }))
  return { ...ended, answer: said ?? state.answer, turns: [] }
}

/** Returns the steps that failed, and the step in whose middle the session stopped without progress. */
export function skippableSteps({ steps, escalation, rest }: PipelineState): readonly StepState[] {
  const isStuck = rest !== null && escalation?.stage === "executor" && escalation.level !== "BudgetLimit"
  return steps.filter(({ status }) => status === "failed" || (isStuck && status === "active"))
}

/** Ends a step. The reason of a failure stays with it, for the step that fixes it. */
function end(step: StepState, { success, callId, code, message }: Finished): StepState {
  if (success) return { ...step, status: "done" }
  const failure = code === null || message === null ? null : { code, message }
  return { ...step, status: "failed", lastCall: { callId: callId ?? step.lastCall?.callId ?? "", failure } }
}

type Finished = NewEvent<typeof StepFinished>["data"]

export function withStep(
  state: PipelineState,
  index: number,
  change: (step: StepState) => StepState,
): PipelineState {
  return { ...state, steps: state.steps.map(step => (step.index === index ? change(step) : step)) }
}

/** Applies events about plans, and questions about plans and reviews. */
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

/** Reads a recorded plan. It was valid when it was recorded, whichever tools exist today. */
function planOf(contents: Contents, recorded: Parameters<Contents["json"]>[0]): Plan | null {
  const reading = readPlan(JSON.stringify(contents.json(recorded)), { check: () => [] })
  return "plan" in reading ? reading.plan : null
}

/** Ends a session whose plan redaction made unreadable: proposing it again and again would never end. */
function unreadable(state: PipelineState): PipelineState {
  const problems = ["the recorded plan is not valid; perhaps a secret in it was redacted"]
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

/** Returns the steps of a new plan. A done step stays done if the new plan has the very same step. */
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

/**
 * Applies an answer; the first one counts. Granting a plan approves it, even if acode ended before recording that.
 */
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

/** Records an answer to a resting session. It does not wake the session: a person has to resume it. */
function unrested(state: PipelineState): PipelineState {
  return state.rest === null ? active(state) : state
}
