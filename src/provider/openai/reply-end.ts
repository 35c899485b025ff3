import { oneLine } from "../../base/text.ts"
import type { ModelItem } from "../contract.ts"
import { modelFailure } from "../failures.ts"
import { objectOf, unreadable } from "../fields.ts"
import { ReplyFault } from "../reply-fault.ts"
import type { Tell } from "../streamed-items.ts"
import type { OpenCall } from "./call-assembly.ts"
import { callItems } from "./call-reading.ts"

/** What was asked, as far as the reply is judged by it. */
export interface Asked {
  readonly model: string | null
  readonly replyIndex: number
  readonly windowTokens: number | null
  readonly outputTokensMax: number
  /** Whether the answer was to have a shape. */
  readonly isShaped: boolean
  /** Takes out of a text what nobody may read. */
  readonly withoutSecret: (text: string) => string
}

/** What has come of a reply, but for its text. */
export interface Received {
  readonly calls: OpenCall[]
  usage: { readonly input: number; readonly output: number } | null
  finish: string | null
  isRefused: boolean
  /** Neither text nor thoughts. */
  isSilent: boolean
  hasText: boolean
  thoughts: string
}

type Reason = Extract<ModelItem, { kind: "end" }>["reason"]

/** Tells what is known once a reply is whole: calls, problems, usage and how it ended. */
export function endReply(received: Received, asked: Asked, tell: Tell): void {
  const { calls, usage, finish, hasText } = received
  const reason = reasonOf(received, asked)
  const misplaced = reason === "stop" && asked.isShaped && !hasText ? shapedThoughts(received.thoughts) : null
  if (misplaced !== null) tell({ kind: "text", text: misplaced })
  if (usage !== null) tell({ kind: "usage", ...usage })
  if (reason !== "refused")
    for (const item of callItems(calls, asked.replyIndex, reason === "length")) tell(item)
  // With text it is most likely a call that the model printed.
  if (finish === "tool_calls" && calls.length === 0 && !hasText && reason === "stop")
    tell({ kind: "problem", text: "the reply says that it calls a tool, and there is no call in it" })
  tell({ kind: "end", reason })
}

/**
 * LM Studio and vLLM force the shape upon what the model thinks, where it thinks by itself, and take the answer for a
 * thought. Null when it is none: only thoughts are not one JSON object from end to end.
 */
function shapedThoughts(thoughts: string): string | null {
  try {
    return objectOf(JSON.parse(thoughts)) === null ? null : thoughts
  } catch {
    // Then the model did think.
    return null
  }
}

function reasonOf(received: Received, asked: Asked): Reason {
  const { windowTokens, outputTokensMax } = asked
  const { calls, usage, finish, isRefused } = received
  const isSilent = received.isSilent && calls.length === 0
  switch (finish) {
    case null:
      throw new ReplyFault(modelFailure("truncated", "the reply broke off without saying how it ended"))
    case "length":
      if (usage !== null && usage.output < outputTokensMax && (isSilent || isFull(usage, windowTokens)))
        throw windowFull("the reply broke off because the model's window was full")
      return "length"
    case "content_filter":
      return "refused"
    // Also with calls many servers say stop.
    case "stop":
    case "tool_calls":
      // LM Studio says nothing at all, and that it stopped, when the request alone was too long.
      if (isSilent && usage !== null && windowTokens !== null && usage.input >= windowTokens)
        throw windowFull("the reply is empty because the request is longer than the model's window")
      if (isRefused) return "refused"
      if (calls.length === 0) return "stop"
      return isAtLimit(usage, asked) ? "length" : "calls"
    default:
      throw unreadable(`the reply ended for a reason that is not known here: ${oneLine(finish, 80)}`)
  }
}

/**
 * vLLM says that a reply calls a tool also where a limit cut the call off, and may have closed its brackets: half a
 * file looks whole. Who keeps to a limit ends exactly at it.
 */
function isAtLimit(usage: Received["usage"], { windowTokens, outputTokensMax }: Asked): boolean {
  if (usage === null) return false
  const { input, output } = usage
  return output === outputTokensMax || input + output === windowTokens
}

/** Servers stop a few tokens before it, or after. */
function isFull({ input, output }: NonNullable<Received["usage"]>, windowTokens: number | null): boolean {
  return windowTokens !== null && input + output >= windowTokens - 8
}

function windowFull(message: string): ReplyFault {
  return new ReplyFault(modelFailure("contextTooLong", message))
}
