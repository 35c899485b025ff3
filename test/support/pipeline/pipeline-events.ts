import type { Json } from "../../../src/base/canonical.ts"
import {
  ApprovalAnswered,
  ApprovalRequested,
  ToolCallRequested,
  ToolCallSettled,
  ToolCallStarted,
} from "../../../src/domain/events/call-events.ts"
import { type NewEvent, newEvent } from "../../../src/domain/events/definition.ts"
import {
  CheckFinished,
  CycleStarted,
  EscalationRaised,
  PlanProposed,
  SessionResumed,
  StageEntered,
  StageFinished,
  StageTransitioned,
} from "../../../src/domain/events/pipeline-events.ts"
import {
  PlanApproved,
  SessionRested,
  SessionStarted,
  StepFinished,
  StepStarted,
} from "../../../src/domain/events/session-events.ts"
import { TurnFinished } from "../../../src/domain/events/turn-events.ts"
import type { Action } from "../../../src/domain/pipeline/action.ts"
import { applyEvent, fold } from "../../../src/domain/pipeline/fold.ts"
import { nextAction } from "../../../src/domain/pipeline/next-action.ts"
import type { Contents, PipelineEvent } from "../../../src/domain/pipeline/recorded-event.ts"
import type { PipelineState, StepState } from "../../../src/domain/pipeline/state.ts"
import {
  type PipelineLimits,
  type PipelineSettings,
  plainSettings,
} from "../../../src/domain/pipeline-settings.ts"
import { planHash } from "../../../src/domain/plan/plan.ts"
import type { RecordedJson } from "../../../src/domain/tool-call.ts"
import { defaultLimits } from "./default-limits.ts"

type DataOf<Definition extends Parameters<typeof newEvent>[0]> = NewEvent<Definition>["data"]

const owner = { bootId: "boot", pid: 1, startTicks: "1" }
export const startMs = Date.UTC(2026, 0, 2, 3, 4, 5)
const far = "2030-01-01T00:00:00.000Z"

/** Everything stands in the events. */
export const contents: Contents = {
  text: recorded => (recorded.kind === "inline" ? recorded.text : ""),
  json: recorded => (recorded.kind === "inline" ? (recorded.value as Json) : null),
}

export function settingsOf(
  limits: Partial<PipelineLimits> = {},
  more: Partial<PipelineSettings> = {},
): PipelineSettings {
  return {
    ...plainSettings,
    limits: { ...defaultLimits, ...limits },
    ...more,
  }
}

/** A session with its log and its state, at a time that only the test moves. */
export class RecordedSession {
  readonly events: PipelineEvent[] = []
  nowMs = startMs
  private folded: PipelineState | null = null

  constructor(settings: PipelineSettings = settingsOf()) {
    this.add(started(settings))
  }

  get state(): PipelineState {
    if (this.folded === null) throw new Error("the session has not started")
    return this.folded
  }

  add(...added: readonly NewEvent[]): this {
    for (const { type, version, data } of added) {
      const at = new Date(this.nowMs).toISOString()
      const event = { stream: "ses_1", seq: this.events.length + 1, at, type, version, data }
      this.events.push(event)
      this.folded = applyEvent(this.folded, event, contents)
    }
    return this
  }

  /** Returns the state that a new process folds from the log. */
  refold(): PipelineState | null {
    return fold(this.events, contents)
  }

  next(): Action {
    return nextAction(this.state, this.nowMs)
  }
}

export function started(agent: PipelineSettings | null) {
  return newEvent(SessionStarted, {
    lane: agent === null ? "plan" : "agent",
    goal: "get it done",
    planId: null,
    planHash: null,
    approvalId: null,
    plan: null,
    stepCount: 0,
    policyVersion: "1",
    agent,
    treeDigest: null,
    outputs: [],
    worktreeId: null,
    repoSha: null,
    owner,
  })
}

export function resumed(settings: PipelineSettings, skipsFailed = false) {
  return newEvent(SessionResumed, { settings, skipsFailed, by: "ann", owner })
}

export function rested(exitCode: number, state: DataOf<typeof SessionRested>["state"] = "PAUSED") {
  return newEvent(SessionRested, { state, reason: "it rests", exitCode, unverified: false })
}

export function entered(
  stage: DataOf<typeof StageEntered>["stage"],
  more: Partial<DataOf<typeof StageEntered>> = {},
) {
  const data = { stage, attempt: 0, cycle: 0, planVersion: 0, feedback: [], checks: [], ...more }
  return newEvent(StageEntered, data)
}

export function ended(
  stage: DataOf<typeof StageFinished>["stage"],
  status: DataOf<typeof StageFinished>["status"] = "success",
  attempt = 0,
) {
  return newEvent(StageFinished, { stage, attempt, status, message: "", durationMs: 0, tokens: 0 })
}

export function moved(
  from: DataOf<typeof StageTransitioned>["from"],
  to: DataOf<typeof StageTransitioned>["to"],
  feedback: readonly string[] = [],
) {
  const counts = { durationMs: 0, tokensUsed: 0, cycleCount: 0, retryCount: 0 }
  return newEvent(StageTransitioned, { from, to, reason: "", feedback: [...feedback], ...counts })
}

export function cycle(
  from: DataOf<typeof CycleStarted>["from"],
  to: DataOf<typeof CycleStarted>["to"],
  fixes: DataOf<typeof CycleStarted>["fixes"] = [],
) {
  return newEvent(CycleStarted, { from, to, count: 1, limit: 3, reason: "", fixes })
}

/** Returns the events that the runner appends when the session needs a person. */
export function escalated(action: Action, state: PipelineState): NewEvent[] {
  if (action.kind !== "escalate") throw new Error(`${action.kind} is not an escalation`)
  const { level, stage, reason, advice, exitCode, status } = action
  const run = status === null ? null : state.stage
  return [
    newEvent(EscalationRaised, { level, stage, reason, advice, exitCode }),
    ...(status === null || run === null ? [] : [ended(run.stage, status, run.attempt)]),
    rested(exitCode),
  ]
}

export function replied(more: Partial<DataOf<typeof TurnFinished>> & { readonly answer?: Json } = {}) {
  const { answer, ...data } = more
  return newEvent(TurnFinished, {
    stage: "executor",
    stepId: null,
    turn: 1,
    replyIndex: 0,
    text: { kind: "inline", text: "" },
    calls: [],
    output: answer === undefined ? null : inline(answer),
    problems: [],
    failure: null,
    usage: { input: 10, output: 5 },
    durationMs: 1,
    ...data,
  })
}

function inline(value: Json): RecordedJson {
  // as: the schema's JSON differs from ours only in that nothing in it is read-only.
  return { kind: "inline", value } as RecordedJson
}

export function wanted(id: string, tool: string, args: Json = {}) {
  return { id, tool, arguments: inline(args), argsDigest: JSON.stringify(args) }
}

export function proposed(plan: Json, version = 1) {
  const recorded = inline(plan)
  return newEvent(PlanProposed, { version, planHash: planHash(plan), plan: recorded, explanation: "" })
}

export function approved(hash: string) {
  const ids = { approvalId: "apr_1", planId: "p1", planHash: hash, approver: "ann" }
  return newEvent(PlanApproved, { ...ids, stepCount: 1, expiresAt: far })
}

export function asked(kind: "plan" | "review" | "action", approvalId = "apr_1") {
  return newEvent(ApprovalRequested, {
    approvalId,
    sessionId: "ses_1",
    callId: null,
    stepId: null,
    kind,
    category: "TERMINAL_COMMAND",
    level: 3,
    operation: "",
    files: [],
    reason: "",
    rule: "",
    preview: { kind: "inline", text: "" },
    subjectHash: "",
    expiresAt: null,
    options: [],
  })
}

export function answered(
  answer: DataOf<typeof ApprovalAnswered>["answer"],
  approvalId = "apr_1",
  reason: string | null = null,
) {
  return newEvent(ApprovalAnswered, { approvalId, answer, by: "ann", via: "command", reason, expiresAt: far })
}

export function stepStarted({ task, step, index }: StepState) {
  const names = { taskId: task.id, stepId: step.id, index, title: step.title }
  return newEvent(StepStarted, { ...names, tool: "", stepKey: "" })
}

export function stepEnded({ task, step, index }: StepState, success = true) {
  const names = { taskId: task.id, stepId: step.id, index, success }
  const error = success ? { code: null, message: null } : { code: "ACODE-EXEC-001", message: "it failed" }
  return newEvent(StepFinished, {
    ...names,
    ...error,
    callId: null,
    diagnostics: [],
    durationMs: 0,
    waitMs: 0,
  })
}

export function callAsked(callId: string, modelCallId: string | null = null) {
  const origin = { planId: null, planHash: null, taskId: null, stepId: null, stepKey: null, modelCallId }
  const args = inline({})
  return newEvent(ToolCallRequested, {
    callId,
    origin,
    arguments: args,
    argsDigest: "",
    tool: "write_file",
    canonicalTool: "write_file",
  })
}

export function callBegan(callId: string, effectClass: DataOf<typeof ToolCallStarted>["effectClass"]) {
  const decision = { decision: "allow" as const, rule: "", reason: "", level: 0 }
  return newEvent(ToolCallStarted, {
    callId,
    effectClass,
    decision,
    targets: [],
    checkpointId: null,
    approvalId: null,
    confinement: null,
  })
}

export function callSettled(
  callId: string,
  more: Partial<DataOf<typeof ToolCallSettled>> & { readonly changed?: readonly string[] } = {},
) {
  const { changed = [], ...data } = more
  return newEvent(ToolCallSettled, {
    callId,
    outcome: "succeeded",
    certainty: "done",
    error: null,
    result: null,
    text: { kind: "inline", text: "ok" },
    resultDigest: "digest",
    exitCode: null,
    executionId: null,
    paths: [],
    changes: { kind: "inline", value: changed.map(path => ({ path, before: null, after: "hash" })) },
    diagnostics: [],
    durationMs: 1,
    waitMs: 0,
    ...data,
  })
}

export function checked(
  criterionId: string,
  verdict: DataOf<typeof CheckFinished>["verdict"],
  more: Partial<DataOf<typeof CheckFinished>> = {},
) {
  return newEvent(CheckFinished, {
    criterionId,
    verdict,
    taskId: "t1",
    kind: "command",
    reason: `it ${verdict}`,
    treeDigest: "tree",
    argv: null,
    exitCode: null,
    outputHash: null,
    executionId: null,
    ...more,
  })
}
