import { dataOf } from "../events/definition.ts"
import {
  CycleStarted,
  RequestAdded,
  SessionResumed,
  StageEntered,
  StageTransitioned,
} from "../events/pipeline-events.ts"
import { SessionFinished, SessionRested, SessionStarted, SessionUndone } from "../events/session-events.ts"
import { exitCodes } from "../exit-codes.ts"
import { cyclesAllowed } from "../pipeline-settings.ts"
import { isAllowed, transitions } from "../stage.ts"
import { endsWithAnswer, staleness } from "./completion.ts"
import { applyEvent } from "./fold.ts"
import type { Contents, PipelineEvent } from "./recorded-event.ts"
import type { PipelineState } from "./state.ts"

export interface ValidationProblem {
  /** The event that breaks a rule. */
  readonly seq: number
  readonly what: string
}

/**
 * Returns where the events of a session break the rules of acode: numbers without a gap, only moves that exist, and
 * done only after every stage. Other lanes have only their numbers to check.
 */
export function sessionProblems(
  events: readonly PipelineEvent[],
  contents: Contents,
): readonly ValidationProblem[] {
  const problems: ValidationProblem[] = []
  let state: PipelineState | null = null
  let isEnded = false
  for (const [index, event] of events.entries()) {
    const wrong = [
      ...orderProblems(event, index, events[0]?.stream ?? ""),
      ...(isEnded && !isAfterTheEnd(events, index) ? [`${event.type} after the session has ended`] : []),
      ...(state === null ? [] : [...moveProblems(state, event), ...endProblems(state, event)]),
    ]
    problems.push(...wrong.map(what => ({ seq: event.seq, what })))
    if (event.type === RequestAdded.type) isEnded = false
    isEnded ||= event.type === SessionFinished.type
    state = applyEvent(state, event, contents)
  }
  return problems
}

/** An ended session may still be undone, and resumed with another request. */
function isAfterTheEnd(events: readonly PipelineEvent[], index: number): boolean {
  const [type, next] = [events[index]?.type, events[index + 1]?.type]
  if (type === SessionResumed.type) return next === RequestAdded.type
  return type === SessionUndone.type || type === RequestAdded.type
}

function orderProblems(event: PipelineEvent, index: number, stream: string): readonly string[] {
  const isFirst = index === 0
  return [
    ...(event.seq === index + 1 ? [] : [`it has number ${event.seq} instead of ${index + 1}`]),
    ...(event.stream === stream ? [] : [`it belongs to ${event.stream}`]),
    ...(isFirst === (event.type === SessionStarted.type)
      ? []
      : [isFirst ? "a session begins with session.started" : "the session starts a second time"]),
  ]
}

function moveProblems(state: PipelineState, event: PipelineEvent): readonly string[] {
  const { stage, moved, settings, cycles, rest, history } = state
  const transition = dataOf(StageTransitioned, event)
  if (transition !== null) {
    const { from, to } = transition
    if (!isAllowed(from, to))
      return [`${from} moves to ${to}; it may move to ${transitions[from].join(", ")}`]
    if (to === "complete" && from !== "reviewer" && !endsWithAnswer(state))
      return [`${from} moves to complete, and the request is not a question`]
    return history.at(-1)?.stage === from ? [] : [`${from} moves to ${to} and is not the stage that ended`]
  }
  const entered = dataOf(StageEntered, event)
  if (entered !== null) {
    const expected = moved?.to ?? "planner"
    if (stage !== null) return [`the ${entered.stage} is entered before the ${stage.stage} has ended`]
    return entered.stage === expected ? [] : [`the ${entered.stage} is entered instead of the ${expected}`]
  }
  const cycle = dataOf(CycleStarted, event)
  if (cycle !== null) {
    const before = Object.entries(cycles).find(([edge]) => edge === `${cycle.from}→${cycle.to}`)?.[1]
    if (before === undefined) return [`${cycle.from} cannot go back to ${cycle.to}`]
    const allowed = cyclesAllowed(settings.limits)
    return before < allowed ? [] : [`cycle ${before + 1} from ${cycle.from} to ${cycle.to} of ${allowed}`]
  }
  return rest === null || quiet.has(event.type) ? [] : [`${event.type} while the session rests`]
}

/** Events that wake a resting session, or may be recorded about it without waking it. */
const quiet: ReadonlySet<string> = new Set([
  SessionResumed.type,
  SessionRested.type,
  SessionFinished.type,
  SessionUndone.type,
  "session.paused",
  "session.cancelled",
  "approval.answered",
  "plan.approved",
  // Calls that a dead process left open are settled before anything else happens.
  "tool_call.settled",
  "command.finished",
])

/**
 * Returns the problems of an end: a session is done only after every stage, with the tree that was verified, and with
 * nothing left open.
 */
function endProblems(state: PipelineState, event: PipelineEvent): readonly string[] {
  const finished = dataOf(SessionFinished, event)
  if (finished === null) return []
  const open = state.openCalls.map(({ callId }) => `the session ends while the call ${callId} is open`)
  if (finished.state !== "COMPLETED")
    return finished.exitCode === exitCodes.done.code ? [...open, "it exits 0 but is not done"] : open
  const lastStage = state.history.at(-1)?.stage
  if (endsWithAnswer(state) && lastStage !== "reviewer")
    return finished.unverified ? open : [...open, "an answer is recorded as verified"]
  const stale = staleness(state)
  const isReviewed = lastStage === "reviewer" && state.history.at(-1)?.status === "success"
  const verified = state.verification?.treeDigest ?? null
  const isOther = !finished.unverified && finished.treeDigest !== verified
  return [
    ...open,
    ...(finished.exitCode === exitCodes.unverified.code && !finished.unverified
      ? ["it exits 41 but is recorded as verified"]
      : []),
    ...(stale === null ? [] : [`it is recorded as done, but ${stale}`]),
    ...(isReviewed ? [] : ["it is recorded as done without a review that approves"]),
    ...(isOther ? ["it is recorded as done with another tree than the one that was verified"] : []),
  ]
}
