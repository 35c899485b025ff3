import * as z from "zod/mini"
import { lazily } from "../../base/lazy.ts"

/** The text of an output stream: short text is in the event, long text is an artifact. */
export const RecordedText = lazily(() =>
  z.discriminatedUnion("kind", [
    z.strictObject({ kind: z.literal("inline"), text: z.string() }),
    z.strictObject({ kind: z.literal("artifact"), ref: z.string(), bytes: z.int() }),
    z.strictObject({ kind: z.literal("omitted") }),
  ]),
)
export type RecordedText = z.infer<ReturnType<typeof RecordedText>>
