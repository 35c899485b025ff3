import { oneLine } from "../../../base/text.ts"
import type { Lane, SessionState } from "../../../domain/events/session-events.ts"
import type { PipelineState } from "../../../domain/pipeline/state.ts"
import { cyclesAllowed } from "../../../domain/pipeline-settings.ts"
import { answeredReason } from "../../../domain/session/session-view.ts"
import type { Stage } from "../../../domain/stage.ts"
import { repliesFlag } from "../../../models/recorded.ts"
import type { ApprovalSummary, SessionSummary } from "../../../store/session/contract.ts"
import { shortId } from "../../render/format.ts"
import { aboutSession, nextCommands } from "../../render/next-commands.ts"

/** The present state of a session. */
export interface StatusView {
  readonly id: string
  readonly lane: Lane
  readonly goal: string
  readonly state: SessionState
  /** True when a process works on it now. */
  readonly isDriven: boolean
  readonly reason: string | null
  readonly exitCode: number | null
  /** The stage it is in, or is about to enter; null when it has ended, and for other lanes. */
  readonly stage: Stage | null
  readonly attempt: number
  readonly planVersion: number
  readonly stepsDone: number
  readonly stepCount: number
  /** The active step. */
  readonly step: string | null
  readonly cycles: Readonly<Record<string, number>>
  readonly cyclesMax: number | null
  readonly turn: number
  readonly tokens: number
  readonly waitsFor: readonly { readonly approvalId: string; readonly operation: string }[]
  readonly next: readonly string[]
}

export interface StatusNow {
  readonly isDriven: boolean
  /** True when there are changes that can be undone. */
  readonly hasChanges: boolean
  readonly openApprovals: readonly ApprovalSummary[]
  /** The last question of the session, answered or not. */
  readonly lastAsked: ApprovalSummary | null
}

export function statusOf(found: SessionSummary, state: PipelineState | null, now: StatusNow): StatusView {
  const { id, lane, goal, exitCode } = found
  const { isDriven, openApprovals } = now
  const shown = state?.state ?? found.state
  const recorded = shown === "AWAITING_APPROVAL" ? (answerOf(now) ?? found.reason) : found.reason
  const replies = state === null ? null : repliesFlag(state.settings.selection)
  const reason = recorded === null ? null : aboutSession(recorded, id, replies)
  return {
    id,
    lane,
    goal,
    reason,
    exitCode,
    isDriven,
    state: shown,
    ...placeOf(state, found),
    waitsFor: openApprovals.map(({ id: approvalId, operation }) => ({ approvalId, operation })),
    next: nextCommands(id, shown, {
      lane,
      openApproval: openApprovals[0]?.id ?? null,
      isDriven,
      hasChanges: now.hasChanges,
      repliesFlag: replies,
    }),
  }
}

/** Returns the last answer; null while a question is open. A resumed session records answers of other terminals. */
function answerOf({ openApprovals, lastAsked }: StatusNow): string | null {
  if (openApprovals.length > 0 || lastAsked === null || lastAsked.answeredBy === null) return null
  const { state, answeredBy } = lastAsked
  if (state === "open" || state === "expired" || state === "abandoned") return null
  return answeredReason(state, answeredBy)
}

function placeOf(state: PipelineState | null, { stepsDone, stepCount }: SessionSummary) {
  if (state === null) {
    const none = { stage: null, attempt: 0, planVersion: 0, step: null, cyclesMax: null, turn: 0, tokens: 0 }
    return { ...none, stepsDone, stepCount, cycles: {} }
  }
  const { steps, stage, moved, plans, cycles, settings, turns, tokens, finished } = state
  const target = moved === null || moved.to === "complete" ? null : moved.to
  const active = steps.find(each => each.status === "active")
  return {
    stage: finished === null ? (stage?.stage ?? target) : null,
    attempt: stage?.attempt ?? 0,
    planVersion: plans.at(-1)?.version ?? 0,
    stepsDone: steps.filter(each => each.status === "done").length,
    stepCount: steps.length,
    step: active?.step.id ?? null,
    cycles,
    cyclesMax: cyclesAllowed(settings.limits),
    turn: turns.at(-1)?.turn ?? 0,
    tokens,
  }
}

export function statusLines(view: StatusView): readonly string[] {
  const { id, lane, goal, state, isDriven, exitCode, reason, stage, waitsFor, next } = view
  const driven = isDriven ? ", running" : exitCode === null ? ", its process is gone" : ""
  const exit = exitCode === null ? "" : ` (exit ${exitCode})`
  const taken = Object.entries(view.cycles).filter(([, count]) => count > 0)
  return [
    `[SESSION] ${id} (${lane})`,
    `  goal    ${oneLine(goal, 200)}`,
    `  state   ${state}${exit}${driven}${reason === null ? "" : `: ${oneLine(reason, 500)}`}`,
    ...(stage === null ? [] : [`  stage   ${stageText(view, stage)}`]),
    `  steps   ${view.stepsDone}/${view.stepCount}${view.step === null ? "" : `, at ${oneLine(view.step, 60)}`}`,
    ...taken.map(([edge, count]) => `  cycle   ${count}/${view.cyclesMax} ${edge}`),
    ...waitsFor.map(
      ({ approvalId, operation }) =>
        `  ⚠ waits for approval ${shortId(approvalId)}: ${oneLine(operation, 200)}`,
    ),
    `  next    ${next.join("  ·  ")}`,
  ]
}

function stageText({ attempt, planVersion, turn }: StatusView, stage: Stage): string {
  const retry = attempt === 0 ? "" : `, Retry ${attempt}`
  const plan = planVersion === 0 ? "" : `, plan version ${planVersion}`
  return `${stage}${retry}${plan}${turn === 0 ? "" : `, turn ${turn}`}`
}
