import type { SessionState } from "../session-events.ts"
import type { PipelineState, PutQuestion } from "./state.ts"

/** The state of a session that is driven: what it waits for, or else which half of the work it is at. */
export function activeState({
  stage,
  moved,
  plans,
}: Pick<PipelineState, "stage" | "moved" | "plans">): SessionState {
  const at = stage?.stage ?? moved?.to ?? "planner"
  const asked = [stage?.question ?? null, at === "planner" ? (plans.at(-1)?.question ?? null) : null]
  if (asked.some(isOpen)) return "AWAITING_APPROVAL"
  return at === "planner" ? "PLANNING" : "EXECUTING"
}

function isOpen(question: PutQuestion | null): boolean {
  return question !== null && question.answer === null
}
