import { ToolCallRequested, ToolCallSettled, ToolCallStarted } from "../events/call-events.ts"
import { dataOf, type NewEvent } from "../events/definition.ts"
import { StepRefused } from "../events/pipeline-events.ts"
import { ContextTrimmed, ModelRequested, TurnFinished } from "../events/turn-events.ts"
import { toolsOfKind } from "../plan/tool-traits.ts"
import type { Stage } from "../stage.ts"
import { isRedactedPath } from "../text/redacted-json.ts"
import { DirectoryModes, violationCodes } from "../tool-call.ts"
import type { StepFailure } from "./action.ts"
import { withStep } from "./fold-stages.ts"
import { withLeftOut } from "./left-out.ts"
import { plannerAnswer } from "./planner-reply.ts"
import type { Contents, PipelineEvent } from "./recorded-event.ts"
import { isTooLong } from "./retry.ts"
import type { ChangedPaths, OpenCall, PipelineState, Turn, TurnCall } from "./state.ts"
import { correctedScales } from "./token-scale.ts"
import { spentTokens, usedMore } from "./token-usage.ts"

export function applyTurn(state: PipelineState, event: PipelineEvent, contents: Contents): PipelineState {
  const refused = dataOf(StepRefused, event)
  if (refused !== null)
    return withCall(state, refused.modelCallId, call => ({
      ...call,
      result: { outcome: "refused", certainty: "notDone", text: refused.reason, digest: refused.reason },
    }))
  const trimmed = dataOf(ContextTrimmed, event)
  if (trimmed !== null) return { ...state, told: withLeftOut(state.told, trimmed.leftOut ?? []) }
  const requested = dataOf(ModelRequested, event)
  if (requested !== null)
    return { ...state, estimatedTokens: requested.estimatedTokens, told: toldNow(state) }
  const finished = dataOf(TurnFinished, event)
  if (finished === null) return state
  const turn: Turn = {
    turn: finished.turn,
    seq: event.seq,
    atMs: Date.parse(event.at),
    text: contents.text(finished.text),
    calls: finished.calls.map(({ id, tool, arguments: args, argsDigest }) => ({
      id,
      tool,
      argsDigest,
      arguments: contents.json(args),
      result: null,
    })),
    output: finished.output === null ? null : contents.json(finished.output),
    problems: finished.problems,
    isCutOff: finished.isCutOff === true,
    failure: finished.failure,
  }
  const { input, output } = finished.usage
  return {
    ...state,
    turns: [...state.turns, turn],
    answer: finished.stage === "planner" && turn.output !== null ? plannerAnswer(turn.output) : state.answer,
    replyCount: state.replyCount + (finished.replyIndex === null ? 0 : 1),
    tokens: state.tokens + input + output,
    spentTokens: state.spentTokens + spentTokens(finished.usage, state.estimatedTokens, turn),
    usage: usedMore(state.usage, finished.stage, finished.usage),
    tokenScales: correctedScales(state, finished.stage, input),
    tooLong: canBeShorter(finished.failure) ? shorter(state, finished.stage) : state.tooLong,
    cutOff: turn.isCutOff ? onceMore(state, finished.stage) : state.cutOff,
  }
}

function toldNow({ turns, settings, told }: PipelineState): PipelineState["told"] {
  return {
    ...told,
    turnSeq: turns.at(-1)?.seq ?? 0,
    windowTokens: settings.selection?.executor.windowTokens ?? null,
  }
}

function canBeShorter(failure: Turn["failure"]): boolean {
  return failure !== null && isTooLong(failure.kind) && failure.retryable
}

/**
 * Reduces the request size for a stage: a server that finds a request too long would reject the next one of that size
 * too.
 */
function shorter({ tooLong, estimatedTokens }: PipelineState, stage: Stage): PipelineState["tooLong"] {
  const known = tooLong[stage] ?? Number.POSITIVE_INFINITY
  return { ...tooLong, [stage]: Math.min(known, estimatedTokens) }
}

function onceMore({ cutOff }: PipelineState, stage: Stage): PipelineState["cutOff"] {
  return { ...cutOff, [stage]: (cutOff[stage] ?? 0) + 1 }
}

/**
 * Updates a call. Calls are found by the id that the model gave them, newest turn first: some models count from 1 in
 * every turn, and some give two calls of one turn the same id, of which the first without a result is the one.
 */
function withCall(
  state: PipelineState,
  modelCallId: string,
  change: (call: TurnCall) => TurnCall,
): PipelineState {
  const isMeant = ({ id, result }: TurnCall) => id === modelCallId && result === null
  const turnAt = state.turns.findLastIndex(({ calls }) => calls.some(isMeant))
  const turn = state.turns[turnAt]
  const callAt = turn?.calls.findIndex(isMeant) ?? -1
  const call = turn?.calls[callAt]
  if (turn === undefined || call === undefined) return state
  const changed = { ...turn, calls: turn.calls.with(callAt, change(call)) }
  return { ...state, turns: state.turns.with(turnAt, changed) }
}

const fileReaders = toolsOfKind("read")

type Settled = NewEvent<typeof ToolCallSettled>["data"]

export function applyCall(state: PipelineState, event: PipelineEvent, contents: Contents): PipelineState {
  const requested = dataOf(ToolCallRequested, event)
  if (requested !== null) {
    const { callId, canonicalTool, origin } = requested
    const { modelCallId, stepId } = origin
    const isRead = canonicalTool !== null && fileReaders.has(canonicalTool)
    const call = { callId, modelCallId, stepId, effectClass: null, isRead }
    return { ...state, openCalls: [...state.openCalls, call] }
  }
  const started = dataOf(ToolCallStarted, event)
  if (started !== null) {
    const { callId, effectClass } = started
    const mark = (call: OpenCall) => (call.callId === callId ? { ...call, effectClass } : call)
    return { ...state, openCalls: state.openCalls.map(mark) }
  }
  const settled = dataOf(ToolCallSettled, event)
  return settled === null ? state : settle(state, event, settled, contents)
}

function settle(
  state: PipelineState,
  event: PipelineEvent,
  settled: Settled,
  contents: Contents,
): PipelineState {
  const open = state.openCalls.find(({ callId }) => callId === settled.callId)
  const closed: PipelineState = {
    ...waited(state, settled.waitMs),
    openCalls: state.openCalls.filter(({ callId }) => callId !== settled.callId),
    lastChangeSeq: changeCount(settled) > 0 ? event.seq : state.lastChangeSeq,
    changed:
      state.stage?.stage === "verifier"
        ? state.changed
        : withChanges(state.changed, settled, open?.effectClass === "once"),
    touchedFiles: withTouched(state, settled, open?.isRead === true),
    unknownCall: isToBeDecided(state, settled) ? settled.callId : state.unknownCall,
  }
  // A call that did not take place is made again: the model still waits for its result, and the step for its call.
  if (open === undefined || (settled.outcome === "interrupted" && !isKnown(settled))) return closed
  const counted = countIn(closed, event.seq, settled)
  if (open.modelCallId === null) return counted
  return withCall(counted, open.modelCallId, call => ({
    ...call,
    result: {
      outcome: settled.outcome,
      certainty: settled.certainty,
      text: settled.text === null ? "" : contents.text(settled.text),
      digest: settled.resultDigest ?? settled.error?.message ?? "",
    },
  }))
}

/** The number of files that are remembered. */
const touchedMax = 100

/** Returns the touched files with those of one more call: the file it read, and the files it changed. */
function withTouched(
  { touchedFiles, stage }: PipelineState,
  { outcome, paths, changes }: Settled,
  isRead: boolean,
): readonly string[] {
  if (outcome !== "succeeded" || stage === null || stage.stage === "verifier") return touchedFiles
  const changed = changes.kind === "inline" ? changes.value.map(({ path }) => path) : []
  const now = [...new Set([...(isRead ? paths : []), ...changed])].filter(path => !isRedactedPath(path))
  if (now.length === 0) return touchedFiles
  return [...touchedFiles.filter(path => !now.includes(path)), ...now].slice(-touchedMax)
}

/**
 * Returns whether a person must decide about a call. An unknown outcome stops the session, unless a person decided
 * before the call was settled.
 */
function isToBeDecided({ openCallDecision }: PipelineState, { certainty }: Settled): boolean {
  return certainty === "unknown" && openCallDecision !== "accept"
}

/** Moves every running clock forward by the time in which acode waited for a person. */
function waited(state: PipelineState, waitMs: number): PipelineState {
  if (waitMs === 0) return state
  const { stage, steps, drivenSinceMs } = state
  return {
    ...state,
    stage: stage === null ? null : { ...stage, enteredAtMs: stage.enteredAtMs + waitMs },
    steps: steps.map(step =>
      step.status === "active" && step.startedAtMs !== null
        ? { ...step, startedAtMs: step.startedAtMs + waitMs }
        : step,
    ),
    drivenSinceMs: drivenSinceMs + waitMs,
  }
}

function isKnown({ certainty }: Settled): boolean {
  return certainty === "done" || certainty === "unknown"
}

/** Counts a call for the present step, by which the end of the step is judged. */
function countIn(state: PipelineState, seq: number, settled: Settled): PipelineState {
  const active = state.steps.find(({ status }) => status === "active")
  if (active === undefined) return state
  const { callId, outcome, executionId, error, changes } = settled
  const isRefused = outcome === "refused" || outcome === "denied" || isViolation(error?.code ?? "")
  const paths = changes.kind === "inline" ? changes.value.map(({ path }) => path) : ["…"]
  const failure = failureOf(settled)
  return withStep(state, active.index, step => ({
    ...step,
    callCount: step.callCount + (failure === null ? 1 : 0),
    commandCount: step.commandCount + (executionId === null ? 0 : 1),
    changedPaths: [...new Set([...step.changedPaths, ...paths])],
    lastCommand: executionId === null ? step.lastCommand : { seq, failure },
    lastCall: { callId, failure },
    refusalCode: isRefused ? (error?.code ?? "ACODE-EXEC-005") : step.refusalCode,
  }))
}

/**
 * Returns whether a code means a violation: a path that leads out of the workspace was refused, whatever the tool
 * reports.
 */
function isViolation(code: string): boolean {
  return violationCodes.has(code)
}

/** Returns the failure of a call. A call with an unknown outcome that turned out to be done counts as done. */
function failureOf({ outcome, error }: Settled): StepFailure | null {
  if (outcome === "succeeded" || outcome === "interrupted") return null
  const { code, message } = error ?? { code: "ACODE-EXEC-001", message: `the call was ${outcome}` }
  return { code, message }
}

function withChanges(before: ChangedPaths, settled: Settled, isOnce: boolean): ChangedPaths {
  const { changes, directories, uncovered, certainty } = settled
  const files = changes.kind === "inline" ? changes.value.map(({ path }) => path) : null
  const folders = directories === undefined ? [] : directoriesIn(directories)
  const others = uncovered?.paths.map(({ path }) => path.replace(/\/$/, "")) ?? []
  const isNamed = (uncovered?.count ?? 0) === others.length && (uncovered?.unwatched.length ?? 0) === 0
  const paths = [...(files ?? []), ...(folders ?? []), ...others].filter(path => !before.paths.has(path))
  const isComplete = files !== null && folders !== null && isNamed && certainty !== "unknown"
  return {
    paths: paths.length === 0 ? before.paths : new Set([...before.paths, ...paths]),
    isComplete: before.isComplete && isComplete && !paths.some(isRedactedPath),
    hasReachedOut: before.hasReachedOut || isOnce,
  }
}

/** Returns null if the event does not hold the directories. */
function directoriesIn(recorded: NonNullable<Settled["directories"]>): readonly string[] | null {
  const parsed = recorded.kind === "inline" ? DirectoryModes().safeParse(recorded.value) : null
  return parsed?.success === true ? parsed.data.map(([path]) => path) : null
}

function changeCount({ changes }: Settled): number {
  return changes.kind === "inline" ? changes.value.length : changes.count
}
