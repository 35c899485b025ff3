import { toIso } from "../base/clock.ts"
import { printable } from "../base/text.ts"
import { Failure } from "../domain/failure.ts"

const units: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
}

/** `30d`, `12h`, `90s` as milliseconds. */
export function durationOf(typed: string): number {
  const found = typed.match(/^(\d+(?:\.\d+)?)([smhdw])$/)
  const unit = units[found?.[2] ?? ""]
  if (found === null || unit === undefined) throw unreadable(typed, "a duration such as 30d, 12h or 90s")
  return Number(found[1]) * unit
}

/** A point in time: ISO, a date, or a duration back from now. Always given back as UTC. */
export function instantOf(typed: string, now: number): string {
  if (/^\d+(?:\.\d+)?[smhdw]$/.test(typed)) return toIso(now - durationOf(typed))
  const time = /^\d{4}-\d{2}-\d{2}/.test(typed) ? Date.parse(typed) : Number.NaN
  if (Number.isNaN(time)) throw unreadable(typed, "a time such as 2026-01-15T00:00:00Z, 2026-01-15 or 2h")
  return toIso(time)
}

function unreadable(typed: string, wanted: string): Failure {
  return new Failure({
    kind: "usage",
    code: "ACODE-CLI-002",
    message: `"${printable(typed)}" is not ${wanted}`,
    hint: `give ${wanted}`,
  })
}
