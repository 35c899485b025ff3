import type * as z from "zod/mini"
import {
  type ApprovalAnswer,
  ApprovalAnswered,
  ApprovalRequested,
  ToolCallRequested,
  ToolCallSettled,
  ToolCallStarted,
} from "../events/call-events.ts"
import type { EventDefinition } from "../events/definition.ts"
import { CycleStarted, EscalationRaised, SessionResumed, StageEntered } from "../events/pipeline-events.ts"
import {
  type Lane,
  PlanApproved,
  SessionFinished,
  SessionRested,
  SessionStarted,
  type SessionState,
  SessionUndone,
  StepFinished,
  StepStarted,
} from "../events/session-events.ts"
import type {
  Certainty,
  EffectClass,
  FileChange,
  RecordedCallError,
  ToolOutcome,
  UncoveredChanges,
} from "../tool-call.ts"
import {
  emptyPipeline,
  type PipelineView,
  type PlanQuestion,
  withAnswer,
  withPipelineEvent,
} from "./pipeline-view.ts"

/** One event of a session: its data, its time, and its position in the stream. */
export interface SessionEvent {
  readonly seq: number
  readonly at: string
  readonly type: string
  readonly data: unknown
}

/** A session as people see it: everything here was read from its events and from nowhere else. */
export interface SessionView {
  readonly id: string
  readonly lane: Lane | null
  readonly goal: string
  readonly state: SessionState
  /** Null while it runs. */
  readonly reason: string | null
  readonly exitCode: number | null
  readonly unverified: boolean
  /** The answer of the model to a question; null if the goal was not a question. */
  readonly answer: string | null
  readonly planId: string | null
  readonly planHash: string | null
  /** The approval of the plan. */
  readonly approvalId: string | null
  readonly stepCount: number
  readonly steps: readonly StepView[]
  readonly calls: readonly CallView[]
  readonly approvals: readonly ApprovalView[]
  /** The pipeline of an agent session; null for other lanes. */
  readonly pipeline: PipelineView | null
  readonly startedAt: string | null
  readonly endedAt: string | null
  /** The time when all of its changes were restored. */
  readonly undoneAt: string | null
  /** The last time when only some of its changes were restored. */
  readonly partlyUndoneAt: string | null
}

export interface StepView {
  readonly id: string
  readonly taskId: string
  /** The number of its plan, counted from 1 as they were approved; 0 in a plan run, whose plan is older than it. */
  readonly planNumber: number
  readonly index: number
  /** The number of steps of that plan, fixes included. */
  readonly stepCount: number
  readonly title: string
  readonly tool: string
  readonly stepKey: string
  /** `open` until the step has ended: it runs, or was left when the process died. A person may skip it then. */
  readonly outcome: "open" | "succeeded" | "failed" | "interrupted" | "skipped"
  /** The evidence of its call; null if it never made one. */
  readonly evidenceId: string | null
  readonly code: string | null
  readonly message: string | null
  readonly startedAt: string
  readonly endedAt: string | null
  readonly durationMs: number | null
  readonly waitMs: number | null
}

export interface ApprovalView {
  readonly id: string
  readonly callId: string | null
  readonly stepId: string | null
  readonly operation: string
  readonly level: number
  readonly requestedAt: string
  readonly answer: ApprovalAnswer | null
  readonly answeredBy: string | null
  readonly answeredAt: string | null
  readonly reason: string | null
}

/** Returns what a session did, from its events. Later events add; what is missing has not happened. */
export function sessionView(id: string, events: readonly SessionEvent[]): SessionView {
  const draft: Draft = {
    head: nothingYet(id),
    planQuestion: null,
    stepCounts: [],
    isStuck: false,
    steps: new Map(),
    calls: new Map(),
    approvals: new Map(),
  }
  for (const event of events) folds.get(event.type)?.(draft, event)
  const { head, planQuestion } = draft
  const pipeline = head.lane === "agent" ? events.reduce(withPipelineEvent, emptyPipeline) : null
  const counts = [...draft.stepCounts, head.stepCount]
  const steps = [...draft.steps.values()].map(step => ({ ...step, stepCount: counts[step.planNumber] ?? 0 }))
  return {
    ...head,
    // Nothing of an ended session runs any more: an open step was interrupted.
    steps: head.endedAt === null ? steps : steps.map(interruptedIfOpen),
    calls: [...draft.calls.values()],
    approvals: [...draft.approvals.values()],
    pipeline:
      pipeline === null || planQuestion === null
        ? pipeline
        : withAnswer(pipeline, planQuestion, draft.approvals.get(planQuestion.approvalId)),
  }
}

type Head = Omit<SessionView, "steps" | "calls" | "approvals" | "pipeline">

interface Draft {
  head: Head
  /** The last question about a plan. */
  planQuestion: PlanQuestion | null
  /** The step counts of the plans before the present one, oldest first; empty before the first plan. */
  stepCounts: readonly number[]
  /** True if the session stopped in the middle of a step without progress. */
  isStuck: boolean
  readonly steps: Map<string, StepView>
  readonly calls: Map<string, CallView>
  readonly approvals: Map<string, ApprovalView>
}

type Fold = (draft: Draft, event: SessionEvent) => void

function nothingYet(id: string): Head {
  return {
    id,
    lane: null,
    goal: "",
    state: "CREATED",
    reason: null,
    exitCode: null,
    unverified: false,
    answer: null,
    planId: null,
    planHash: null,
    approvalId: null,
    stepCount: 0,
    startedAt: null,
    endedAt: null,
    undoneAt: null,
    partlyUndoneAt: null,
  }
}

const folds: ReadonlyMap<string, Fold> = new Map([
  on(SessionStarted, (draft, { lane, goal, planId, planHash, approvalId, stepCount }, at) => {
    const started = { lane, goal, planId, planHash, approvalId, stepCount, startedAt: at }
    draft.head = { ...draft.head, ...started }
  }),
  on(EscalationRaised, (draft, { stage, level }) => {
    draft.isStuck = stage === "executor" && level !== "BudgetLimit"
  }),
  on(SessionResumed, (draft, { skipsFailed }) => {
    for (const [key, step] of draft.steps)
      if (skipsFailed && isSkippable(step, draft)) draft.steps.set(key, { ...step, outcome: "skipped" })
    draft.isStuck = false
    const notUndone = { undoneAt: null, partlyUndoneAt: null }
    const running = { state: "EXECUTING", reason: null, exitCode: null, answer: null, endedAt: null } as const
    draft.head = { ...draft.head, ...running, ...notUndone }
  }),
  on(StageEntered, (draft, { stage }) => {
    draft.head = { ...draft.head, state: stage === "planner" ? "PLANNING" : "EXECUTING" }
  }),
  on(PlanApproved, (draft, { planId, planHash, approvalId, stepCount }) => {
    draft.stepCounts = [...draft.stepCounts, draft.head.stepCount]
    draft.head = { ...draft.head, planId, planHash, approvalId, stepCount }
  }),
  on(CycleStarted, (draft, { fixes }) => {
    draft.head = { ...draft.head, stepCount: draft.head.stepCount + fixes.length }
  }),
  on(SessionRested, (draft, { state, reason, exitCode, unverified }) => {
    draft.head = { ...draft.head, state, reason, exitCode, unverified }
  }),
  on(SessionFinished, (draft, { state, reason, exitCode, unverified, answer = null }, at) => {
    draft.head = { ...draft.head, state, reason, exitCode, unverified, answer, endedAt: at }
  }),
  on(SessionUndone, (draft, { foreign, blocked }, at) => {
    const isWhole = foreign.length + blocked.length === 0
    draft.head = { ...draft.head, undoneAt: isWhole ? at : null, partlyUndoneAt: isWhole ? null : at }
  }),
  on(StepStarted, (draft, { stepId, ...step }, at) => {
    draft.head = { ...draft.head, state: "EXECUTING" }
    const pending = {
      evidenceId: null,
      code: null,
      message: null,
      endedAt: null,
      durationMs: null,
      waitMs: null,
    }
    const planNumber = draft.stepCounts.length
    const begun = { id: stepId, ...step, planNumber, stepCount: 0, startedAt: at }
    draft.steps.set(keyOf(draft, step.index), { ...begun, outcome: "open", ...pending })
  }),
  on(StepFinished, (draft, { index, success, callId, code, message, durationMs, waitMs }, at) => {
    const key = keyOf(draft, index)
    const step = draft.steps.get(key)
    if (step === undefined) return
    const wasLeft = draft.calls.get(callId ?? "")?.outcome === "interrupted"
    const outcome = success ? "succeeded" : wasLeft ? "interrupted" : "failed"
    const evidenceId = callId ?? step.evidenceId
    draft.steps.set(key, { ...step, outcome, evidenceId, code, message, endedAt: at, durationMs, waitMs })
  }),
  on(ToolCallRequested, (draft, { callId, tool, canonicalTool, origin }, at) => {
    const { taskId, stepId, stepKey } = origin
    const requested = { id: callId, tool, canonicalTool, taskId, stepId, stepKey, requestedAt: at }
    draft.calls.set(callId, requestedCall(requested))
    for (const [key, step] of draft.steps)
      if (step.outcome === "open" && step.id === stepId && step.taskId === taskId)
        draft.steps.set(key, { ...step, evidenceId: callId })
  }),
  on(ToolCallStarted, (draft, { callId, effectClass, approvalId }, at) => {
    const call = draft.calls.get(callId)
    if (call !== undefined) draft.calls.set(callId, { ...call, effectClass, approvalId, startedAt: at })
  }),
  on(ToolCallSettled, (draft, settled, at) => {
    const call = draft.calls.get(settled.callId)
    if (call !== undefined) draft.calls.set(call.id, settledCall(call, settled, at))
  }),
  on(ApprovalRequested, (draft, { approvalId, callId, stepId, operation, level, kind, subjectHash }, at) => {
    if (kind === "plan") draft.planQuestion = { approvalId, planHash: subjectHash }
    const unanswered = { answer: null, answeredBy: null, answeredAt: null, reason: null }
    const asked = { id: approvalId, callId, stepId, operation, level, requestedAt: at }
    draft.approvals.set(approvalId, { ...asked, ...unanswered })
  }),
  on(ApprovalAnswered, (draft, { approvalId, answer, by, reason }, at) => {
    const asked = draft.approvals.get(approvalId)
    if (asked === undefined || asked.answer !== null) return
    draft.approvals.set(approvalId, { ...asked, answer, answeredBy: by, answeredAt: at, reason })
    if (draft.head.state !== "AWAITING_APPROVAL") return
    if ([...draft.approvals.values()].some(each => each.answer === null)) return
    draft.head = { ...draft.head, reason: answeredReason(answer, by) }
  }),
])

/**
 * Returns whether a step can be skipped: a step of the present plan that failed, or that the session stopped in.
 * Steps of older plans keep their outcome.
 */
function isSkippable({ outcome, planNumber }: StepView, { stepCounts, isStuck }: Draft): boolean {
  const hasFailed = outcome === "failed" || outcome === "interrupted"
  return planNumber === stepCounts.length && (hasFailed || (outcome === "open" && isStuck))
}

function on<Definition extends EventDefinition>(
  definition: Definition,
  fold: (draft: Draft, data: z.infer<Definition["data"]>, at: string) => void,
): readonly [string, Fold] {
  return [
    definition.type,
    (draft, { data, at }) => {
      // as: the type of an event decides the shape of its data; everything in the log was parsed with it.
      fold(draft, data as z.infer<Definition["data"]>, at)
    },
  ]
}

/** Returns the key of a step. A new plan counts its steps anew. */
function keyOf({ stepCounts }: Draft, index: number): string {
  return `${stepCounts.length}/${index}`
}

function interruptedIfOpen(step: StepView): StepView {
  return step.outcome === "open" ? { ...step, outcome: "interrupted" } : step
}

/** One tool call of a session, as people see it. */
export interface CallView {
  readonly id: string
  readonly tool: string
  readonly canonicalTool: string | null
  readonly taskId: string | null
  readonly stepId: string | null
  /** Differs between two executions of one step; null for a call that a model chose. */
  readonly stepKey: string | null
  /** Null until it was allowed to begin. */
  readonly effectClass: EffectClass | null
  readonly approvalId: string | null
  readonly outcome: ToolOutcome | "open"
  /** The certainty about its effect; null until it is settled. */
  readonly certainty: Certainty | null
  readonly error: RecordedCallError | null
  readonly exitCode: number | null
  readonly executionId: string | null
  readonly resultDigest: string | null
  readonly paths: readonly string[]
  readonly changeCount: number
  /** Empty if there are so many that they are an artifact. */
  readonly changes: readonly FileChange[]
  readonly changesArtifact: string | null
  /** Changes that cannot be restored; null if there are none. */
  readonly uncovered: UncoveredChanges | null
  readonly requestedAt: string
  readonly startedAt: string | null
  readonly settledAt: string | null
  readonly durationMs: number | null
  readonly waitMs: number | null
}

/** The part of a call that is known when it is requested. */
type CallRequestView = Pick<
  CallView,
  "id" | "tool" | "canonicalTool" | "taskId" | "stepId" | "stepKey" | "requestedAt"
>

export function requestedCall(request: CallRequestView): CallView {
  return {
    ...request,
    effectClass: null,
    approvalId: null,
    outcome: "open",
    certainty: null,
    error: null,
    exitCode: null,
    executionId: null,
    resultDigest: null,
    paths: [],
    changeCount: 0,
    changes: [],
    changesArtifact: null,
    uncovered: null,
    startedAt: null,
    settledAt: null,
    durationMs: null,
    waitMs: null,
  }
}

/** Returns the call with its outcome. Its result is in the evidence. */
export function settledCall(
  call: CallView,
  settled: z.infer<typeof ToolCallSettled.data>,
  at: string,
): CallView {
  const { outcome, certainty, error, exitCode, executionId, resultDigest, paths } = settled
  const { changes, durationMs, waitMs } = settled
  return {
    ...call,
    outcome,
    certainty,
    error,
    exitCode,
    executionId,
    resultDigest,
    paths,
    durationMs,
    waitMs,
    changeCount: changes.kind === "inline" ? changes.value.length : changes.count,
    changes: changes.kind === "inline" ? changes.value : [],
    changesArtifact: changes.kind === "inline" ? null : changes.ref,
    uncovered: settled.uncovered ?? null,
    settledAt: at,
  }
}

/**
 * Returns why a session rests after the question it rests for was answered. The answer has a separate stream, which a
 * session reads only when it is resumed.
 */
export function answeredReason(answer: ApprovalAnswer, by: string): string {
  return `answered: ${answer} by ${by}; \`acode resume\` continues`
}
