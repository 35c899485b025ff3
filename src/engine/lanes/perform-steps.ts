import { canonicalJson, type Json } from "../../base/canonical.ts"
import { onceFor } from "../../base/lazy.ts"
import { emptyGrant, type Grant } from "../../domain/effect.ts"
import { type NewEvent, newEvent } from "../../domain/events/definition.ts"
import { StepRefused } from "../../domain/events/pipeline-events.ts"
import { SessionRested, StepFinished, StepStarted } from "../../domain/events/session-events.ts"
import { exitCodes } from "../../domain/exit-codes.ts"
import type { Action, StepFailure } from "../../domain/pipeline/action.ts"
import { onlyReads } from "../../domain/pipeline/planner-reply.ts"
import type { PipelineState, PlanVersion, StepState, TurnCall } from "../../domain/pipeline/state.ts"
import { type PlanStep, resourcesOf, stepKey } from "../../domain/plan/plan.ts"
import { toolsOfKind } from "../../domain/plan/tool-traits.ts"
import type { CallError } from "../../domain/tool-call.ts"
import type { CallRequest, SettledCall } from "../../gate/contract.ts"
import type { AgentParts } from "../agent-parts.ts"
import { callsForAction } from "../stages/edit-tools.ts"
import { cancelSession, progressed } from "./perform-stages.ts"
import type { RawArguments } from "./perform-turns.ts"
import { unmetPrecondition } from "./precondition.ts"

export function startStep(parts: AgentParts, state: StepState): void {
  const { task, step, index } = state
  parts.session.append([
    newEvent(StepStarted, {
      taskId: task.id,
      stepId: step.id,
      index,
      title: step.title,
      tool: step.kind === "concrete" ? step.tool : step.action,
      stepKey: keyOf(parts, state),
    }),
  ])
}

function keyOf({ session }: AgentParts, { step, index }: StepState): string {
  const hash = session.state.plans.at(-1)?.plan.hash ?? ""
  return stepKey(hash, index, step.id, step.kind === "concrete" ? step.arguments : {})
}

export function finishStep(
  { session, clock }: AgentParts,
  { step, failure }: Extract<Action, { kind: "finishStep" }>,
): void {
  const durationMs = Math.max(0, clock.now() - (step.startedAtMs ?? clock.now()))
  // Accepted only because the model repeated it, which the history must show.
  const doubt = failure === null ? (step.lastCommand?.failure?.message ?? null) : null
  const note = doubt === null ? null : `its last command did not succeed: ${doubt}`
  session.append([
    finished(step, failure, null, durationMs, note),
    ...(failure === null ? stepsDone(session.state) : []),
  ])
}

export function refuseStep(
  { session }: AgentParts,
  { step: { task, step }, modelCallId, reason }: Extract<Action, { kind: "refuseStep" }>,
): void {
  session.append([newEvent(StepRefused, { taskId: task.id, stepId: step.id, modelCallId, reason })])
}

/** Makes the call of a concrete step exactly as written; its end is the end of the step. */
export async function callStep(parts: AgentParts, state: StepState, signal: AbortSignal): Promise<void> {
  const { step, attempts } = state
  if (step.kind !== "concrete") return
  const settled = await parts.gate.call({
    ...requestFor(parts, state, signal),
    tool: step.tool,
    arguments: step.arguments,
    obstacle: await unmetPrecondition(step, parts),
    // A person has not seen a plan that only reads, so policy decides about each of its calls.
    isGrantedAsWritten: !isUnapproved(parts.session.state),
    requiresConfirmation: step.requiresConfirmation,
    // A step that is started again after a failure is another question.
    askedAs: `step ${keyOf(parts, state)} ${attempts}`,
    after: call => {
      if (call.cause === "awaiting") return restIfUnanswered(call)
      if (isLeft(call)) return []
      return [
        finished(state, failureOf(step, call), call.callId, call.durationMs),
        ...(call.outcome === "succeeded" ? stepsDone(parts.session.state) : []),
      ]
    },
  })
  await cancelIfStopped(parts, settled, signal)
}

function isUnapproved({ plans, settings }: PipelineState): boolean {
  const plan = plans.findLast(({ isApproved }) => isApproved)?.plan
  return plan !== undefined && onlyReads(plan) && !settings.approvePlan
}

/** Returns progress with the end of each step but the last, which also ends the stage. */
function stepsDone({ steps }: PipelineState): readonly NewEvent[] {
  const done = steps.filter(({ status }) => status === "done" || status === "skipped").length + 1
  return progressed("executor", done, steps.length, "steps")
}

const readers = toolsOfKind("read", "find")

/**
 * Makes the calls of a turn. Calls that only read may run at the same time; all others run in order. Results belong
 * to their call, in whatever order they arrive.
 */
export async function callTools(
  parts: AgentParts,
  { step, calls }: Extract<Action, { kind: "callTools" }>,
  signal: AbortSignal,
  raw: RawArguments,
): Promise<void> {
  let reading: Promise<unknown>[] = []
  for (const call of calls) {
    if (readers.has(call.tool)) {
      reading.push(callTool(parts, step, call, signal, raw))
      continue
    }
    await Promise.all(reading)
    reading = []
    // The calls after one that is made again later have to wait for it.
    if (await callTool(parts, step, call, signal, raw)) return
    // A person may have stopped the session, or its time may be over: the other calls wait for that decision.
    const { rest, finished: end } = parts.session.state
    if (signal.aborted || rest !== null || end !== null || parts.control() !== null) return
  }
  await Promise.all(reading)
}

/** Makes the calls of the planner. All of them read, and the gate refuses any other. */
export async function explore(
  parts: AgentParts,
  { calls }: Extract<Action, { kind: "explore" }>,
  signal: AbortSignal,
  raw: RawArguments,
): Promise<void> {
  await Promise.all(calls.map(call => callTool(parts, null, call, signal, raw)))
}

async function callTool(
  parts: AgentParts,
  step: StepState | null,
  call: TurnCall,
  signal: AbortSignal,
  raw: RawArguments,
): Promise<boolean> {
  const args = argumentsOf(parts, call, raw)
  const request = requestFor(parts, step, signal)
  const settled = await parts.gate.call({
    ...request,
    tool: call.tool,
    arguments: args === undefined ? call.arguments : args,
    obstacle: args === undefined ? lostArguments : null,
    origin: { ...request.origin, modelCallId: call.id },
    after: restIfUnanswered,
  })
  await cancelIfStopped(parts, settled, signal)
  return isLeft(settled)
}

export async function cancelIfStopped(
  parts: AgentParts,
  { cause }: SettledCall,
  signal: AbortSignal,
): Promise<void> {
  if (cause === "stopped" && !signal.aborted)
    await cancelSession(parts, "the person who was asked", "stopped")
}

/** Returns whether a call was stopped before it began: it is made when the session continues. */
function isLeft({ outcome, certainty, cause }: SettledCall): boolean {
  return outcome === "interrupted" && certainty === "notDone" && cause !== "awaiting"
}

/**
 * Rests in the same commit as it asks, if no terminal can answer here: otherwise a crash between the two would ask a
 * second time.
 */
export function restIfUnanswered({ cause }: SettledCall): readonly NewEvent[] {
  if (cause !== "awaiting") return []
  const reason =
    "an answer is needed: `acode approvals list` shows the question; answer it, then `acode resume`"
  return [
    newEvent(SessionRested, {
      state: "AWAITING_APPROVAL",
      reason,
      exitCode: exitCodes.needsAnswer.code,
      unverified: true,
    }),
  ]
}

/** The error of a call whose arguments are lost: the model can read it, and ask again. */
const lostArguments: CallError = {
  code: "ACODE-EXEC-007",
  message: "the arguments contained a secret and were lost with their process",
  where: null,
  hint: "ask for it again",
}

/**
 * Returns the arguments as the model gave them; after a crash as they are recorded, if those are the same; else
 * undefined.
 */
function argumentsOf({ fingerprint }: AgentParts, call: TurnCall, raw: RawArguments): Json | undefined {
  const given = raw.get(call.argsDigest)
  if (given !== undefined) return given
  return fingerprint(canonicalJson(call.arguments)) === call.argsDigest ? call.arguments : undefined
}

function requestFor(parts: AgentParts, at: StepState | null, signal: AbortSignal): CallRequest {
  const { state } = parts.session
  const plan = at === null ? null : (state.plans.at(-1)?.plan ?? null)
  return {
    tool: "",
    arguments: {},
    obstacle: null,
    origin: {
      planId: plan?.planId ?? null,
      planHash: plan?.hash ?? null,
      taskId: at?.task.id ?? null,
      stepId: at?.step.id ?? null,
      stepKey: null,
      modelCallId: null,
    },
    // What was approved is for the steps of a plan and not for its planner.
    grant: at === null ? emptyGrant : grantOf(state, at.task.id),
    isGrantedAsWritten: false,
    offered: offeredAt(parts, at),
    isForModel: true,
    requiresConfirmation: false,
    askedAs: null,
    signal,
    onOutput: null,
    before: [],
    after: () => [],
  }
}

function offeredAt({ stages }: AgentParts, at: StepState | null): readonly string[] | null {
  if (at === null) return stages.planner.tools
  return at.step.kind === "open" ? callsForAction(at.step.action) : null
}

/**
 * Returns the grant of an approved plan: its resources and nothing else; for the calls of a task only the hosts of
 * that task.
 */
export function grantOf({ plans }: PipelineState, taskId: string | null): Grant {
  const approved = plans.findLast(({ isApproved }) => isApproved)
  if (approved === undefined) return emptyGrant
  const task = approved.plan.tasks.find(({ id }) => id === taskId)
  return { ...grantOfPlan(approved), hosts: task?.resources.hosts ?? [] }
}

/** Each call of a session uses the same grant. */
const grantOfPlan = onceFor(
  ({ plan, isUnconfined, isUnseen }: PlanVersion): Grant => ({
    ...resourcesOf(plan),
    ...{ exact: [], isUnconfined, isUnseen },
  }),
)

function failureOf(
  { requiresConfirmation }: Pick<ConcreteStep, "requiresConfirmation">,
  { outcome, error }: SettledCall,
): StepFailure | null {
  if (outcome === "succeeded") return null
  const { code, message } = error ?? { code: "ACODE-EXEC-001", message: "the call failed" }
  const isUnconfirmed = requiresConfirmation && code === "ACODE-EXEC-005"
  return { code: isUnconfirmed ? "E105" : code, message }
}

type ConcreteStep = Extract<PlanStep, { kind: "concrete" }>

function finished(
  { task, step, index }: StepState,
  failure: StepFailure | null,
  callId: string | null,
  durationMs: number,
  note: string | null = null,
): NewEvent {
  return newEvent(StepFinished, {
    taskId: task.id,
    stepId: step.id,
    index,
    success: failure === null,
    callId,
    code: failure?.code ?? null,
    message: failure?.message ?? note,
    diagnostics: [],
    durationMs,
    waitMs: 0,
  })
}
