import type * as z from "zod/mini"
import { repliesFlag } from "../app/model/recorded-models.ts"
import {
  ApprovalAnswered,
  ApprovalRequested,
  ToolCallRequested,
  ToolCallSettled,
} from "../domain/call-events.ts"
import type { EventDefinition } from "../domain/event-definition.ts"
import { CycleStarted, SessionResumed, StageEntered } from "../domain/pipeline/pipeline-events.ts"
import type { PipelineLimits, PipelineSettings } from "../domain/pipeline/settings.ts"
import { noUsage, type StageUsage, usedMore } from "../domain/pipeline/token-usage.ts"
import { TurnFinished } from "../domain/pipeline/turn-events.ts"
import { PlanApproved, SessionStarted } from "../domain/session-events.ts"
import type { SessionEvent } from "../domain/session-view.ts"
import { subjectText } from "./run-call-lines.ts"

/** What the lines of a later event need of the earlier ones. */
export interface RunProgress {
  readonly goal: string
  readonly limits: PipelineLimits | null
  /** Of the plan, with the steps that mend something. */
  readonly stepCount: number
  /** Turns in a row in which no model answered, or not in the right shape. */
  readonly vainTurns: number
  /** Calls without an outcome, as they are told. */
  readonly openCalls: ReadonlyMap<string, string>
  /** What was not allowed, in the order it was asked for. */
  readonly refused: readonly string[]
  /** Questions without an answer, and the calls they are about. */
  readonly openApprovals: ReadonlyMap<string, string | null>
  readonly usage: StageUsage
  /** What a resume has to be given; null when nothing. */
  readonly repliesFlag: string | null
}

export const nothingSeen: RunProgress = {
  goal: "",
  limits: null,
  stepCount: 0,
  vainTurns: 0,
  openCalls: new Map(),
  refused: [],
  openApprovals: new Map(),
  usage: noUsage,
  repliesFlag: null,
}

export function afterEvent(progress: RunProgress, event: SessionEvent): RunProgress {
  return steps.get(event.type)?.(progress, event.data) ?? progress
}

type Step = (progress: RunProgress, data: unknown) => RunProgress

const steps: ReadonlyMap<string, Step> = new Map([
  on(SessionStarted, (progress, { goal, agent }) => ({ ...progress, goal, ...(agent && settled(agent)) })),
  on(SessionResumed, (progress, { settings }) => ({ ...progress, ...settled(settings) })),
  on(StageEntered, progress => ({ ...progress, vainTurns: 0 })),
  on(PlanApproved, (progress, { stepCount }) => ({ ...progress, stepCount })),
  on(CycleStarted, (progress, { fixes }) => ({ ...progress, stepCount: progress.stepCount + fixes.length })),
  on(TurnFinished, (progress, { failure, problems, stage, usage }) => {
    const isVain = failure !== null || problems.length > 0
    const vainTurns = isVain ? progress.vainTurns + 1 : 0
    return { ...progress, vainTurns, usage: usedMore(progress.usage, stage, usage) }
  }),
  on(ToolCallRequested, (progress, { callId, tool, arguments: args }) => {
    const told = `[tool:${tool}] ${subjectText(args)}`.trimEnd()
    return { ...progress, openCalls: new Map([...progress.openCalls, [callId, told]]) }
  }),
  on(ToolCallSettled, (progress, { callId, outcome, certainty, error }) => {
    const { openCalls, openApprovals, refused } = progress
    // A call that rests for its answer is over as well, and made anew then.
    const isAwaiting =
      outcome === "interrupted" && certainty === "notDone" && error?.code === "ACODE-EXEC-005"
    const settled: RunProgress = {
      ...progress,
      openCalls: new Map([...openCalls].filter(([id]) => id !== callId)),
      // Its answer has a stream of its own; that the call is over says that it is there.
      openApprovals: new Map([...openApprovals].filter(([, about]) => about !== callId || isAwaiting)),
    }
    if (outcome !== "refused" && outcome !== "denied") return settled
    const why = error === null ? outcome : `${error.code}: ${error.message}`
    return { ...settled, refused: [...refused, `${openCalls.get(callId) ?? callId} — ${why}`] }
  }),
  on(ApprovalRequested, (progress, { approvalId, callId }) => ({
    ...progress,
    openApprovals: new Map([...progress.openApprovals, [approvalId, callId]]),
  })),
  on(ApprovalAnswered, (progress, { approvalId }) => ({
    ...progress,
    openApprovals: new Map([...progress.openApprovals].filter(([id]) => id !== approvalId)),
  })),
])

function settled({ limits, selection }: PipelineSettings): Pick<RunProgress, "limits" | "repliesFlag"> {
  return { limits, repliesFlag: repliesFlag(selection) }
}

function on<Definition extends EventDefinition>(
  definition: Definition,
  step: (progress: RunProgress, data: z.infer<Definition["data"]>) => RunProgress,
): readonly [string, Step] {
  // as: the type of an event decides the shape of its data; nothing is in the log that was not parsed with it.
  return [definition.type, (progress, data) => step(progress, data as z.infer<Definition["data"]>)]
}
