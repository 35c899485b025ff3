import { ToolCallRequested, ToolCallSettled } from "../events/call-events.ts"
import { dataOf, type NewEvent } from "../events/definition.ts"
import {
  SessionFinished,
  SessionRested,
  SessionStarted,
  StepFinished,
  StepStarted,
} from "../events/session-events.ts"
import {
  type PipelinePlan,
  PipelinePlanned,
  ReviewFinished,
  type SkillSettings,
  TaskAsked,
  TaskClaimed,
  TaskReplied,
} from "../events/skill-events.ts"
import { type ExecutionErrorCode, isExecutionErrorCode } from "./execution-error.ts"

interface RecordedEvent {
  readonly type: string
  readonly version: number
  readonly data: unknown
}

/** One execution of a task, as recorded in its session. */
export interface TaskStep {
  readonly index: number
  readonly taskId: string
  readonly skill: string
  /** The output of the task is reviewed, and the task is not executed. */
  readonly isReview: boolean
  readonly claimed: NewEvent<typeof TaskClaimed>["data"] | null
  /** Ordered by their places. */
  readonly asked: readonly NewEvent<typeof TaskAsked>["data"][]
  readonly replied: readonly NewEvent<typeof TaskReplied>["data"][]
  /** The files that it wrote, and what it left there. */
  readonly wrote: readonly StepOutput[]
  /** Null while it is open. */
  readonly end: TaskStepEnd | null
}

export interface StepOutput {
  readonly path: string
  readonly sha256: string | null
}

export interface TaskStepEnd {
  readonly isSuccess: boolean
  /** Null where it succeeded. */
  readonly error: ExecutionErrorCode | null
  /** The code of the error and what went wrong. */
  readonly message: string | null
}

/** State of a session of the skills lane, folded from its events. */
export interface SkillState {
  readonly settings: SkillSettings | null
  /** Null for a session that is not a pipeline. */
  readonly pipeline: PipelinePlan | null
  /** Number of reviews of each task. */
  readonly reviewRounds: ReadonlyMap<string, number>
  /** Tokens of all replies. */
  readonly tokens: number
  readonly steps: readonly TaskStep[]
  /** The hash that the last recorded change of the session left at each path. */
  readonly written: ReadonlyMap<string, string | null>
  /** Number of replies of a script or a recording that were asked for. */
  readonly replyCount: number
  readonly isOver: boolean
}

/** Stands in the place of a tool in steps that review. */
export const reviewTool = "review"

/** Folds the events of a session of the skills lane; null for what is none. */
export function skillState(events: Iterable<RecordedEvent>): SkillState | null {
  const steps = new Map<number, TaskStep>()
  const written = new Map<string, string | null>()
  const reviewRounds = new Map<string, number>()
  const stepOfCall = new Map<string, number>()
  let settings: SkillSettings | null = null
  let pipeline: PipelinePlan | null = null
  let tokens = 0
  let isSkill = false
  let replyCount = 0
  let isOver = false
  const change = (index: number, to: (step: TaskStep) => Partial<TaskStep>) => {
    const step = steps.get(index)
    if (step !== undefined) steps.set(index, { ...step, ...to(step) })
  }
  for (const event of events) {
    const session = dataOf(SessionStarted, event)
    if (session !== null) {
      isSkill = session.lane === "skill"
      settings = session.skill ?? null
    }
    if (!isSkill) return null
    const started = dataOf(StepStarted, event)
    if (started !== null) {
      const { index, taskId, title, tool } = started
      const nothing = { claimed: null, asked: [], replied: [], wrote: [], end: null }
      steps.set(index, { index, taskId, skill: title, isReview: tool === reviewTool, ...nothing })
    }
    pipeline = dataOf(PipelinePlanned, event) ?? pipeline
    const review = dataOf(ReviewFinished, event)
    if (review !== null) reviewRounds.set(review.taskId, review.round)
    const claimed = dataOf(TaskClaimed, event)
    if (claimed !== null) change(claimed.index, () => ({ claimed }))
    const asked = dataOf(TaskAsked, event)
    if (asked !== null) {
      change(asked.index, step => ({ asked: [...step.asked, asked] }))
      replyCount = Math.max(replyCount, asked.replyIndex + 1)
    }
    const replied = dataOf(TaskReplied, event)
    tokens += (replied?.usage.input ?? 0) + (replied?.usage.output ?? 0)
    if (replied !== null) change(replied.index, step => ({ replied: [...step.replied, replied] }))
    const finished = dataOf(StepFinished, event)
    if (finished !== null) change(finished.index, () => ({ end: endOf(finished) }))
    const requested = dataOf(ToolCallRequested, event)
    if (requested !== null)
      stepOfCall.set(requested.callId, Number.parseInt(requested.origin.stepKey ?? "", 10))
    const settled = dataOf(ToolCallSettled, event)
    const outputs = settled === null ? [] : outputsOf(settled)
    for (const { path, sha256 } of outputs) written.set(path, sha256)
    if (settled !== null && outputs.length > 0)
      change(stepOfCall.get(settled.callId) ?? -1, ({ wrote }) => ({ wrote: [...wrote, ...outputs] }))
    if (dataOf(SessionFinished, event) !== null || dataOf(SessionRested, event) !== null) isOver = true
  }
  if (!isSkill) return null
  return { settings, pipeline, reviewRounds, tokens, steps: [...steps.values()], written, replyCount, isOver }
}

function outputsOf({ changes }: NewEvent<typeof ToolCallSettled>["data"]): readonly StepOutput[] {
  if (changes.kind !== "inline") return []
  return changes.value.map(({ path, after }) => ({ path, sha256: after }))
}

function endOf({ success, message }: NewEvent<typeof StepFinished>["data"]): TaskStepEnd {
  // The message begins with the code, because the event has only codes of the error page.
  const code = message?.split(":", 1)[0] ?? ""
  const error = success ? null : isExecutionErrorCode(code) ? code : "UNKNOWN"
  return { isSuccess: success, error, message }
}
