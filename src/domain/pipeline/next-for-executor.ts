import { counted, firstLine } from "../../base/text.ts"
import type { Action } from "./action.ts"
import { claimOf, finishTool } from "./claim.ts"
import { escalate, withoutStep } from "./escalation.ts"
import { longerReplies } from "./model-advice.ts"
import { isGoingInCircles } from "./progress.ts"
import { atOnce, retryAfterFailure, turnsOfRun } from "./retry.ts"
import type { PipelineState, StepState, Turn } from "./state.ts"

export function nextForExecutor(state: PipelineState): Action {
  const active = state.steps.find(({ status }) => status === "active")
  if (active !== undefined) return nextForStep(state, active)
  const ready = state.steps.find(step => step.status === "pending" && isReady(step, state.steps))
  if (ready !== undefined) return { kind: "startStep", step: ready }
  if (!state.steps.every(isOver)) return stuck(state)
  return {
    kind: "move",
    from: "executor",
    to: "verifier",
    status: "success",
    reason: doneText(state.steps),
    feedback: [],
    fixes: [],
  }
}

function doneText(steps: readonly StepState[]): string {
  const skipped = steps.filter(({ status }) => status === "skipped").length
  if (skipped === 0) return steps.length === 1 ? "the step is done" : `all ${steps.length} steps are done`
  return `${steps.length - skipped} of ${steps.length} steps are done, ${skipped} skipped`
}

/** Its task's tasks and its own steps before it are done; what a failed one stands before stays undone. */
function isReady({ task, step }: StepState, steps: readonly StepState[]): boolean {
  const tasksDone = task.dependsOn.every(id => steps.filter(other => other.task.id === id).every(isOver))
  return (
    tasksDone &&
    step.dependsOn.every(id =>
      steps.filter(other => other.task.id === task.id && other.step.id === id).every(isOver),
    )
  )
}

function isOver({ status }: StepState): boolean {
  return status === "done" || status === "skipped"
}

function stuck({ steps }: PipelineState): Action {
  const failed = steps.filter(({ status }) => status === "failed")
  const pending = steps.filter(({ status }) => status === "pending").length
  const waiting = pending === 1 ? ", and 1 step waits for it" : `, and ${pending} steps wait for it`
  const names = failed.map(({ step }) => step.id).join(", ")
  const why = failed
    .flatMap(({ lastCall }) => lastCall?.failure?.message ?? [])
    .map(each => firstLine(each, 300))
  return escalate("executor", "StageFailed", Math.max(30, ...failed.map(exitCodeOf)), {
    reason: `step ${names} failed${pending > 0 ? waiting : ""}${why.length === 0 ? "" : `: ${why.join("; ")}`}`,
    advice: `fix what it says, then \`acode resume\`; ${withoutStep}`,
  })
}

/** A step that was not allowed what it needed failed for that reason, whatever the model says. */
function exitCodeOf({ refusalCode }: StepState): number {
  if (refusalCode === null) return 30
  return violations.has(refusalCode) ? 32 : 33
}

const violations: ReadonlySet<string> = new Set(["ACODE-SEC-003", "ACODE-SEC-005", "ACODE-EXEC-004"])

function nextForStep(state: PipelineState, active: StepState): Action {
  if (active.step.kind === "concrete") {
    const { lastCall } = active
    if (lastCall === null) return { kind: "callStep", step: active }
    return { kind: "finishStep", step: active, failure: lastCall.failure }
  }
  const last = state.turns.at(-1)
  if (last === undefined) return { kind: "askModel", stage: "executor", step: active, turn: 1, ...atOnce }
  if (last.failure !== null) return retryAfterFailure(state, last, last.failure, "executor", active)
  const open = last.calls.filter(({ tool, result }) => result === null && tool !== finishTool)
  if (open.length > 0) return { kind: "callTools", step: active, turn: last, calls: open }
  return nextAfterTurn(state, active, last.turn)
}

/** Every call of the last turn has its result: either the model says the step is finished, or it is asked again. */
function nextAfterTurn(state: PipelineState, active: StepState, lastTurn: number): Action {
  const claim = claimOf(active, state.turns)
  if (claim !== null) {
    const { modelCallId, problem, failure } = claim
    if (problem !== null) return { kind: "refuseStep", step: active, modelCallId, reason: problem }
    return { kind: "finishStep", step: active, failure }
  }
  const { step } = active
  const { turnsMax } = state.settings.limits
  const turns = turnsOfRun(state).filter(({ failure }) => failure === null)
  if (isGoingInCircles(turns))
    return escalate("executor", "NoProgress", 22, {
      reason: `step ${step.id}, again and again: ${whatRepeats(turns.at(-1))}`,
      advice:
        longerReplies(state, "executor") ??
        `look at \`acode session logs\`, help it along by hand, then \`acode resume\`; ${withoutStep}`,
    })
  if (turns.length >= turnsMax)
    return escalate("executor", "TurnLimit", 31, {
      reason: `step ${step.id} is not finished after ${counted(turnsMax, "turn")}`,
      advice: `allow it more: \`acode resume --max-turns ${Math.min(1000, Math.max(1, turnsMax) * 2)}\`; ${withoutStep}`,
    })
  return { kind: "askModel", stage: "executor", step: active, turn: lastTurn + 1, ...atOnce }
}

function whatRepeats(last: Turn | undefined): string {
  if (last === undefined || last.calls.length > 0) return "the same calls with the same results"
  return last.problems.length > 0 ? last.problems.join("; ") : "the same answer without a call"
}
