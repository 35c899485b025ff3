import type * as z from "zod/mini"
import type { ApprovalAnswer } from "../events/call-events.ts"
import type { EventDefinition } from "../events/definition.ts"
import {
  CheckFinished,
  CycleStarted,
  EscalationRaised,
  PlanProposed,
  SessionResumed,
  StageEntered,
  StageFinished,
  type StageStatus,
  type Verdict,
} from "../events/pipeline-events.ts"
import { PlanApproved, SessionStarted } from "../events/session-events.ts"
import { TurnFinished } from "../events/turn-events.ts"
import { type ExternalCalls, joinedCalls, noExternalCalls } from "../external-calls.ts"
import type { Mode } from "../model-choice.ts"
import { noUsage, type StageUsage, usedMore } from "../pipeline/token-usage.ts"
import type { ModelSelection } from "../pipeline-settings.ts"
import type { Stage } from "../stage.ts"

/** The course of an agent session, as people see it. */
export interface PipelineView {
  readonly stages: readonly SessionStage[]
  readonly plans: readonly PlanView[]
  readonly cycles: readonly CycleView[]
  readonly checks: readonly CheckView[]
  readonly escalations: readonly EscalationView[]
  /** The last server and models of the session; null with a script or a recording. */
  readonly models: ModelSelection | null
  readonly mode: Mode | null
  readonly usage: StageUsage
  /** The requests that left this machine for a model server, in their order. */
  readonly externalCalls: ExternalCalls
}

export interface SessionStage {
  readonly stage: Stage
  readonly attempt: number
  readonly planVersion: number
  readonly enteredAt: string
  /** Null while the stage works, or if the process died in it. */
  readonly status: StageStatus | null
  readonly message: string | null
  readonly durationMs: number | null
}

export interface PlanView {
  readonly version: number
  readonly planHash: string
  readonly explanation: string
  readonly proposedAt: string
  readonly approver: string | null
}

export interface CycleView {
  readonly from: Stage
  readonly to: Stage
  readonly count: number
  readonly limit: number
  readonly reason: string
}

export interface CheckView {
  /** The verification that it belongs to, counted from 1. */
  readonly round: number
  readonly criterionId: string
  readonly taskId: string | null
  readonly kind: string
  readonly verdict: Verdict
  readonly reason: string
}

export interface EscalationView {
  readonly stage: Stage
  readonly level: string
  readonly reason: string
  readonly advice: string
  /** The exit code with which the session rested; 0 if it had done what was asked. */
  readonly exitCode: number
  readonly at: string
}

export const emptyPipeline: PipelineView = {
  stages: [],
  plans: [],
  cycles: [],
  checks: [],
  escalations: [],
  models: null,
  mode: null,
  usage: noUsage,
  externalCalls: noExternalCalls,
}

/** Returns the view after one more event; events that do not concern the pipeline leave it unchanged. */
export function withPipelineEvent(
  view: PipelineView,
  { type, data, at }: { readonly type: string; readonly data: unknown; readonly at: string },
): PipelineView {
  return parts.get(type)?.(view, data, at) ?? view
}

type Part = (view: PipelineView, data: unknown, at: string) => PipelineView

const parts: ReadonlyMap<string, Part> = new Map([
  on(SessionStarted, (view, { agent, externalCalls }) =>
    agent === null ? view : { ...called(view, externalCalls), models: agent.selection, mode: agent.mode },
  ),
  on(SessionResumed, (view, { settings, externalCalls }) => ({
    ...called(view, externalCalls),
    models: settings.selection,
    mode: settings.mode,
  })),
  on(TurnFinished, (view, { stage, usage, externalCalls }) => ({
    ...called(view, externalCalls),
    usage: usedMore(view.usage, stage, usage),
  })),
  on(StageEntered, (view, { stage, attempt, planVersion }, at) => {
    const entered = {
      stage,
      attempt,
      planVersion,
      enteredAt: at,
      status: null,
      message: null,
      durationMs: null,
    }
    return { ...view, stages: [...view.stages, entered] }
  }),
  on(StageFinished, (view, { stage, status, message, durationMs }) => {
    const last = view.stages.findLastIndex(each => each.stage === stage)
    const entered = view.stages[last]
    if (entered === undefined) return view
    return { ...view, stages: view.stages.with(last, { ...entered, status, message, durationMs }) }
  }),
  on(PlanProposed, (view, { version, planHash, explanation }, at) => {
    const proposed = { version, planHash, explanation, proposedAt: at, approver: null }
    return { ...view, plans: [...view.plans, proposed] }
  }),
  on(PlanApproved, (view, { planHash, approver }) => ({
    ...view,
    plans: view.plans.map((plan, index) =>
      index === view.plans.length - 1 && plan.planHash === planHash ? { ...plan, approver } : plan,
    ),
  })),
  on(CycleStarted, (view, { from, to, count, limit, reason }) => ({
    ...view,
    cycles: [...view.cycles, { from, to, count, limit, reason }],
  })),
  on(CheckFinished, (view, { criterionId, taskId, kind, verdict, reason }) => {
    const round = view.stages.filter(({ stage }) => stage === "verifier").length
    return { ...view, checks: [...view.checks, { round, criterionId, taskId, kind, verdict, reason }] }
  }),
  on(EscalationRaised, (view, { stage, level, reason, advice, exitCode }, at) => ({
    ...view,
    escalations: [...view.escalations, { stage, level, reason, advice, exitCode, at }],
  })),
])

function called(view: PipelineView, more: ExternalCalls | undefined): PipelineView {
  return more === undefined ? view : { ...view, externalCalls: joinedCalls(view.externalCalls, more) }
}

function on<Definition extends EventDefinition>(
  definition: Definition,
  part: (view: PipelineView, data: z.infer<Definition["data"]>, at: string) => PipelineView,
): readonly [string, Part] {
  // as: the type of an event decides the shape of its data; everything in the log was parsed with it.
  return [definition.type, (view, data, at) => part(view, data as z.infer<Definition["data"]>, at)]
}

/** A question about a plan, as a session asks it. */
export interface PlanQuestion {
  readonly approvalId: string
  readonly planHash: string
}

/** Returns the view with the answer about its plan. An answer about another plan is ignored. */
export function withAnswer(
  pipeline: PipelineView,
  { planHash }: PlanQuestion,
  asked: { readonly answer: ApprovalAnswer | null; readonly answeredBy: string | null } | undefined,
): PipelineView {
  const last = pipeline.plans.at(-1)
  if (asked?.answer !== "granted" || last?.approver !== null || last.planHash !== planHash) return pipeline
  return { ...pipeline, plans: pipeline.plans.with(-1, { ...last, approver: asked.answeredBy }) }
}
