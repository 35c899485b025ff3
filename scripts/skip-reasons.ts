/**
 * Programs that may be missing: other tests show the same declarations. Without any other program the list is
 * incomplete.
 */
const harmless = /^(?:root may|ANTHROPIC_API_KEY is not set|they run as an ordinary user already)/

/** Returns why a run of the tests was not a whole one, from its report; null if it was. */
export function lackOf(report: string): string | null {
  const reasons = [...report.matchAll(/\(skipped: ([^)]*)/g)].map(([, reason = ""]) => reason)
  return reasons.find(reason => !harmless.test(reason)) ?? null
}
