import { counted } from "../../base/text.ts"
import type { Action } from "./action.ts"
import { escalate, needsPerson } from "./escalation.ts"
import { longerReplies } from "./model-advice.ts"
import { nextReply } from "./retry.ts"
import type { PersonsAnswer, PipelineState, PlanVersion, StageRun } from "./state.ts"

export function nextForPlanner(state: PipelineState, run: StageRun): Action {
  const proposed = state.plans.findLast(({ seq }) => seq > run.enteredSeq)
  if (proposed !== undefined) return nextForProposed(state, run, proposed)
  const last = state.turns.at(-1)
  if (last !== undefined && last.output !== null)
    return { kind: "proposePlan", turn: last, version: state.plans.length + 1 }
  return nextReply(state, "planner") ?? withoutPlan(state)
}

function withoutPlan(state: PipelineState): Action {
  const { turns } = state
  return escalate("planner", "StageRetryLimit", 22, {
    reason: `the model gave no valid plan in ${counted(turns.length, "try", "tries")}: ${turns.at(-1)?.problems.join("; ")}`,
    advice:
      longerReplies(state, "planner") ??
      "say more exactly what is wanted, or use another model (`acode models list`) with `acode resume` and --model",
  })
}

function nextForProposed(state: PipelineState, run: StageRun, proposed: PlanVersion): Action {
  if (state.settings.planOnly)
    return escalate("planner", "StageFailed", 0, {
      reason: "the plan is made, and no more was asked for",
      advice: "`acode session show` shows it, `acode resume` goes on",
      status: null,
    })
  if (proposed.isApproved)
    return {
      kind: "move",
      from: "planner",
      to: "executor",
      status: "success",
      reason: `plan version ${proposed.version} is approved`,
      feedback: [],
      fixes: [],
    }
  if (proposed.question === null) return { kind: "askAboutPlan", plan: proposed }
  const { answer, approvalId } = proposed.question
  if (answer === null) return { kind: "awaitAnswer", approvalId }
  return answer.answer === "stopped" ? { kind: "cancel", answer } : rejected(state, run, answer)
}

/** What the person did not like goes back to the planner, as often as the stage may be repeated. */
function rejected({ settings }: PipelineState, { attempt }: StageRun, { by, reason }: PersonsAnswer): Action {
  if (attempt < settings.limits.stageRetriesMax.planner)
    return {
      kind: "move",
      from: "planner",
      to: "planner",
      status: "retry",
      reason: `${by} refused the plan`,
      feedback: [reason ?? "the plan was refused without a reason; propose another one"],
      fixes: [],
    }
  return escalate("planner", "StageRetryLimit", 33, {
    reason: `${by} refused ${attempt + 1} plans${reason === null ? "" : `, the last one because: ${reason}`}`,
    advice: "`acode resume` asks for another plan; or start again with another request",
    code: needsPerson,
  })
}
