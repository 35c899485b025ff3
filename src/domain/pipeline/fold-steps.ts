import { canonicalJson } from "../../base/canonical.ts"
import { dataOf, type NewEvent } from "../event-definition.ts"
import type { PlanStep, PlanTask } from "../plan.ts"
import { StepFinished, StepStarted } from "../session-events.ts"
import { answerIn } from "./claim.ts"
import { StepRefused } from "./pipeline-events.ts"
import type { PipelineEvent } from "./recorded-event.ts"
import type { PipelineState, StepState } from "./state.ts"

/** A step that nothing has been done for. */
export function newStep(task: PlanTask, step: PlanStep, index: number): StepState {
  return { task, step, index, status: "pending", attempts: 0, startedAtMs: null, ...nothingDone }
}

/** Whether the step is done already, under this very text: then another plan that has it does not do it again. */
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
    }
  const refused = dataOf(StepRefused, event)
  if (refused !== null) {
    const mark = (step: StepState): StepState =>
      step.status === "active" ? { ...step, refusedSeq: event.seq } : step
    return { ...state, steps: state.steps.map(mark) }
  }
  const finished = dataOf(StepFinished, event)
  if (finished === null) return state
  const answer = (finished.success ? answerIn(state.turns) : null) ?? state.answer
  return { ...withStep(state, finished.index, step => end(step, finished)), answer, turns: [] }
}

/** The steps that failed, and the one in whose middle the session stopped because it led nowhere. */
export function skippableSteps({ steps, escalation, rest }: PipelineState): readonly StepState[] {
  const isStuck = rest !== null && escalation?.stage === "executor" && escalation.level !== "BudgetLimit"
  return steps.filter(({ status }) => status === "failed" || (isStuck && status === "active"))
}

/** Why it failed stays with it, for whoever has to mend it. */
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
