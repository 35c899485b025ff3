import { assert } from "../base/assert.ts"
import { toIso } from "../base/clock.ts"

/** Sorts before and after every time there is, for ranges that are open on a side. */
const earliest = ""
const latest = "~"

/** A range of times as they are stored; since is inclusive, until exclusive. */
export function timeRange(range: { readonly since?: string; readonly until?: string }): {
  readonly since: string
  readonly until: string
} {
  return {
    since: range.since === undefined ? earliest : instant(range.since),
    until: range.until === undefined ? latest : instant(range.until),
  }
}

/** One spelling of time, because rows are compared as text. */
export function instant(time: string): string {
  const epochMs = Date.parse(time)
  assert(Number.isFinite(epochMs), `"${time}" is a time`)
  return toIso(epochMs)
}
