import { canonicalJson } from "../../base/canonical.ts"
import { onceFor } from "../../base/lazy.ts"
import type { CheckResult, Turn, Verification } from "./state.ts"

/** How often the same thing has to come back before it counts as going round in circles. */
const repeatsMax = 3
const periodMax = 2

/** Whether the last turns repeat: the same calls with the same results, one after the other or two by turns. */
export function isGoingInCircles(turns: readonly Turn[]): boolean {
  const lastTurns = turns.slice(-periodMax * repeatsMax).map(printOf)
  return [1, periodMax].some(period => {
    const last = lastTurns.slice(-period * repeatsMax)
    return last.length === period * repeatsMax && last.every((print, index) => print === last[index % period])
  })
}

/** Whether a verification failed exactly like the one before, on exactly the same tree. */
export function isSameFailure(now: Verification | null, before: Verification | null): boolean {
  if (now === null || before === null || now.treeDigest !== before.treeDigest) return false
  return canonicalJson(failuresOf(now)) === canonicalJson(failuresOf(before))
}

/** Returns the name of a check that is its own among the checks of a session. */
export function checkKey({ taskId, criterionId }: Pick<CheckResult, "taskId" | "criterionId">): string {
  return canonicalJson([taskId, criterionId])
}

/** Whether a check was made before the tree became what it is now. */
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
