import * as z from "zod/mini"
import { canonicalJson, type Json, sha256Hex } from "../../base/canonical.ts"
import { lazily } from "../../base/lazy.ts"
import { stages } from "../../domain/stage.ts"
import { type ModelMessage, type ModelRequest, modelFailureKinds } from "../contract.ts"
import { findUnusable } from "../limits.ts"

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
    /** Hashes that show what differs. */
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
 * Reads complete JSON lines. Of a reply that is there twice, because acode died before the session had recorded it, the
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
    // The parser's message differs between versions and contains no useful position.
    return "is not JSON"
  }
  const unusable = findUnusable(value)
  if (unusable !== null) return `contains something that ${unusable.message}`
  return RecordedReply().safeParse(value).data ?? "is not a recorded reply of this version"
}

/** A request by the hashes of its parts: enough to report which part of another request differs. */
export interface RequestPrint {
  readonly digest: string
  readonly tools: string
  /** `role:hash` of each message. */
  readonly messages: readonly string[]
}

/**
 * Hashes the stage, the messages and the names of the tools. Ids of calls are left out: their numbering may change.
 * `settled` removes varying parts of a text.
 */
export function requestPrint(request: ModelRequest, settled: (text: string) => string): RequestPrint {
  const tools = request.tools.map(({ name }) => name).join(",")
  const messages = request.messages.map(message => {
    const content = canonicalJson(mapTexts(contentOf(message), settled))
    return `${message.role}:${sha256Hex(content).slice(0, 16)}`
  })
  const digest = sha256Hex(canonicalJson({ stage: request.stage, tools, messages }))
  return { digest: `sha256:${digest}`, tools, messages }
}

function contentOf(message: ModelMessage): Json {
  if (message.role !== "assistant") return message.text
  const calls = message.calls.map(({ tool, arguments: args }) => ({ tool, arguments: args }))
  return { text: message.text, calls }
}

/** Returns the same value with every text in it changed; names of properties stay. */
export function mapTexts(value: Json, change: (text: string) => string): Json {
  if (typeof value === "string") return change(value)
  if (typeof value !== "object" || value === null) return value
  if (isList(value)) return value.map(member => mapTexts(member, change))
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, mapTexts(member, change)]))
}

/** Narrows to a list: `Array.isArray` forgets that a list may be read-only. */
function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}
