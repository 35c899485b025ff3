import { counted } from "../../base/text.ts"
import type { Action, Fix } from "./action.ts"
import { staleness } from "./completion.ts"
import { escalate } from "./escalation.ts"
import { longerReplies } from "./model-advice.ts"
import { fixId, moreCycles } from "./next-for-verifier.ts"
import { nextReply } from "./retry.ts"
import { type Review, readReview } from "./review.ts"
import { cyclesAllowed } from "./settings.ts"
import type { BackwardEdge } from "./stage.ts"
import type { PipelineState, StageRun } from "./state.ts"

export function nextForReviewer(state: PipelineState, run: StageRun): Action {
  const output = state.turns.at(-1)?.output ?? null
  const review = output === null ? null : readReview(output)
  if (review !== null) return decided(state, run, review)
  return nextReply(state, "reviewer") ?? withoutReview(state)
}

function withoutReview(state: PipelineState): Action {
  const { turns } = state
  return escalate("reviewer", "StageRetryLimit", 22, {
    reason: `the model gave no review in ${counted(turns.length, "try", "tries")}: ${turns.at(-1)?.problems.join("; ")}`,
    advice:
      longerReplies(state, "reviewer") ??
      "look at the change yourself (`acode session show`), or use another model (`acode models list`) with `acode resume` and --model",
  })
}

function decided(state: PipelineState, run: StageRun, review: Review): Action {
  const { decision, summary } = review
  if (decision === "fix") return fixUp(state, review)
  if (decision === "replan")
    return back(state, {
      to: "planner",
      reason: `the review asks for another plan: ${summary}`,
      feedback: feedbackOf(review),
      fixes: [],
      exitCode: 50,
    })
  if (!state.settings.requireReviewApproval) return done(state, summary)
  if (run.question === null) return { kind: "askAboutReview", summary }
  const { answer, approvalId } = run.question
  if (answer === null) return { kind: "awaitAnswer", approvalId }
  if (answer.answer === "granted") return done(state, `${summary} (approved by ${answer.by})`)
  if (answer.answer === "stopped") return { kind: "cancel", answer }
  return fixUp(state, {
    ...review,
    summary: answer.reason ?? `${answer.by} did not approve`,
    findings: [],
  })
}

/** What was verified has to be what there is; if it is not, it is verified again, and that is a cycle too. */
function done(state: PipelineState, reason: string): Action {
  const why = staleness(state)
  if (why !== null)
    return back(state, { to: "executor", reason: `stale: ${why}`, feedback: [], fixes: [], exitCode: 40 })
  return {
    kind: "move",
    from: "reviewer",
    to: "complete",
    status: "success",
    reason,
    feedback: [],
    fixes: [],
  }
}

/** What a review finds belongs to no task in particular, and is mended with the last one. */
function fixUp(state: PipelineState, review: Review): Action {
  const feedback = feedbackOf(review)
  const taskId = state.steps.at(-1)?.task.id ?? "plan"
  const description = `The review found: ${feedback.join("; ")}`
  return back(state, {
    to: "executor",
    reason: `the review asks for a fix: ${review.summary}`,
    feedback,
    fixes: [{ taskId, stepId: fixId(state, taskId), description }],
    exitCode: 50,
  })
}

function feedbackOf({ summary, findings }: Review): readonly string[] {
  return [
    summary,
    ...findings.map(({ severity, file, text }) => `${[severity, file].filter(Boolean).join(" ")}: ${text}`),
  ]
}

interface Return {
  readonly to: "executor" | "planner"
  readonly reason: string
  readonly feedback: readonly string[]
  readonly fixes: readonly Fix[]
  /** When no cycle may be taken at all. */
  readonly exitCode: number
}

function back(state: PipelineState, { exitCode, ...move }: Return): Action {
  const edge: BackwardEdge = `reviewer→${move.to}`
  const allowed = cyclesAllowed(state.settings.limits)
  const taken = state.cycles[edge]
  if (taken < allowed) return { kind: "move", from: "reviewer", status: "cycle", ...move }
  if (allowed === 0)
    return escalate("reviewer", "StageFailed", exitCode, {
      reason: move.reason,
      advice: "look at what it found (`acode session show`), fix it by hand, then `acode resume`",
    })
  return escalate("reviewer", "CycleLimit", 21, {
    reason: `${move.reason} (after ${taken} cycles)`,
    advice: moreCycles(allowed),
  })
}
