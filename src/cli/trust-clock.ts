import type { ObservedTime } from "../store/upkeep/contract.ts"
import { durationText } from "./format.ts"
import type { Output } from "./output.ts"

/** For the verbs that remove by age. */
export const trustClockFlag = {
  kind: "boolean",
  summary: "count from the clock of this machine, also where it ran ahead of what acode saw pass",
} as const

export const ageFlag = {
  kind: "duration",
  value: "AGE",
  summary: "such as 30d; without it the configured retention",
  minMs: 0,
  maxMs: 36_525 * 86_400_000,
} as const

const dayMs = 24 * 3_600_000

/** Says from when an age was counted, where that is not what the clock says. */
export function reportDistrust(output: Output, { nowMs, aheadMs }: ObservedTime): void {
  if (aheadMs < dayMs) return
  const ahead = aheadMs < 2 * dayMs ? durationText(aheadMs) : `${Math.floor(aheadMs / dayMs)} days`
  output.notice(
    `the clock is ${ahead} ahead of the time acode saw pass here; ages were counted from ${new Date(nowMs).toISOString().slice(0, 10)}\n` +
      "  → if the date is right, give --trust-clock; a day from now it counts by itself",
  )
}
