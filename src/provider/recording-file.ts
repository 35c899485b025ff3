import * as z from "zod/mini"
import type { Json } from "../base/canonical.ts"
import { lazily } from "../domain/lazily.ts"
import { stages } from "../domain/pipeline/stage.ts"
import { modelFailureKinds } from "./contract.ts"
import { findUnusable } from "./json-limits.ts"

const Count = lazily(() => z.int().check(z.nonnegative()))

const Item = lazily(() =>
  z.discriminatedUnion("kind", [
    z.strictObject({ kind: z.literal("text"), text: z.string() }),
    z.strictObject({
      kind: z.literal("call"),
      call: z.strictObject({ id: z.string(), tool: z.string(), arguments: z.json() }),
    }),
    z.strictObject({ kind: z.literal("problem"), text: z.string() }),
    z.strictObject({ kind: z.literal("usage"), input: Count(), output: Count() }),
    z.strictObject({ kind: z.literal("end"), reason: z.enum(["stop", "calls", "length", "refused"]) }),
    z.strictObject({
      kind: z.literal("failure"),
      failure: z.strictObject({
        kind: z.enum(modelFailureKinds),
        message: z.string(),
        retryable: z.boolean(),
        isConnection: z.optional(z.literal(true)),
        retryAfterMs: z.nullable(Count()),
      }),
    }),
  ]),
)

const RecordedReply = lazily(() =>
  z.strictObject({
    schema: z.literal(1),
    index: Count(),
    stage: z.enum([...stages, "agent"]),
    requestDigest: z.string(),
    /** For telling what differs. */
    request: z.strictObject({ tools: z.string(), messages: z.array(z.string()) }),
    items: z.array(Item()),
  }),
)
/** One line of a recording. */
export type RecordedReply = z.infer<ReturnType<typeof RecordedReply>>

/** The replies of a session by their index. */
export type Recording = ReadonlyMap<number, RecordedReply>

export type RecordingReading =
  | { readonly recording: Recording }
  | { readonly problems: readonly { readonly line: number; readonly message: string }[] }

/**
 * Reads whole JSON lines. Of a reply that was given twice, because acode died before the session had recorded it, the
 * later one counts.
 */
export function readRecording(text: string): RecordingReading {
  const lines = text.split("\n").slice(0, -1)
  const replies = new Map<number, RecordedReply>()
  const problems: { line: number; message: string }[] = []
  for (const [index, line] of lines.entries()) {
    const reply = recordedReply(line)
    if (typeof reply === "string") problems.push({ line: index + 1, message: reply })
    else replies.set(reply.index, reply)
  }
  if (problems.length > 0) return { problems }
  return { recording: replies }
}

function recordedReply(line: string): RecordedReply | string {
  let value: Json
  try {
    value = JSON.parse(line)
  } catch {
    // The parser's message differs from version to version and names no place that helps.
    return "is not JSON"
  }
  const unusable = findUnusable(value)
  if (unusable !== null) return `holds something that ${unusable.message}`
  return RecordedReply().safeParse(value).data ?? "is not a recorded reply of this version"
}
