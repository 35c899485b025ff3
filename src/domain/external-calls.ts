import * as z from "zod/mini"
import { lazily } from "../base/lazy.ts"
import { oneLine } from "../base/text.ts"
import { described } from "./events/definition.ts"

/** One request to a server that is not on this machine: time, destination and outcome, but none of its content. */
const ExternalCall = lazily(() =>
  z.strictObject({
    at: z.iso.datetime(),
    method: z.enum(["GET", "POST"]),
    url: described(z.string(), "without a query"),
    status: described(z.nullable(z.int()), "null without an answer"),
    failure: described(
      z.nullable(z.string()),
      "the kind of failure; both are null if acode did not wait for the answer",
    ),
  }),
)
export type ExternalCall = z.infer<ReturnType<typeof ExternalCall>>

const ExternalCalls = lazily(() =>
  z.strictObject({
    calls: z.array(ExternalCall()),
    omittedCount: described(z.int().check(z.nonnegative()), "number of further requests"),
  }),
)
export type ExternalCalls = z.infer<ReturnType<typeof ExternalCalls>>

/** Returns the member of an event that lists such requests; it is absent if nothing left this machine. */
export function externalCallsFor(what: string) {
  return described(
    z.optional(ExternalCalls()),
    `requests to other machines ${what}; omitted if there were none`,
  )
}

export const noExternalCalls: ExternalCalls = { calls: [], omittedCount: 0 }

export function joinedCalls(some: ExternalCalls, more: ExternalCalls): ExternalCalls {
  return {
    calls: [...some.calls, ...more.calls],
    omittedCount: some.omittedCount + more.omittedCount,
  }
}

/** Returns a line for people that lists identical requests once; no line if there are none. */
export function externalCallLines({ calls, omittedCount }: ExternalCalls): readonly string[] {
  if (calls.length === 0) return []
  const counts = new Map<string, number>()
  for (const call of calls) counts.set(textOf(call), (counts.get(textOf(call)) ?? 0) + 1)
  const texts = [...counts].map(([text, count]) => `${text}${count === 1 ? "" : `, ${count} times`})`)
  if (omittedCount > 0) texts.push(`and ${omittedCount} more`)
  return [oneLine(`external calls: ${texts.join(", ")}`, lineMax)]
}

const lineMax = 2_000

function textOf({ method, url, status, failure }: ExternalCall): string {
  const end = [status, failure].filter(part => part !== null)
  return `${method} ${url} (${end.length === 0 ? "no answer" : end.join(" ")}`
}
