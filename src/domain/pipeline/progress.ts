import { canonicalJson } from "../../base/canonical.ts"
import { onceFor } from "../../base/lazy.ts"
import type { CheckResult, Turn, Verification } from "./state.ts"

/** The number of repetitions that count as going in circles. */
const repeatsMax = 3
const periodMax = 2

/** Returns whether the last turns repeat: the same calls with the same results, every turn or every second turn. */
export function isGoingInCircles(turns: readonly Turn[]): boolean {
  const lastTurns = turns.slice(-periodMax * repeatsMax).map(printOf)
  return [1, periodMax].some(period => {
    const last = lastTurns.slice(-period * repeatsMax)
    return last.length === period * repeatsMax && last.every((print, index) => print === last[index % period])
  })
}

/** Returns whether a verification failed exactly like the one before, on exactly the same tree. */
export function isSameFailure(now: Verification | null, before: Verification | null): boolean {
  if (now === null || before === null || now.treeDigest !== before.treeDigest) return false
  return canonicalJson(failuresOf(now)) === canonicalJson(failuresOf(before))
}

/** Returns the name of a check, which is unique among the checks of a session. */
export function checkKey({ taskId, criterionId }: Pick<CheckResult, "taskId" | "criterionId">): string {
  return canonicalJson([taskId, criterionId])
}

/** Returns whether a check was made on another tree than the present one. */
export function isOfAnotherTree(verification: Verification, { treeDigest }: CheckResult): boolean {
  return treeDigest !== verification.treeDigest
}

export function failedChecks(verification: Verification | null): readonly CheckResult[] {
  return verification?.checks.filter(({ verdict }) => verdict === "failed") ?? []
}

function failuresOf(verification: Verification): readonly string[] {
  return failedChecks(verification)
    .map(({ criterionId }) => criterionId)
    .sort()
}

/** A turn stays the same object once its calls have their results. */
const printOf = onceFor(({ text, calls }: Turn): string => {
  const what = calls.map(({ tool, argsDigest, result }) => [tool, argsDigest, result?.digest ?? null])
  return canonicalJson(calls.length === 0 ? [text] : what)
})
