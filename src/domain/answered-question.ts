import type { ApprovalAnswer } from "./call-events.ts"
import type { PipelineView } from "./pipeline/pipeline-view.ts"

/** An answer has a stream of its own, and a session takes it over only when it goes on. Until then it is told here. */

/** Why a session rests after somebody has answered what it rests for. */
export function answeredReason(answer: ApprovalAnswer, by: string): string {
  return `the answer is there, ${answer} by ${by}: \`acode resume\` goes on with it`
}

export interface PlanQuestion {
  readonly approvalId: string
  readonly planHash: string
}

/** The plan that was asked about, with who approved it. An answer about another one says nothing about it. */
export function withAnswer(
  pipeline: PipelineView,
  { planHash }: PlanQuestion,
  asked: { readonly answer: ApprovalAnswer | null; readonly answeredBy: string | null } | undefined,
): PipelineView {
  const last = pipeline.plans.at(-1)
  if (asked?.answer !== "granted" || last?.approver !== null || last.planHash !== planHash) return pipeline
  return { ...pipeline, plans: pipeline.plans.with(-1, { ...last, approver: asked.answeredBy }) }
}
