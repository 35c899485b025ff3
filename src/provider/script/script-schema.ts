import * as z from "zod/mini"
import type { Json } from "../../base/canonical.ts"
import { lazily } from "../../base/lazy.ts"
import { described } from "../../domain/events/definition.ts"
import { type Stage, stages } from "../../domain/stage.ts"

/** One reply of a scripted model. */
export interface ScriptReply {
  readonly stage: Stage | "agent"
  /** Null when there is only a fault. */
  readonly content: { readonly text: string; readonly calls: readonly ScriptCall[] } | null
  /** A fault of the reply. With content only `slow` is allowed, which delays it. */
  readonly fault: { readonly kind: FaultKind; readonly afterMs: number } | null
  readonly usage: { readonly input: number; readonly output: number } | null
}

export interface ScriptCall {
  readonly id: string | null
  readonly tool: string
  readonly arguments: Json
}

const faultKinds = ["rate_limit", "overloaded", "timeout", "disconnect", "garbage", "slow"] as const
export type FaultKind = (typeof faultKinds)[number]

const hourMs = 3_600_000

const Count = lazily(() => z.int().check(z.nonnegative()))
const AfterMs = lazily(() =>
  z._default(described(z.int().check(z.minimum(0), z.maximum(hourMs)), "delay before it happens"), 0),
)
const Free = lazily(() => z.record(z.string(), z.json()))

const shared = lazily(() => ({
  stage: described(
    z.enum([...stages, "agent"]),
    "the stage that the reply is for; an error for any other stage",
  ),
  usage: z.optional(described(z.strictObject({ input: Count(), output: Count() }), "tokens it counts as")),
}))

const delayed = lazily(() => ({
  ...shared(),
  fault: z.optional(
    described(z.strictObject({ kind: z.literal("slow"), after_ms: AfterMs() }), "delays this reply"),
  ),
}))

const Call = lazily(() =>
  z.strictObject({
    id: z.optional(z.string().check(z.minLength(1), z.maxLength(128))),
    tool: z.string().check(z.minLength(1)),
    args: z._default(z.json(), () => ({})),
  }),
)

const Forms = lazily(() => ({
  plan: described(z.strictObject({ ...delayed(), plan: Free() }), "a plan; see `acode schema plan`"),
  questions: described(
    z.strictObject({
      ...delayed(),
      questions: z.array(z.string().check(z.minLength(1))).check(z.minLength(1)),
    }),
    "questions that the planner asks first",
  ),
  answer: described(
    z.strictObject({ ...delayed(), answer: z.string() }),
    "the planner's answer to a question, which ends the session",
  ),
  calls: described(
    z.strictObject({
      ...delayed(),
      text: z.optional(described(z.string(), "text before the calls")),
      calls: z.array(Call()).check(z.minLength(1)),
    }),
    "tools to call",
  ),
  text: described(
    z.strictObject({ ...delayed(), text: z.string() }),
    "text, or anything a model might write",
  ),
  verdict: described(
    z.strictObject({ ...delayed(), verdict: Free() }),
    "of a verifier {criteria: [{id, verdict, reason}]}, of a reviewer {decision, summary, findings}",
  ),
  fault: described(
    z.strictObject({
      ...shared(),
      fault: z.strictObject({ kind: z.enum(faultKinds), after_ms: AfterMs() }),
    }),
    "a model that does not answer; the next request takes the next reply",
  ),
}))
type Forms = ReturnType<typeof Forms>
/** A form of a reply, named by the property that identifies it. */
export type ReplyForm = keyof Forms

/** All forms, for the JSON Schema. Reading chooses the form first, so that a problem is reported for one form only. */
export const ScriptFile = lazily(() => {
  const forms = Forms()
  return z.strictObject({
    replies: described(
      z
        .array(
          z.xor([
            forms.plan,
            forms.questions,
            forms.answer,
            forms.calls,
            forms.text,
            forms.verdict,
            forms.fault,
          ]),
        )
        .check(z.minLength(1)),
      "used in order; the index of the next is the number of replies the session has recorded",
    ),
  })
})

export type ParsedReply = { readonly reply: ScriptReply } | { readonly issues: readonly z.core.$ZodIssue[] }

/** Reads one reply of a known form. */
export function parseReply(form: ReplyForm, value: Json): ParsedReply {
  const parsed = Forms()[form].safeParse(value)
  return parsed.success ? { reply: scriptReply(parsed.data) } : { issues: parsed.error.issues }
}

function scriptReply(data: z.infer<Forms[ReplyForm]>): ScriptReply {
  const { stage, usage = null, fault } = data
  return {
    stage,
    usage,
    fault: fault === undefined ? null : { kind: fault.kind, afterMs: fault.after_ms },
    content: contentOf(data),
  }
}

function contentOf(data: z.infer<Forms[ReplyForm]>): ScriptReply["content"] {
  if ("plan" in data) return { text: JSON.stringify(data.plan), calls: [] }
  if ("questions" in data) return { text: JSON.stringify({ questions: data.questions }), calls: [] }
  if ("answer" in data) return { text: JSON.stringify({ answer: data.answer }), calls: [] }
  if ("verdict" in data) return { text: JSON.stringify(data.verdict), calls: [] }
  if ("calls" in data)
    return {
      text: data.text ?? "",
      calls: data.calls.map(({ id = null, tool, args }) => ({ id, tool, arguments: args })),
    }
  return "text" in data ? { text: data.text, calls: [] } : null
}
