import * as z from "zod/mini"
import { lazily } from "../base/lazy.ts"

/** The process that does a thing, so that a dead process can be distinguished from a slow one. */
export const ProcessIdentity = lazily(() =>
  z.strictObject({ bootId: z.string(), pid: z.int().check(z.positive()), startTicks: z.string() }),
)
export type ProcessIdentity = z.infer<ReturnType<typeof ProcessIdentity>>
