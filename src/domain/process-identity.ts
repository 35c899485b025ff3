import * as z from "zod/mini"
import { lazily } from "../base/lazy.ts"

/** Which process does a thing, so that its death can be told from its slowness. */
export const ProcessIdentity = lazily(() =>
  z.strictObject({ bootId: z.string(), pid: z.int().check(z.positive()), startTicks: z.string() }),
)
export type ProcessIdentity = z.infer<ReturnType<typeof ProcessIdentity>>
