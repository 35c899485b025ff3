import type { Json } from "../base/canonical.ts"
import { oneLine } from "../base/text.ts"
import { findUnusable } from "./json-limits.ts"

/** More calls in one reply are not made. */
export const callsMax = 200

/** Longer arguments, as JSON, are not used. */
export const argumentBytesMax = 1_000_000

/** What a model is told that goes beyond a limit: the same request again would get the same answer. */
export const tooManyCalls =
  `the reply calls more than ${callsMax} tools at once: only the first ${callsMax} were called, ` +
  "call fewer at a time"

/** Null when they can be used. */
export function unusableArguments(tool: string, args: Json): string | null {
  const unusable = findUnusable(args)
  if (unusable === null) return null
  return `the arguments of the call of ${oneLine(tool, 80)} cannot be used: one ${unusable.message}`
}

export function tooLongArguments(tool: string): string {
  return (
    `the arguments of the call of ${oneLine(tool, 80)} are longer than ${argumentBytesMax} bytes, so it was not ` +
    "called: do it in smaller parts"
  )
}
