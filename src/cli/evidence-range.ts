import type { AppService } from "../app/service.ts"
import { Failure } from "../domain/failure.ts"
import type { EvidenceRange } from "../store/evidence/contract.ts"
import type { FlagSpecs, FlagValues } from "./flags.ts"
import { instantOf } from "./instant.ts"

/** The flags of every query about evidence that gives many rows. */
export const rangeFlags = {
  since: {
    kind: "text",
    value: "TIME",
    summary: "from this time on: 2026-01-15T00:00:00Z, 2026-01-15 or 2h",
  },
  until: { kind: "text", value: "TIME", summary: "before this time" },
  limit: { kind: "number", value: "N", summary: "at most N rows (50)" },
} as const satisfies FlagSpecs

export function rangeOf(flags: FlagValues<typeof rangeFlags>, app: AppService): EvidenceRange {
  const { since, until, limit = 50 } = flags
  return {
    limit: countOf("--limit", limit),
    ...(since === undefined ? {} : { since: instantOf(since, app.now()) }),
    ...(until === undefined ? {} : { until: instantOf(until, app.now()) }),
  }
}

/** A number of things: whole, and not less than one. */
export function countOf(flag: string, typed: number): number {
  if (Number.isSafeInteger(typed) && typed >= 1) return typed
  throw new Failure({
    kind: "usage",
    code: "ACODE-CLI-002",
    message: `${flag} ${typed} is not a whole number from 1`,
    hint: "leave it out, or give a whole number from 1",
  })
}
