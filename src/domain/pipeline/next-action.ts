import { unreachable } from "../../base/assert.ts"
import type { Action } from "./action.ts"
import { overspent } from "./budget.ts"
import { completionOf } from "./completion.ts"
import { escalate, withoutStep } from "./escalation.ts"
import { nextForExecutor } from "./next-for-executor.ts"
import { nextForPlanner } from "./next-for-planner.ts"
import { nextForReviewer } from "./next-for-reviewer.ts"
import { nextForVerifier } from "./next-for-verifier.ts"
import type { PipelineState, StageRun } from "./state.ts"
import { stageDeadlineMs, stepDeadlineMs } from "./time.ts"

/** The one decision of the pipeline: total, and the same for the same state and time. */
export function nextAction(state: PipelineState, nowMs: number): Action {
  // A session can rest with an open call, until a person says what is to become of it.
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

/** The first stage, the one the last move leads to, or the one that ended without a move and is tried again. */
function enter(state: PipelineState): Action {
  const { moved, history } = state
  if (moved === null) return { kind: "enterStage", stage: "planner", attempt: 0, feedback: [] }
  if (moved.to === "complete") return { kind: "complete", end: completionOf(state) }
  const attempt = moved.isRetry ? (history.at(-1)?.attempt ?? -1) + 1 : 0
  return { kind: "enterStage", stage: moved.to, attempt, feedback: moved.feedback }
}

/** Work that a deadline stops. What is done already is still recorded, and a person who is asked has no deadline. */
const timed: ReadonlySet<Action["kind"]> = new Set([
  "askModel",
  "startStep",
  "callTools",
  "callStep",
  "runChecks",
])

function late(state: PipelineState, { stage }: StageRun, nowMs: number): Action | null {
  const { limits } = state.settings
  if (isOver(stageDeadlineMs(state), nowMs))
    return escalate(stage, "TimeoutLimit", 20, {
      reason: `the ${stage} did not end within ${(limits.stageTimeoutMs[stage] ?? 0) / 1000} s`,
      advice: moreTime(
        `${stage}-timeout`,
        `orchestration.${stage}_timeout_seconds`,
        limits.stageTimeoutMs[stage] ?? 0,
      ),
      status: "timeout",
    })
  if (!isOver(stepDeadlineMs(state), nowMs)) return null
  const active = state.steps.find(({ status }) => status === "active")
  return escalate(stage, "TimeoutLimit", 34, {
    reason: `step ${active?.step.id} did not end within ${limits.stepTimeoutMs / 1000} s`,
    advice: `${moreTime("executor-step-timeout", "executor.step_timeout_seconds", limits.stepTimeoutMs)}; ${withoutStep}`,
    status: "timeout",
  })
}

/** A model that is slow once is slow always: without the second way it would be late in the next session as well. */
function moreTime(flag: string, key: string, limitMs: number): string {
  const seconds = Math.max(1, Math.ceil(limitMs / 500))
  return `give it more time: \`acode resume --${flag} ${seconds}\`; and every session: \`acode config set ${key} ${seconds}\``
}

function isOver(deadlineMs: number | null, nowMs: number): boolean {
  return deadlineMs !== null && nowMs >= deadlineMs
}

function unknown({ stage }: PipelineState, callId: string): Action {
  return escalate(stage?.stage ?? "executor", "Unrecoverable", 60, {
    reason: `nobody can know whether the call ${callId} took effect: acode ended while it ran`,
    advice:
      "look at what it reaches; `acode resume` goes on with what is there, `acode cancel` ends the session, " +
      "`acode session undo` puts back what it changed, `acode checkpoint list` shows what is kept",
    status: null,
  })
}
