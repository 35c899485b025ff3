import type { PipelineLimits } from "./settings.ts"

/** Whether the server holds less than acode thinks. It is asked again with less, which is another request. */
export function isTooLong(failureKind: string): boolean {
  return failureKind === "contextTooLong"
}

/**
 * How often a model is asked again after it failed in this way. The two ways are counted apart: a model that does not
 * answer is soon left alone, while a shorter request aims at two thirds of the one before, and only the third of them
 * gets below a third of what was believed to fit.
 */
export function retriesAllowed(limits: PipelineLimits, failureKind: string): number {
  if (isTooLong(failureKind)) return limits.stepRetriesMax
  // What was recorded holds: sessions from before there were two limits had this one for both.
  return limits.modelRetriesMax ?? limits.stepRetriesMax
}
