import { toIso } from "../../base/clock.ts"

const units: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
}

/** The hint for an invalid duration. */
export const durationHint = "a duration such as 30d, 12h or 90s"
export const instantText = "a time such as 2026-01-15T00:00:00Z, 2026-01-15 or 2h"

/** The longest duration, a century: no history is older. */
const durationMsMax = 36_525 * 86_400_000

/** Returns `30d`, `12h`, `90s` as milliseconds; null for anything else and for more than a century. */
export function durationOf(typed: string): number | null {
  const found = typed.match(/^(\d+(?:\.\d+)?)([smhdw])$/)
  const ms = Math.round(Number(found?.[1]) * (units[found?.[2] ?? ""] ?? Number.NaN))
  return ms <= durationMsMax ? ms : null
}

/** Returns whether a text is a point in time: ISO, a date, or a duration back from now. */
export function isInstant(typed: string): boolean {
  if (durationOf(typed) !== null) return true
  const [, year, month, day] =
    typed.match(/^(\d{4})-(\d{2})-(\d{2})(?:T[\d:.]+(?:Z|[+-]\d{2}:\d{2})?)?$/) ?? []
  if (Number.isNaN(Date.parse(typed))) return false
  // Date.parse treats the 30th of February as a day in March.
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)))
  return date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day)
}

/** Converts a text that `isInstant` accepts to a point in time in UTC. */
export function instantOf(typed: string, now: number): string {
  const agoMs = durationOf(typed)
  return toIso(agoMs === null ? Date.parse(typed) : now - agoMs)
}
