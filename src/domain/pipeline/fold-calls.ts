import { ToolCallRequested, ToolCallSettled, ToolCallStarted } from "../call-events.ts"
import { dataOf, type NewEvent } from "../event-definition.ts"
import { isRedactedPath } from "../redacted-path.ts"
import { DirectoryModes, violationCodes } from "../tool-call.ts"
import type { StepFailure } from "./action.ts"
import { withStep } from "./fold-steps.ts"
import { withCall } from "./fold-turns.ts"
import type { Contents, PipelineEvent } from "./recorded-event.ts"
import type { ChangedPaths, OpenCall, PipelineState } from "./state.ts"

type Settled = NewEvent<typeof ToolCallSettled>["data"]

export function applyCall(state: PipelineState, event: PipelineEvent, contents: Contents): PipelineState {
  const requested = dataOf(ToolCallRequested, event)
  if (requested !== null) {
    const { callId, origin } = requested
    const { modelCallId, stepId } = origin
    return { ...state, openCalls: [...state.openCalls, { callId, modelCallId, stepId, effectClass: null }] }
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
    unknownCall: isToBeDecided(state, settled) ? settled.callId : state.unknownCall,
  }
  // What did not take place is done again: the model's call still waits for its result, and the step for its call.
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

/** What nobody can know stops the session, unless a person was asked about the call before it was settled. */
function isToBeDecided({ openCallDecision }: PipelineState, { certainty }: Settled): boolean {
  return certainty === "unknown" && openCallDecision !== "accept"
}

/** Time in which a person was waited for is nobody's fault: every clock that runs is put on by as much. */
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

/** What the present step did, which is what its end is measured by. */
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

/** A path that leads out of the workspace is no mistake like any other: whatever the tool called it, it was not let. */
function isViolation(code: string): boolean {
  return violationCodes.has(code)
}

/** What a person was told nobody can know, and what turned out to be done, goes on as done. */
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

/** Null where the event does not hold them. */
function directoriesIn(recorded: NonNullable<Settled["directories"]>): readonly string[] | null {
  const parsed = recorded.kind === "inline" ? DirectoryModes().safeParse(recorded.value) : null
  return parsed?.success === true ? parsed.data.map(([path]) => path) : null
}

function changeCount({ changes }: Settled): number {
  return changes.kind === "inline" ? changes.value.length : changes.count
}
