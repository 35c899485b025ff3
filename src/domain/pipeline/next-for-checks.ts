import { counted, firstLine } from "../../base/text.ts"
import type { ExitName } from "../exit-codes.ts"
import { cyclesAllowed, cyclesCeiling } from "../pipeline-settings.ts"
import type { BackwardEdge } from "../stage.ts"
import type { Action, Fix } from "./action.ts"
import { staleness } from "./completion.ts"
import { escalate, longerReplies } from "./escalation.ts"
import { failedChecks, isOfAnotherTree, isSameFailure } from "./progress.ts"
import { nextReply } from "./retry.ts"
import { type Review, readReview } from "./review.ts"
import type { CheckResult, PipelineState, PlannedCheck, StageRun, Verification } from "./state.ts"

export function nextForReviewer(state: PipelineState, run: StageRun): Action {
  const output = state.turns.at(-1)?.output ?? null
  const review = output === null ? null : readReview(output)
  if (review !== null) return reviewDecided(state, run, review)
  return nextReply(state, "reviewer") ?? withoutReview(state)
}

function withoutReview(state: PipelineState): Action {
  const { turns } = state
  return escalate("reviewer", "StageRetryLimit", "needsPerson", {
    reason: `the model returned no review in ${counted(turns.length, "try", "tries")}: ${turns.at(-1)?.problems.join("; ")}`,
    advice:
      longerReplies(state, "reviewer") ??
      "review the change yourself (`acode session show`), or use another model (`acode models list`) with `acode resume` and --model",
  })
}

function reviewDecided(state: PipelineState, run: StageRun, review: Review): Action {
  const { decision, summary } = review
  if (decision === "fix") return fixUp(state, review)
  if (decision === "replan")
    return back(state, {
      to: "planner",
      reason: `the review asks for another plan: ${summary}`,
      feedback: feedbackOf(review),
      fixes: [],
      exit: "reviewRejected",
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

/**
 * Completes the session if the tree is still what was verified; otherwise verifies again, which counts as a cycle.
 */
function done(state: PipelineState, reason: string): Action {
  const why = staleness(state)
  if (why !== null)
    return back(state, {
      to: "executor",
      reason: `stale: ${why}`,
      feedback: [],
      fixes: [],
      exit: "verificationFailed",
    })
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

/** Starts a fix for the findings of a review. They belong to no task in particular, so the last task gets the fix. */
function fixUp(state: PipelineState, review: Review): Action {
  const feedback = feedbackOf(review)
  const taskId = state.steps.at(-1)?.task.id ?? "plan"
  const description = `The review found: ${feedback.join("; ")}`
  return back(state, {
    to: "executor",
    reason: `the review asks for a fix: ${review.summary}`,
    feedback,
    fixes: [{ taskId, stepId: fixId(state, taskId), description }],
    exit: "reviewRejected",
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
  /** The exit if no cycle is allowed at all. */
  readonly exit: ExitName
}

function back(state: PipelineState, { exit, ...move }: Return): Action {
  const edge: BackwardEdge = `reviewer→${move.to}`
  const allowed = cyclesAllowed(state.settings.limits)
  const taken = state.cycles[edge]
  if (taken < allowed) return { kind: "move", from: "reviewer", status: "cycle", ...move }
  if (allowed === 0)
    return escalate("reviewer", "StageFailed", exit, {
      reason: move.reason,
      advice: "read its findings (`acode session show`), fix them by hand, then `acode resume`",
    })
  return escalate("reviewer", "CycleLimit", "cycleLimit", {
    reason: `${move.reason} (after ${taken} cycles)`,
    advice: moreCycles(allowed),
  })
}

export function nextForVerifier(state: PipelineState, run: StageRun): Action {
  const open = run.checks.filter(check => resultOf(state.verification, check) === undefined)
  const byAcode = open.filter(({ kind }) => kind !== "judgement")
  if (byAcode.length > 0) return { kind: "runChecks", checks: looksLast(byAcode) }
  const again = outdated(state.verification, run)
  if (again.length > 0) return onceMore(state.verification, again)
  // A failure found by a program has to be fixed anyway, so no model is asked for an opinion.
  if (open.length > 0 && failedChecks(state.verification).length === 0) return nextForJudgement(state, open)
  return decided(state)
}

function resultOf(verification: Verification | null, { id, taskId }: PlannedCheck): CheckResult | undefined {
  return verification?.checks.find(each => each.criterionId === id && each.taskId === taskId)
}

/**
 * Orders checks that read files last: commands may change files that the tree does not show, such as ignored files
 * and empty directories.
 */
function looksLast(checks: readonly PlannedCheck[]): readonly PlannedCheck[] {
  return [...checks.filter(check => !isLook(check)), ...checks.filter(isLook)]
}

function isLook({ kind }: { readonly kind: string }): boolean {
  return kind === "file_exists" || kind === "file_contains"
}

/**
 * Returns the passed checks that were made on another tree than the present one. If not all passed, nothing is
 * claimed, and none has to be repeated.
 */
function outdated(verification: Verification | null, run: StageRun): readonly PlannedCheck[] {
  if (verification === null || verification.checks.some(({ verdict }) => verdict !== "passed")) return []
  const commands = verification.checks.filter(check => !isLook(check) && check.kind !== "judgement")
  const lastCommand = Math.max(0, ...commands.map(({ seq }) => seq))
  return run.checks.filter(check => {
    const result = resultOf(verification, check)
    if (result === undefined) return false
    return isOfAnotherTree(verification, result) || (isLook(result) && result.seq < lastCommand)
  })
}

const runsMax = 2

/** Escalates if a check changes the tree every time: otherwise all checks would be repeated forever. */
function onceMore(verification: Verification | null, again: readonly PlannedCheck[]): Action {
  const isUnsteady = again.some(check => {
    const result = resultOf(verification, check)
    if (verification === null || result === undefined || !isOfAnotherTree(verification, result)) return false
    return result.runs >= runsMax || result.kind === "judgement"
  })
  if (!isUnsteady) return { kind: "runChecks", checks: looksLast(again) }
  const changing = verification?.checks.filter(({ hasChangedTree }) => hasChangedTree) ?? []
  const names = changing.map(({ criterionId, taskId }) => (taskId === null ? "" : `${taskId}/`) + criterionId)
  const when = names.length === 0 ? "between two checks" : `while ${names.join(", ")} ran`
  return escalate("verifier", "StageFailed", "unverified", {
    reason: `the steps are finished, but not verified: files of the workspace were changed again ${when}, so that the checks that passed before prove nothing about the present files`,
    advice:
      "make the check leave the files unchanged (or let git ignore what it writes), then `acode resume`; " +
      "`acode session show` lists all checks",
  })
}

/** Asks the model for a judgement. Criteria that only judgement can decide stay undecided if it gives no verdicts. */
function nextForJudgement(state: PipelineState, checks: readonly PlannedCheck[]): Action {
  const last = state.turns.at(-1)
  if (last !== undefined && last.output !== null) return { kind: "judge", turn: last, checks }
  return nextReply(state, "verifier") ?? { kind: "judge", turn: null, checks }
}

function decided(state: PipelineState): Action {
  const failures = failedChecks(state.verification)
  if (failures.length > 0) return afterFailure(state, failures)
  const checks = state.verification?.checks ?? []
  const open = checks.filter(({ verdict }) => verdict === "inconclusive")
  const hasRun = checks.some(({ kind, verdict }) => kind !== "judgement" && verdict !== "inconclusive")
  if (open.length > 0 && !hasRun && open.some(({ kind }) => kind !== "judgement"))
    return escalate("verifier", "StageFailed", "unverified", {
      reason: `the steps are finished, but not verified, because no check gave a verdict: ${open.map(told).join("; ")}`,
      advice: "make the checks possible or check it yourself, then `acode resume`",
    })
  if (open.length > 0)
    return escalate("verifier", "StageFailed", "needsPerson", {
      reason: `no verdict is possible: ${open.map(told).join("; ")}`,
      advice: "configure a check for it or check it yourself, then `acode resume`",
    })
  const count = checks.length
  return {
    kind: "move",
    from: "verifier",
    to: "reviewer",
    status: "success",
    reason: passedText(count),
    feedback: [],
    fixes: [],
  }
}

function passedText(count: number): string {
  if (count === 0) return "there is nothing to check"
  return count === 1 ? "the check passed" : `all ${count} checks passed`
}

function afterFailure(state: PipelineState, failures: readonly CheckResult[]): Action {
  const allowed = cyclesAllowed(state.settings.limits)
  const taken = state.cycles["verifier→executor"]
  const reason = `verification failed: ${failures.map(told).join("; ")}`
  if (allowed === 0)
    return escalate("verifier", "StageFailed", "verificationFailed", {
      reason,
      advice: "fix it by hand, then `acode resume`",
    })
  if (taken >= allowed)
    return escalate("verifier", "CycleLimit", "cycleLimit", {
      reason: `${reason} (after ${taken} cycles)`,
      advice: moreCycles(allowed),
    })
  if (isSameFailure(state.verification, state.lastVerification))
    return escalate("verifier", "NoProgress", "needsPerson", {
      reason: `${reason}, on exactly the same tree as before`,
      advice: "fix it by hand, then `acode resume`",
    })
  return {
    kind: "move",
    from: "verifier",
    to: "executor",
    status: "cycle",
    reason,
    feedback: failures.map(toldWhole),
    fixes: fixesFor(state, failures),
  }
}

/** Returns one new open step for each task that failed; failures without a task go to the last one. */
function fixesFor(state: PipelineState, failures: readonly CheckResult[]): readonly Fix[] {
  const lastTask = state.steps.at(-1)?.task.id ?? "plan"
  const byTask = Map.groupBy(failures, ({ taskId }) => taskId ?? lastTask)
  return [...byTask].map(([taskId, checks]) => ({
    taskId,
    stepId: fixId(state, taskId),
    description: `Make these checks pass: ${checks.map(toldWhole).join("; ")}`,
  }))
}

/** Returns `<task>.fix<n>`, the first one that is not used yet. */
export function fixId({ steps }: PipelineState, taskId: string): string {
  const taken = new Set(steps.filter(({ task }) => task.id === taskId).map(({ step }) => step.id))
  let count = 1
  while (taken.has(`${taskId}.fix${count}`)) count += 1
  return `${taskId}.fix${count}`
}

function moreCycles(allowed: number): string {
  const byHand = "fix it by hand, then `acode resume`"
  if (allowed >= cyclesCeiling) return byHand
  return `${byHand}, or allow more: \`acode resume --max-cycles ${Math.min(cyclesCeiling, allowed + 3)}\``
}

/** Returns a result for people, who find the output of a failed check above it and in `session show`. */
function told({ criterionId, reason }: CheckResult): string {
  return `${criterionId}: ${firstLine(reason, 300)}`
}

/** Returns a result for the model that has to fix it, with the output of the check. */
function toldWhole({ criterionId, reason }: CheckResult): string {
  return `${criterionId}: ${reason}`
}
