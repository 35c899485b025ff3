import { unreachable } from "../../base/assert.ts"
import { counted, firstLine } from "../../base/text.ts"
import type { ExitName } from "../exit-codes.ts"
import { violationCodes } from "../tool-call.ts"
import type { Action } from "./action.ts"
import { claimOf, finishTool } from "./claim.ts"
import { completionOf, endsWithAnswer } from "./completion.ts"
import { escalate, longerReplies, needsPerson, withoutStep } from "./escalation.ts"
import { overspent, stageDeadlineMs, stepDeadlineMs } from "./limits.ts"
import { nextForReviewer, nextForVerifier } from "./next-for-checks.ts"
import { plannerAnswer, triesOf } from "./planner-reply.ts"
import { isGoingInCircles } from "./progress.ts"
import { atOnce, nextReply, retryAfterFailure, turnsOfRun } from "./retry.ts"
import type { PersonsAnswer, PipelineState, PlanVersion, StageRun, StepState, Turn } from "./state.ts"

/** Returns the next action: the one decision of the pipeline. Total, and equal for the same state and time. */
export function nextAction(state: PipelineState, nowMs: number): Action {
  // A session can rest with an open call until a person decides about the call.
  if (state.finished !== null || state.rest !== null) return { kind: "rest" }
  const [open] = state.openCalls
  if (open !== undefined) return { kind: "settleCall", call: open }
  if (state.unknownCall !== null) return unknown(state, state.unknownCall)
  if (state.stage === null) return enter(state)
  const beyond = overspent(state, state.stage.stage)
  if (beyond !== null) return beyond
  const action = nextInStage(state, state.stage)
  if (!timed.has(action.kind)) return action
  return late(state, state.stage, nowMs) ?? action
}

function nextInStage(state: PipelineState, run: StageRun): Action {
  switch (run.stage) {
    case "planner":
      return nextForPlanner(state, run)
    case "executor":
      return nextForExecutor(state)
    case "verifier":
      return nextForVerifier(state, run)
    case "reviewer":
      return nextForReviewer(state, run)
    default:
      return unreachable(run.stage)
  }
}

/** Enters the first stage, the target of the last move, or a stage that ended without a move and is repeated. */
function enter(state: PipelineState): Action {
  const { moved, history } = state
  if (moved === null) return { kind: "enterStage", stage: "planner", attempt: 0, feedback: [] }
  if (moved.to === "complete") return { kind: "complete", end: completionOf(state) }
  const attempt = moved.isRetry ? (history.at(-1)?.attempt ?? -1) + 1 : 0
  return { kind: "enterStage", stage: moved.to, attempt, feedback: moved.feedback }
}

/** The actions that a deadline stops. Finished work is still recorded, and waiting for a person has no deadline. */
const timed: ReadonlySet<Action["kind"]> = new Set([
  "askModel",
  "startStep",
  "explore",
  "callTools",
  "callStep",
  "runChecks",
])

function late(state: PipelineState, { stage }: StageRun, nowMs: number): Action | null {
  const { limits } = state.settings
  if (isOver(stageDeadlineMs(state), nowMs))
    return escalate(stage, "TimeoutLimit", "stageTimeout", {
      reason: `the ${stage} did not finish within ${(limits.stageTimeoutMs[stage] ?? 0) / 1000} s`,
      advice: moreTime(
        `${stage}-timeout`,
        `orchestration.${stage}_timeout_seconds`,
        limits.stageTimeoutMs[stage] ?? 0,
      ),
      status: "timeout",
    })
  if (!isOver(stepDeadlineMs(state), nowMs)) return null
  const active = state.steps.find(({ status }) => status === "active")
  return escalate(stage, "TimeoutLimit", "stepTimeout", {
    reason: `step ${active?.step.id} did not finish within ${limits.stepTimeoutMs / 1000} s`,
    advice: `${moreTime("executor-step-timeout", "executor.step_timeout_seconds", limits.stepTimeoutMs)}; ${withoutStep}`,
    status: "timeout",
  })
}

/**
 * Returns advice to raise a timeout. A slow model stays slow: the second command also raises it for the next
 * sessions.
 */
function moreTime(flag: string, key: string, limitMs: number): string {
  const seconds = Math.max(1, Math.ceil(limitMs / 500))
  return `give it more time: \`acode resume --${flag} ${seconds}\`; for every session: \`acode config set ${key} ${seconds}\``
}

function isOver(deadlineMs: number | null, nowMs: number): boolean {
  return deadlineMs !== null && nowMs >= deadlineMs
}

function unknown({ stage }: PipelineState, callId: string): Action {
  return escalate(stage?.stage ?? "executor", "Unrecoverable", "undecided", {
    reason: `it is unknown whether the call ${callId} took effect: acode ended while it ran, or its files were changed meanwhile`,
    advice:
      "check what it may have changed; `acode resume` continues with the present files, `acode cancel` ends the session, " +
      "`acode session undo` restores what it changed, `acode checkpoint list` shows the stored states",
    status: null,
  })
}

function nextForPlanner(state: PipelineState, run: StageRun): Action {
  const proposed = state.plans.findLast(({ seq }) => seq > run.enteredSeq)
  if (proposed !== undefined) return nextForProposed(state, run, proposed)
  const last = state.turns.at(-1)
  if (last !== undefined && last.output !== null) {
    if (plannerAnswer(last.output) === null)
      return { kind: "proposePlan", turn: last, version: state.plans.length + 1 }
    if (endsWithAnswer(state))
      return toEnd("planner", "the request is a question, and the planner answered it")
  }
  const open = last?.calls.filter(({ result }) => result === null) ?? []
  if (last?.failure === null && open.length > 0) return { kind: "explore", calls: open }
  return nextReply(state, "planner") ?? withoutPlan(state)
}

/** Ends a session with the answer to a question: there is nothing to verify and nothing to review. */
function toEnd(from: "planner" | "executor", reason: string): Action {
  return { kind: "move", from, to: "complete", status: "success", reason, feedback: [], fixes: [] }
}

function withoutPlan(state: PipelineState): Action {
  const tries = triesOf(state)
  const isAsked = state.settings.asksOnly === true
  const why = tries.at(-1)?.problems.join("; ") || "it only read more"
  return escalate("planner", "StageRetryLimit", "needsPerson", {
    reason: `the model returned no ${isAsked ? "answer" : "valid plan"} in ${counted(tries.length, "try", "tries")}: ${why}`,
    advice: longerReplies(state, "planner") ?? (isAsked ? askOtherwise : planOtherwise),
  })
}

const askOtherwise =
  'ask more exactly, or let it change something: `acode run "GOAL"` starts a session that may'
const planOtherwise =
  "describe the goal more exactly, or use another model (`acode models list`) with `acode resume` and --model"

function nextForProposed(state: PipelineState, run: StageRun, proposed: PlanVersion): Action {
  if (state.settings.planOnly)
    return escalate("planner", "StageFailed", "done", {
      reason: "the plan is made; nothing else was requested",
      advice: "`acode session show` shows it, `acode resume` continues",
      status: null,
    })
  if (proposed.isApproved)
    return {
      kind: "move",
      from: "planner",
      to: "executor",
      status: "success",
      reason: `plan version ${proposed.version} is approved`,
      feedback: [],
      fixes: [],
    }
  if (proposed.question === null) return { kind: "askAboutPlan", plan: proposed }
  const { answer, approvalId } = proposed.question
  if (answer === null) return { kind: "awaitAnswer", approvalId }
  return answer.answer === "stopped" ? { kind: "cancel", answer } : rejected(state, run, answer)
}

/** Returns a refused plan to the planner with the reason, as often as the stage may be repeated. */
function rejected({ settings }: PipelineState, { attempt }: StageRun, { by, reason }: PersonsAnswer): Action {
  if (attempt < settings.limits.stageRetriesMax.planner)
    return {
      kind: "move",
      from: "planner",
      to: "planner",
      status: "retry",
      reason: `${by} refused the plan`,
      feedback: [reason ?? "the plan was refused without a reason; propose another one"],
      fixes: [],
    }
  return escalate("planner", "StageRetryLimit", "denied", {
    reason: `${by} refused ${attempt + 1} plans${reason === null ? "" : `, the last one because: ${reason}`}`,
    advice: "`acode resume` asks for another plan; or start a new session with another request",
    code: needsPerson,
  })
}

function nextForExecutor(state: PipelineState): Action {
  const active = state.steps.find(({ status }) => status === "active")
  if (active !== undefined) return nextForStep(state, active)
  const ready = state.steps.find(step => step.status === "pending" && isReady(step, state.steps))
  if (ready !== undefined) return { kind: "startStep", step: ready }
  if (!state.steps.every(isFinished)) return stuck(state)
  if (endsWithAnswer(state)) return toEnd("executor", doneText(state.steps))
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

/** Returns whether the tasks and steps before a step are done; a step behind a failed one stays undone. */
function isReady({ task, step }: StepState, steps: readonly StepState[]): boolean {
  const tasksDone = task.dependsOn.every(id => steps.filter(other => other.task.id === id).every(isFinished))
  return (
    tasksDone &&
    step.dependsOn.every(id =>
      steps.filter(other => other.task.id === task.id && other.step.id === id).every(isFinished),
    )
  )
}

function isFinished({ status }: StepState): boolean {
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
  return escalate("executor", "StageFailed", exitOf(failed), {
    reason: `step ${names} failed${pending > 0 ? waiting : ""}${why.length === 0 ? "" : `: ${why.join("; ")}`}`,
    advice: `fix the cause, then \`acode resume\`; ${withoutStep}`,
  })
}

/**
 * Returns the exit of failed steps. A step that was refused what it needed failed for that reason, whatever the model
 * says.
 */
function exitOf(failed: readonly StepState[]): ExitName {
  const refusals = failed.flatMap(({ refusalCode }) => refusalCode ?? [])
  if (refusals.length === 0) return "stepFailed"
  return refusals.every(code => violationCodes.has(code)) ? "violation" : "denied"
}

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

/** Continues after a turn in which every call has its result: the model has finished the step, or is asked again. */
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
    return escalate("executor", "NoProgress", "needsPerson", {
      reason: `step ${step.id} makes no progress: ${whatRepeats(turns.at(-1))}`,
      advice:
        longerReplies(state, "executor") ??
        `read \`acode session logs\`, fix the cause by hand, then \`acode resume\`; ${withoutStep}`,
    })
  if (turns.length >= turnsMax)
    return escalate("executor", "TurnLimit", "turnLimit", {
      reason: `step ${step.id} is not finished after ${counted(turnsMax, "turn")}`,
      advice: `allow it more: \`acode resume --max-turns ${Math.min(1000, Math.max(1, turnsMax) * 2)}\`; ${withoutStep}`,
    })
  return { kind: "askModel", stage: "executor", step: active, turn: lastTurn + 1, ...atOnce }
}

function whatRepeats(last: Turn | undefined): string {
  if (last === undefined || last.calls.length > 0) return "the same calls with the same results"
  return last.problems.length > 0 ? last.problems.join("; ") : "the same answer without a call"
}
