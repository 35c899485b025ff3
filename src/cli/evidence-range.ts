import type { AppService } from "../app/service.ts"
import type { EvidenceRange } from "../store/evidence/contract.ts"
import { type FlagSpecs, type FlagValues, limitFlag, timeFlags } from "./flags.ts"
import { instantOf } from "./instant.ts"

/** The flags of every query about evidence that gives many rows. */
export const rangeFlags = {
  ...timeFlags,
  limit: limitFlag("at most N rows (50)"),
} as const satisfies FlagSpecs

export function rangeOf(flags: FlagValues<typeof rangeFlags>, app: AppService): EvidenceRange {
  const { since, until, limit = 50 } = flags
  return {
    limit,
    ...(since === undefined ? {} : { since: instantOf(since, app.now()) }),
    ...(until === undefined ? {} : { until: instantOf(until, app.now()) }),
  }
}
