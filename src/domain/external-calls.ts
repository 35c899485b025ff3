import * as z from "zod/mini"
import { described } from "./described.ts"
import { lazily } from "./lazily.ts"

/** One request to a server that is not on this machine: when, where to, what came of it; nothing of what it held. */
const ExternalCall = lazily(() =>
  z.strictObject({
    at: z.iso.datetime(),
    method: z.enum(["GET", "POST"]),
    url: described(z.string(), "without a query"),
    status: described(z.nullable(z.int()), "null when nobody answered"),
    failure: described(z.nullable(z.string()), "its kind; both are null when nobody waited for the answer"),
  }),
)
export type ExternalCall = z.infer<ReturnType<typeof ExternalCall>>

const ExternalCalls = lazily(() =>
  z.strictObject({
    calls: z.array(ExternalCall()),
    omittedCount: described(z.int().check(z.nonnegative()), "how many there were besides"),
  }),
)
export type ExternalCalls = z.infer<ReturnType<typeof ExternalCalls>>

/** The member of an event; there is none where nothing left this machine. */
export function externalCallsFor(what: string) {
  return described(z.optional(ExternalCalls()), `what was asked elsewhere ${what}; only where something was`)
}
