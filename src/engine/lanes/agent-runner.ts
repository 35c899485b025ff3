import { unreachable } from "../../base/assert.ts"
import { ApprovalRequested } from "../../domain/events/call-events.ts"
import { newEvent } from "../../domain/events/definition.ts"
import { SessionPaused } from "../../domain/events/pipeline-events.ts"
import { SessionRested } from "../../domain/events/session-events.ts"
import { isStopped } from "../../domain/failure.ts"
import type { Action } from "../../domain/pipeline/action.ts"
import { isUnverified } from "../../domain/pipeline/completion.ts"
import { deadlineMs } from "../../domain/pipeline/limits.ts"
import { nextAction } from "../../domain/pipeline/next-action.ts"
import type { Rest } from "../../domain/pipeline/state.ts"
import type { AgentParts, ControlRequest } from "../agent-parts.ts"
import { settleForResume } from "./agent-recovery.ts"
import { judge, runChecks } from "./perform-checks.ts"
import { askAboutPlan, askAboutReview, awaitAnswer, proposePlan } from "./perform-plan.ts"
import { cancelSession, complete, enterStage, escalateNow, move } from "./perform-stages.ts"
import { callStep, callTools, explore, finishStep, refuseStep, startStep } from "./perform-steps.ts"
import { askModel, type RawArguments } from "./perform-turns.ts"

/**
 * The signals that stop the process of a session: the first finishes the running action, the second stops that as
 * well.
 */
export interface Stopping {
  /** No new action begins. */
  readonly drain: AbortSignal
  /** The running action is ended. */
  readonly stop: AbortSignal
  /** Returns which signal came first; a person's Ctrl-C if that is unknown. */
  readonly cause?: () => StopCause | null
}

export type StopCause = "SIGINT" | "SIGTERM" | "SIGHUP" | "closedOutput"

/**
 * Drives a session until it rests or has ended: folds its events, computes the next action, performs it, appends the
 * result. Recovery is the same loop: a process that died left events, and the next action follows from them.
 */
export async function driveAgent(parts: AgentParts, stopping: Stopping): Promise<Rest> {
  const raw: RawArguments = new Map()
  for (let actions = 0; actions < actionsMax; actions++) {
    const { state } = parts.session
    const action = nextAction(state, parts.clock.now())
    if (action.kind === "rest") return restOf(parts)
    try {
      await act(parts, action, stopping, raw)
    } catch (error) {
      if (!isStopped(error) || !stopping.drain.aborted) throw error
      // The log has nothing of the interrupted action, or an open call that is settled when the session continues.
      await obey(parts, interruptions[stopping.cause?.() ?? "SIGINT"], 130)
      return restOf(parts)
    }
  }
  throw new Error(`the session did not stop within ${actionsMax} actions`)
}

async function act(
  parts: AgentParts,
  action: Exclude<Action, { kind: "rest" }>,
  stopping: Stopping,
  raw: RawArguments,
): Promise<void> {
  if (action.kind === "settleCall") return settleForResume(parts, action.call)
  if (stopping.drain.aborted) return obey(parts, interruptions[stopping.cause?.() ?? "SIGINT"], 130)
  const asked = parts.control()
  if (asked !== null) return obey(parts, asked, 22)
  using limits = limitsOf(parts, action, stopping)
  await perform(parts, action, limits, raw)
  parts.faults.reach("agent.performed")
}

/** A number far beyond the limits of any session: reaching it means that the limits are wrong. */
const actionsMax = 1_000_000

const interruptions: Readonly<Record<StopCause, ControlRequest>> = {
  SIGINT: { control: "pause", by: "the person at the terminal", reason: "interrupted" },
  SIGTERM: { control: "pause", by: "SIGTERM", reason: "its process received a signal to end" },
  SIGHUP: { control: "pause", by: "SIGHUP", reason: "its terminal was closed" },
  closedOutput: { control: "pause", by: "a closed pipe", reason: "the reader of its output is gone" },
}

async function perform(
  parts: AgentParts,
  action: Exclude<Action, { kind: "rest" | "settleCall" }>,
  limits: Limits,
  raw: RawArguments,
): Promise<void> {
  const { signal } = limits
  switch (action.kind) {
    case "enterStage":
      return enterStage(parts, action)
    case "askModel":
      return askModel(parts, action, limits, raw)
    case "explore":
      return explore(parts, action, signal, raw)
    case "proposePlan":
      return proposePlan(parts, action)
    case "askAboutPlan":
      return askAboutPlan(parts, action.plan, signal)
    case "askAboutReview":
      return askAboutReview(parts, action.summary, signal)
    case "awaitAnswer":
      return awaitAnswer(parts, action.approvalId, signal)
    case "startStep":
      return startStep(parts, action.step)
    case "callTools":
      return callTools(parts, action, signal, raw)
    case "callStep":
      return callStep(parts, action.step, signal)
    case "refuseStep":
      return refuseStep(parts, action)
    case "finishStep":
      return finishStep(parts, action)
    case "runChecks":
      return runChecks(parts, action.checks, signal)
    case "judge":
      return judge(parts, action)
    case "move":
      return move(parts, action)
    case "escalate":
      return escalateNow(parts, action)
    case "complete":
      return complete(parts, action.end)
    case "cancel":
      return cancelSession(parts, action.answer.by, action.answer.reason ?? "stopped at a question")
    default:
      return unreachable(action)
  }
}

async function obey(
  parts: AgentParts,
  { control, by, reason }: ControlRequest,
  exitCode: number,
): Promise<void> {
  if (control === "cancel") {
    await cancelSession(parts, by, reason)
    return
  }
  const told = `paused by ${by}: ${reason}`
  const unverified = isUnverified(parts.session.state)
  const rest = { state: "PAUSED" as const, reason: told, exitCode, unverified }
  parts.session.append([newEvent(SessionPaused, { by, reason }), newEvent(SessionRested, rest)])
}

interface Limits extends Disposable {
  /** Fires when the running action must end. */
  readonly signal: AbortSignal
  /**
   * Returns a signal for waiting, which also fires when the session should rest. Created only for that, because it
   * costs.
   */
  readonly waiting: () => AbortSignal
}

/**
 * Ends the running action when its time is over, when the person insists, or when another process cancels the
 * session. Time in which a person is asked is not counted, and a pause does not wait for their answer.
 */
function limitsOf(
  { session, clock, control }: AgentParts,
  { kind }: Action,
  { drain, stop }: Stopping,
): Limits {
  const deadline = deadlineMs(session.state)
  const limits = new AbortController()
  const stopNow = () => limits.abort(stop.reason)
  if (stop.aborted) stopNow()
  // Not a combined signal: one would be created for every action, and a listener costs less.
  else stop.addEventListener("abort", stopNow)
  let paused: AbortController | null = null
  let leftMs = deadline === null ? Number.POSITIVE_INFINITY : deadline - clock.now()
  let lastMs = clock.monotonicMs()
  const look = () => {
    const nowMs = clock.monotonicMs()
    if (session.lastType !== ApprovalRequested.type) leftMs -= nowMs - lastMs
    lastMs = nowMs
    const asked = control()
    if (asked !== null) paused?.abort()
    const isStopped = asked?.control === "cancel" || (asked !== null && questions.has(kind))
    if (leftMs > 0 && !isStopped) timer = setTimeout(look, soon())
    else limits.abort(isStopped ? "control" : "deadline")
  }
  const soon = () => Math.max(0, Math.min(leftMs, lookEveryMs))
  let timer = setTimeout(look, soon())
  return {
    signal: limits.signal,
    waiting: () => {
      paused = new AbortController()
      return AbortSignal.any([drain, limits.signal, paused.signal])
    },
    [Symbol.dispose]: () => {
      clearTimeout(timer)
      stop.removeEventListener("abort", stopNow)
    },
  }
}

const lookEveryMs = 200

const questions: ReadonlySet<Action["kind"]> = new Set(["askAboutPlan", "askAboutReview", "awaitAnswer"])

function restOf({ session: { state } }: AgentParts): Rest {
  const rest = state.finished ?? state.rest
  if (rest === null) throw new Error("a session without a next action rests or has ended")
  return rest
}
