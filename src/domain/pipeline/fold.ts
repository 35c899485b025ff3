import { dataOf, type NewEvent } from "../events/definition.ts"
import {
  EscalationRaised,
  RequestAdded,
  SessionCancelled,
  SessionPaused,
  SessionResumed,
} from "../events/pipeline-events.ts"
import { SessionFinished, SessionRested, SessionStarted } from "../events/session-events.ts"
import type { PipelineSettings } from "../pipeline-settings.ts"
import { isQuestion } from "./completion.ts"
import { applyPlan, applyStage, applyStep, skippableSteps } from "./fold-stages.ts"
import { applyCall, applyTurn } from "./fold-turns.ts"
import { nothingTold } from "./left-out.ts"
import type { Contents, PipelineEvent } from "./recorded-event.ts"
import { activeState, type Exchange, type PipelineState, type Rest, type StepState } from "./state.ts"
import { noUsage } from "./token-usage.ts"

/** Returns the state of a session after all of its events. Null before it has started, and for other lanes. */
export function fold(events: Iterable<PipelineEvent>, contents: Contents): PipelineState | null {
  let state: PipelineState | null = null
  for (const event of events) state = applyEvent(state, event, contents)
  return state
}

/** Returns the state after one more event. Events that do not concern the pipeline leave it unchanged. */
export function applyEvent(
  state: PipelineState | null,
  event: PipelineEvent,
  contents: Contents,
): PipelineState | null {
  const started = dataOf(SessionStarted, event)
  if (started !== null) return started.agent === null ? null : initial(event, started.goal, started.agent)
  if (state === null) return null
  return parts.reduce((before, apply) => apply(before, event, contents), state)
}

const parts = [applySession, applyStage, applyPlan, applyStep, applyTurn, applyCall]

function initial(event: PipelineEvent, request: string, settings: PipelineSettings): PipelineState {
  return {
    sessionId: event.stream,
    request,
    requestSeq: event.seq,
    exchanges: [],
    settings,
    state: "CREATED",
    ...nothingDoneYet(),
    lastRest: null,
    history: [],
    plans: [],
    openCalls: [],
    replyCount: 0,
    touchedFiles: [],
    tokens: 0,
    spentTokens: 0,
    usage: noUsage,
    told: nothingTold,
    estimatedTokens: 0,
    tokenScales: new Map(),
    tooLong: {},
    cutOff: {},
    drivenSinceMs: Date.parse(event.at),
  }
}

/** The part of the state that belongs to one request. */
function nothingDoneYet() {
  return {
    rest: null,
    finished: null,
    stage: null,
    moved: null,
    cycles: { "verifier→executor": 0, "reviewer→executor": 0, "reviewer→planner": 0 },
    steps: [],
    answer: null,
    turns: [],
    escalation: null,
    unknownCall: null,
    openCallDecision: null,
    verification: null,
    lastVerification: null,
    lastChangeSeq: 0,
    changed: { paths: new Set<string>(), isComplete: true, hasReachedOut: false },
    knownFiles: [],
    failedChecks: new Set<string>(),
  } as const
}

/**
 * Begins another request. Nothing that was approved, counted or verified for an earlier one counts for it; what was
 * read and what came of the earlier requests stays known.
 */
function addRequest(state: PipelineState, event: PipelineEvent, text: string): PipelineState {
  const { exchanges, plans, request, answer, changed } = state
  const carriedOut = plans.findLast(({ seq, isApproved }) => isApproved && seq > state.requestSeq)
  const exchange: Exchange = {
    request,
    goal: carriedOut?.plan.goal ?? null,
    answer: isQuestion(state) ? answer : null,
    result: state.finished?.reason ?? state.lastRest ?? "it was interrupted",
    changedPaths: [...changed.paths].slice(0, changedPathsMax),
  }
  return {
    ...state,
    ...nothingDoneYet(),
    lastRest: null,
    request: text,
    requestSeq: event.seq,
    exchanges: [...exchanges, exchange],
    plans: plans.map(plan => ({ ...plan, isApproved: false, question: null })),
    state: "PLANNING",
  }
}

const changedPathsMax = 20

function applySession(state: PipelineState, event: PipelineEvent): PipelineState {
  const rested = dataOf(SessionRested, event)
  if (rested !== null) return { ...state, state: rested.state, rest: endOf(rested) }
  const finished = dataOf(SessionFinished, event)
  if (finished !== null) return { ...state, state: finished.state, rest: null, finished: endOf(finished) }
  const paused = dataOf(SessionPaused, event)
  if (paused !== null) return { ...state, state: "PAUSED", rest: ended("PAUSED", paused.reason, 22) }
  const cancelled = dataOf(SessionCancelled, event)
  if (cancelled !== null) {
    const end = ended("CANCELLED", cancelled.reason, 23)
    return { ...state, state: "CANCELLED", rest: null, finished: end }
  }
  const escalated = dataOf(EscalationRaised, event)
  if (escalated !== null) {
    const { stage, level } = escalated
    return { ...state, escalation: { stage, level } }
  }
  const added = dataOf(RequestAdded, event)
  if (added !== null) return addRequest(state, event, added.text)
  const resumed = dataOf(SessionResumed, event)
  return resumed === null ? state : resume(state, event, resumed)
}

function endOf({ state, reason, exitCode, unverified }: Rest): Rest {
  return { state, reason, exitCode, unverified }
}

/**
 * Ends or pauses a session. A person's decision holds at once, even if acode ends before recording how the session
 * rests.
 */
function ended(state: Rest["state"], reason: string, exitCode: number): Rest {
  return { state, reason, exitCode, unverified: true }
}

type Resumed = NewEvent<typeof SessionResumed>["data"]

/**
 * Resumes a session. Only a person who resumes a resting session has seen why it rests; a process that takes over a
 * dead one has not.
 */
function resume(
  state: PipelineState,
  event: PipelineEvent,
  { settings, skipsFailed, redoesCommand = false }: Resumed,
): PipelineState {
  const isSeen = state.rest !== null
  // Not after a pause: only a person whom the open call itself stopped was shown which paths are in question.
  const isKnown = isSeen && state.openCalls.length > 0 && state.escalation?.level === "Unrecoverable"
  const skipped = skipsFailed ? skippableSteps(state) : []
  const again = (step: StepState): StepState => {
    if (skipped.includes(step)) return { ...step, status: "skipped" }
    return isSeen && step.status === "failed" ? { ...step, status: "pending" } : step
  }
  return {
    ...state,
    settings,
    state: activeState(state),
    rest: null,
    lastRest: state.rest?.reason ?? state.lastRest,
    escalation: null,
    // Turns about a skipped step do not help the next one.
    turns: skipped.some(({ status }) => status === "active") ? [] : state.turns,
    unknownCall: isSeen ? null : state.unknownCall,
    openCallDecision: redoesCommand ? "redo" : isKnown ? "accept" : null,
    steps: state.steps.map(again),
    // Another model or a server with a larger window may be used now; otherwise the limit is found again.
    tooLong: {},
    cutOff: {},
    drivenSinceMs: Date.parse(event.at),
  }
}
