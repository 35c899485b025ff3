import { toIso } from "../../base/clock.ts"
import { ApprovalAnswered } from "../../domain/events/call-events.ts"
import { type NewEvent, newEvent } from "../../domain/events/definition.ts"
import { RequestAdded, StageFinished } from "../../domain/events/pipeline-events.ts"
import { StepFinished } from "../../domain/events/session-events.ts"
import type { PipelineState } from "../../domain/pipeline/state.ts"

export interface AddedRequest {
  readonly text: string
  readonly by: string
}

const replaced = "another request was added"

/**
 * Returns the events that add a request to a session: what the last one left open, a question, a step and a stage, ends
 * first, so that nothing of it continues.
 */
export function addedRequest(state: PipelineState, added: AddedRequest, nowMs: number): readonly NewEvent[] {
  return [
    ...openQuestion(state, added, nowMs),
    ...openStep(state),
    ...openStage(state),
    newEvent(RequestAdded, added),
  ]
}

function openQuestion(
  { stage, plans }: PipelineState,
  { by }: AddedRequest,
  nowMs: number,
): readonly NewEvent[] {
  const questions = [stage?.question ?? null, plans.at(-1)?.question ?? null]
  return questions
    .filter(question => question !== null && question.answer === null)
    .map(question =>
      newEvent(ApprovalAnswered, {
        approvalId: question?.approvalId ?? "",
        answer: "skipped",
        by,
        via: "command",
        reason: replaced,
        expiresAt: toIso(nowMs),
      }),
    )
}

function openStep({ steps }: PipelineState): readonly NewEvent[] {
  return steps
    .filter(({ status }) => status === "active")
    .map(({ task, step, index }) =>
      newEvent(StepFinished, {
        taskId: task.id,
        stepId: step.id,
        index,
        success: false,
        callId: null,
        code: null,
        message: replaced,
        diagnostics: [],
        durationMs: 0,
        waitMs: 0,
      }),
    )
}

function openStage({ stage }: PipelineState): readonly NewEvent[] {
  if (stage === null) return []
  const { attempt } = stage
  return [
    newEvent(StageFinished, {
      stage: stage.stage,
      attempt,
      status: "failed",
      message: replaced,
      durationMs: 0,
      tokens: 0,
    }),
  ]
}
