import type * as z from "zod/mini"
import {
  ApprovalAnswered,
  ApprovalRequested,
  ToolCallRequested,
  ToolCallSettled,
} from "../../domain/events/call-events.ts"
import type { EventDefinition, NewEvent } from "../../domain/events/definition.ts"
import {
  CycleStarted,
  EscalationRaised,
  SessionResumed,
  StageEntered,
} from "../../domain/events/pipeline-events.ts"
import { PlanApproved, SessionStarted } from "../../domain/events/session-events.ts"
import { TurnFinished } from "../../domain/events/turn-events.ts"
import { isTooLong } from "../../domain/pipeline/retry.ts"
import { noUsage, type StageUsage, usedMore } from "../../domain/pipeline/token-usage.ts"
import type { PipelineLimits, PipelineSettings } from "../../domain/pipeline-settings.ts"
import type { SessionEvent } from "../../domain/session/session-view.ts"
import { repliesFlag } from "../../models/recorded.ts"
import { subjectText } from "./call-lines.ts"

/** Counts of consecutive failed turns; each kind has its own limit. */
export interface VainTurns {
  readonly unanswered: number
  readonly tooLong: number
  /** Replies with an invalid format; each resets the other counts. */
  readonly useless: number
}

const noneInVain: VainTurns = { unanswered: 0, tooLong: 0, useless: 0 }

/** The state from earlier events that the lines of a later event need. */
export interface RunProgress {
  readonly goal: string
  readonly limits: PipelineLimits | null
  /** The number of steps in the plan, fixing steps included. */
  readonly stepCount: number
  readonly vainTurns: VainTurns
  /** Calls without an outcome, with their descriptions. */
  readonly openCalls: ReadonlyMap<string, string>
  /** Refused calls, in order. */
  readonly refused: readonly string[]
  /** Open questions, each with its call. */
  readonly openApprovals: ReadonlyMap<string, string | null>
  readonly usage: StageUsage
  /** The flag for replies that `resume` needs; null when it needs none. */
  readonly repliesFlag: string | null
  /** True when the session has changed a file. */
  readonly hasChanges: boolean
  /** The reason why the session last stopped for a person, and what the person can do. */
  readonly escalation: { readonly reason: string; readonly advice: string } | null
}

export const nothingSeen: RunProgress = {
  goal: "",
  limits: null,
  stepCount: 0,
  vainTurns: noneInVain,
  openCalls: new Map(),
  refused: [],
  openApprovals: new Map(),
  usage: noUsage,
  repliesFlag: null,
  hasChanges: false,
  escalation: null,
}

export function afterEvent(progress: RunProgress, event: SessionEvent): RunProgress {
  return steps.get(event.type)?.(progress, event.data) ?? progress
}

type FinishedTurn = NewEvent<typeof TurnFinished>["data"]

type Step = (progress: RunProgress, data: unknown) => RunProgress

const steps: ReadonlyMap<string, Step> = new Map([
  on(SessionStarted, (progress, { goal, agent }) => ({ ...progress, goal, ...(agent && settled(agent)) })),
  on(SessionResumed, (progress, { settings }) => ({ ...progress, ...settled(settings) })),
  on(StageEntered, progress => ({ ...progress, vainTurns: noneInVain })),
  on(PlanApproved, (progress, { stepCount }) => ({ ...progress, stepCount })),
  on(CycleStarted, (progress, { fixes }) => ({ ...progress, stepCount: progress.stepCount + fixes.length })),
  on(TurnFinished, (progress, turn) => ({
    ...progress,
    vainTurns: vainAfter(progress.vainTurns, turn),
    usage: usedMore(progress.usage, turn.stage, turn.usage),
  })),
  on(ToolCallRequested, (progress, { callId, tool, arguments: args }) => {
    const description = `[tool:${tool}] ${subjectText(args)}`.trimEnd()
    return { ...progress, openCalls: new Map([...progress.openCalls, [callId, description]]) }
  }),
  on(EscalationRaised, (progress, { reason, advice }) => ({ ...progress, escalation: { reason, advice } })),
  on(ToolCallSettled, (progress, { callId, outcome, certainty, error, changes }) => {
    const { openCalls, openApprovals, refused } = progress
    // A call that waits for its answer in a rested session has ended as well; it is repeated after the answer.
    const isAwaiting =
      outcome === "interrupted" && certainty === "notDone" && error?.code === "ACODE-EXEC-005"
    const settled: RunProgress = {
      ...progress,
      hasChanges: progress.hasChanges || changes.kind === "artifact" || changes.value.length > 0,
      openCalls: new Map([...openCalls].filter(([id]) => id !== callId)),
      // The answer is in its own stream; the end of the call implies that it was given.
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

function vainAfter(vain: VainTurns, { failure, problems }: FinishedTurn): VainTurns {
  if (failure === null)
    return problems.length === 0 ? noneInVain : { ...noneInVain, useless: vain.useless + 1 }
  return isTooLong(failure.kind)
    ? { ...vain, tooLong: vain.tooLong + 1 }
    : { ...vain, unanswered: vain.unanswered + 1 }
}

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
