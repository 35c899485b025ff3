import type { PipelineState } from "./state.ts"

/** Nothing was checked: the session may be done, but nobody can say that what it did is right. */
export function isUnverified({ settings, verification }: PipelineState): boolean {
  return settings.skipVerify || verification === null || verification.checks.length === 0
}

/**
 * Why the session is not done although its review approves; null when it is. What an older plan went through counts for
 * nothing, and neither does a verification of files that were changed since.
 */
export function staleness(state: PipelineState): string | null {
  const { plans, history, verification, lastChangeSeq } = state
  const planSeq = plans.at(-1)?.seq ?? 0
  const missing = before.find(
    stage => !history.some(past => past.stage === stage && past.status === "success" && past.seq > planSeq),
  )
  if (missing !== undefined) return `the ${missing} has not succeeded with this plan`
  if (isUnverified(state) || (verification?.seq ?? 0) > lastChangeSeq) return null
  return "files were changed after the verification"
}

const before = ["planner", "executor", "verifier"] as const
