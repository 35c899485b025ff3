import { exitCodes } from "../exit-codes.ts"
import { isRedactedPath } from "../text/redacted-json.ts"
import type { Completion } from "./action.ts"
import { isDoubtful } from "./claim.ts"
import { plannerAnswer } from "./planner-reply.ts"
import { checkKey, isOfAnotherTree } from "./progress.ts"
import type { CheckResult, PipelineState, StepState } from "./state.ts"

export function completionOf(state: PipelineState): Completion {
  if (endsWithAnswer(state) && state.answer !== null) return { ...answeredEnd, answer: state.answer }
  const why = whyUnproved(state)
  const isAsked = isQuestion(state)
  const answer = isAsked ? state.answer : null
  const ended = { answer, unverified: why !== null }
  if (isAsked && answer === null)
    return {
      answer,
      unverified: true,
      exitCode: exitCodes.unverified.code,
      reason: "finished, but the model gave no answer that could be shown",
    }
  if (why === null)
    return { ...ended, exitCode: exitCodes.done.code, reason: `done and verified${notes(state)}` }
  if (state.settings.skipVerify && !isAllSkipped(state) && !state.steps.some(isDoubtful))
    return { ...ended, exitCode: exitCodes.done.code, reason: `done, but not verified: ${why}` }
  return { ...ended, exitCode: exitCodes.unverified.code, reason: `finished, but not verified: ${why}` }
}

const answeredEnd = {
  exitCode: exitCodes.done.code,
  reason: "answered; the answer is the model's own and was not verified",
  unverified: true,
} as const

/** Returns whether nothing has proved yet that the work is right. The opinion of a model is not a proof. */
export function isUnverified(state: PipelineState): boolean {
  const isChecked = (state.stage?.stage ?? null) === "reviewer" || state.moved?.to === "complete"
  return !isChecked || whyUnproved(state) !== null
}

/** Returns whether the request was a question: nothing was to be changed, and nothing has changed. */
export function isQuestion(state: PipelineState): boolean {
  if (state.lastChangeSeq > 0) return false
  if (isAnsweredByPlanner(state)) return true
  const plan = state.plans.findLast(({ isApproved }) => isApproved)?.plan
  return plan !== undefined && plan.intent !== "MUTATE"
}

/** Returns whether the planner answered the request itself. */
function isAnsweredByPlanner({ turns, plans }: PipelineState): boolean {
  const last = turns.at(-1)
  return last !== undefined && last.output !== null && plans.every(({ seq }) => seq < last.seq)
    ? plannerAnswer(last.output) !== null
    : false
}

/**
 * Returns whether the session ends with its answer: the request was a question, and nothing outside of the workspace
 * or ignored by git was touched either, so that there is nothing to verify and nothing to review.
 */
export function endsWithAnswer(state: PipelineState): boolean {
  const { paths, isComplete, hasReachedOut } = state.changed
  return isQuestion(state) && paths.size === 0 && isComplete && !hasReachedOut
}

/** Returns the reason that completes "not verified: …"; null if a program decided that the work is right. */
function whyUnproved(state: PipelineState): string | null {
  const { settings, verification, steps } = state
  if (isAllSkipped(state)) return "every step was skipped"
  if (settings.skipVerify) return "the checks were left out (--skip-verify)"
  const checks = verification?.checks ?? []
  const { passed, proofs } = programChecks(state)
  const doubtful = steps.find(step => isDoubtful(step) && !proofs.some(check => isOf(check, step)))
  if (proofs.length === 0 && passed.length > 0) return untouchedText(passed)
  if (doubtful !== undefined)
    return `the last command of step ${doubtful.step.id} failed, and no check of its task shows that it is done`
  if (checks.length === 0)
    return "the plan has no criterion that a program could check, and the project has no tests that acode found"
  return proofs.length === 0 ? "only a model judged it, and no check that a program decides has passed" : null
}

/** Returns the checks that passed by a verdict of acode itself, and those of them that prove something. */
function programChecks(state: PipelineState) {
  const checks = state.verification?.checks ?? []
  const passed = checks.filter(({ kind, verdict }) => kind !== "judgement" && verdict === "passed")
  return { passed, proofs: passed.filter(check => !isUntouched(state, check)) }
}

/** Returns whether a check belongs to the task of a step. The project's own tests belong to every task. */
function isOf({ taskId }: CheckResult, { task }: StepState): boolean {
  return taskId === null || taskId === task.id
}

/**
 * Returns whether the steps certainly changed nothing that a check covers, so that it would have passed before the
 * work as well. A check that failed before has proved the opposite.
 */
function isUntouched(state: PipelineState, check: CheckResult): boolean {
  const { paths, isComplete, hasReachedOut } = state.changed
  if (isQuestion(state) || !isComplete || state.failedChecks.has(checkKey(check))) return false
  if (check.paths.length === 0) return paths.size === 0 && !hasReachedOut
  if (check.paths.some(isRedactedPath)) return false
  return check.paths.every(
    looked => !paths.values().some(path => isBelow(path, looked) || isBelow(looked, path)),
  )
}

function isBelow(path: string, directory: string): boolean {
  return path === directory || directory === "." || path.startsWith(`${directory}/`)
}

function untouchedText(checks: readonly CheckResult[]): string {
  const names = checks.map(({ criterionId }) => criterionId).join(", ")
  const says = checks.length === 1 ? "covers, so it proves" : "cover, so they prove"
  return `the steps changed nothing that ${names} ${says} nothing about the work`
}

function isAllSkipped({ steps }: PipelineState): boolean {
  return steps.length > 0 && steps.every(({ status }) => status === "skipped")
}

/** Returns which parts of the work were left out, for work that is done and verified. */
function notes(state: PipelineState): string {
  const { steps } = state
  const skipped = steps.filter(({ status }) => status === "skipped").map(({ step }) => step.id)
  const { proofs } = programChecks(state)
  const bare = steps.filter(step => !proofs.some(check => isOf(check, step))).map(({ task }) => task.id)
  return [
    ...(skipped.length === 0 ? [] : [`; skipped: ${skipped.join(", ")}`]),
    ...(bare.length === 0 ? [] : [`; not checked: ${[...new Set(bare)].join(", ")}`]),
  ].join("")
}

/**
 * Returns why the session is not done although its review approves; null if it is done. Stages of an older plan do
 * not count, nor does a verification of files that were changed since.
 */
export function staleness(state: PipelineState): string | null {
  const { plans, history, verification, lastChangeSeq } = state
  const planSeq = plans.at(-1)?.seq ?? 0
  const missing = before.find(
    stage => !history.some(past => past.stage === stage && past.status === "success" && past.seq > planSeq),
  )
  if (missing !== undefined) return `the ${missing} has not succeeded with this plan`
  if (verification === null || !hasChecks(state)) return null
  if (verification.seq <= lastChangeSeq) return "files were changed after the verification"
  const old = verification.checks.find(check => isOfAnotherTree(verification, check))
  return old === undefined ? null : `files were changed after the check ${old.criterionId}`
}

/** Returns whether anything was checked, on a tree that must still be unchanged when the session ends. */
export function hasChecks({ settings, verification }: PipelineState): boolean {
  return !settings.skipVerify && verification !== null && verification.checks.length > 0
}

const before = ["planner", "executor", "verifier"] as const
