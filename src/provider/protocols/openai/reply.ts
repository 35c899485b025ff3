import type { Json } from "../../../base/canonical.ts"
import { oneLine } from "../../../base/text.ts"
import type { ModelItem } from "../../contract.ts"
import { type JsonObject, listOf, nonEmptyText, objectOf, tokenCount, unreadable } from "../../fields.ts"
import { modelFailure, ReplyFault } from "../../reply-fault.ts"
import type { EmitItem, PieceReader } from "../../streamed-items.ts"
import { foreignJson } from "../../transport/foreign-json.ts"
import type { ServerEvent } from "../../transport/sse.ts"
import { callItems, type PartialCall, takePieces, takeWhole } from "./calls.ts"
import { errorFailure, openAiErrorIn } from "./errors.ts"

/** The facts about a request that are needed to judge its reply. */
export interface OpenAiRequestFacts {
  readonly model: string | null
  readonly replyIndex: number
  readonly windowTokens: number | null
  readonly outputTokensMax: number
  /** True when the answer was to have a shape. */
  readonly isShaped: boolean
  /** Removes secrets from a text. */
  readonly withoutSecret: (text: string) => string
}

/** The parts of a reply that have arrived, except for its text. */
interface Received {
  readonly calls: PartialCall[]
  usage: { readonly input: number; readonly output: number } | null
  finish: string | null
  isRefused: boolean
  /** True while neither text nor thoughts have arrived. */
  isSilent: boolean
  hasText: boolean
  thoughts: string
}

type Reason = Extract<ModelItem, { kind: "end" }>["reason"]

/** Emits what is known once a reply is complete: calls, problems, usage and the end. */
function endReply(received: Received, request: OpenAiRequestFacts, emit: EmitItem): void {
  const { calls, usage, finish, hasText } = received
  const reason = reasonOf(received, request)
  const misplaced =
    reason === "stop" && request.isShaped && !hasText ? shapedThoughts(received.thoughts) : null
  if (misplaced !== null) emit({ kind: "text", text: misplaced })
  if (usage !== null) emit({ kind: "usage", ...usage })
  if (reason !== "refused")
    for (const item of callItems(calls, request.replyIndex, reason === "length")) emit(item)
  // With text it is most likely a call that the model printed.
  if (finish === "tool_calls" && calls.length === 0 && !hasText && reason === "stop")
    emit({ kind: "problem", text: "the reply says that it calls a tool, and it contains no call" })
  emit({ kind: "end", reason })
}

/**
 * Returns an answer among the thoughts: LM Studio and vLLM apply the shape to the thoughts of a model that thinks by
 * itself, and treat the answer as a thought. Null when there is none: mere thoughts are not one JSON object from
 * beginning to end.
 */
function shapedThoughts(thoughts: string): string | null {
  try {
    return objectOf(JSON.parse(thoughts)) === null ? null : thoughts
  } catch {
    // These are real thoughts.
    return null
  }
}

function reasonOf(received: Received, request: OpenAiRequestFacts): Reason {
  const { windowTokens, outputTokensMax } = request
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
    // Many servers report stop with calls as well.
    case "stop":
    case "tool_calls":
      // LM Studio sends nothing and reports stop when the request alone was too long.
      if (isSilent && usage !== null && windowTokens !== null && usage.input >= windowTokens)
        throw windowFull("the reply is empty because the request is longer than the model's window")
      if (isRefused) return "refused"
      if (calls.length === 0) return "stop"
      return isAtLimit(usage, request) ? "length" : "calls"
    default:
      throw unreadable(`the reply ended for an unknown reason: ${oneLine(finish, 80)}`)
  }
}

/**
 * Reports whether the reply ends exactly at a limit: vLLM reports tool_calls also where a limit cut the call off, and
 * may have closed its brackets, so that half a file looks complete.
 */
function isAtLimit(usage: Received["usage"], { windowTokens, outputTokensMax }: OpenAiRequestFacts): boolean {
  if (usage === null) return false
  const { input, output } = usage
  return output === outputTokensMax || input + output === windowTokens
}

/** Reports whether the window is full; servers stop a few tokens before it, or after. */
function isFull({ input, output }: NonNullable<Received["usage"]>, windowTokens: number | null): boolean {
  return windowTokens !== null && input + output >= windowTokens - 8
}

function windowFull(message: string): ReplyFault {
  return new ReplyFault(modelFailure("contextTooLong", message))
}

/** Reads a streamed reply. */
export function openAiReplyReader(request: OpenAiRequestFacts, emit: EmitItem): PieceReader<ServerEvent> {
  const received = emptyReply()
  return {
    take: event => {
      // The item that this emits ends the reply for its reader.
      if (event.data.trim() === "[DONE]") return endReply(received, request, emit)
      const chunk = chunkIn(event, request)
      if (chunk === null) return
      const choice = firstChoice(chunk)
      take(received, chunk, choice, objectOf(choice?.["delta"]), takePieces, emit)
    },
    end: () => endReply(received, request, emit),
  }
}

/** Reads a reply that came as one piece of JSON. */
export function readOpenAiReply(body: Json, request: OpenAiRequestFacts, emit: EmitItem): void {
  const reply = objectOf(body)
  throwError(body, request)
  const choice = reply === null ? null : firstChoice(reply)
  const message = objectOf(choice?.["message"])
  if (reply === null || message === null)
    throw unreadable("the server's reply cannot be used: it contains no message")
  const received = emptyReply()
  take(received, reply, choice, message, takeWhole, emit)
  endReply(received, request, emit)
}

/** Longer thoughts are not a misplaced answer. */
const thoughtsMax = 1_000_000

type TakeCalls = (calls: PartialCall[], pieces: readonly Json[]) => void

function take(
  received: Received,
  { usage }: JsonObject,
  choice: JsonObject | null,
  message: JsonObject | null,
  takeCalls: TakeCalls,
  emit: EmitItem,
): void {
  received.usage = usageIn(usage, received.usage)
  received.finish = nonEmptyText(choice?.["finish_reason"]) ?? received.finish
  if (message === null) return
  takeCalls(received.calls, listOf(message["tool_calls"]))
  // Thoughts are not part of the answer, but they show that the model answered.
  const thought = nonEmptyText(message["reasoning_content"]) ?? nonEmptyText(message["reasoning"])
  if (thought !== null) {
    received.isSilent = false
    if (received.thoughts.length <= thoughtsMax) received.thoughts += thought
  }
  const refusal = nonEmptyText(message["refusal"])
  if (refusal !== null) received.isRefused = true
  for (const text of [textIn(message["content"]), refusal]) {
    if (text === null) continue
    received.isSilent = false
    received.hasText = true
    emit({ kind: "text", text })
  }
}

/** Returns null when the event contains nothing of the reply. */
function chunkIn({ event, data }: ServerEvent, request: OpenAiRequestFacts): JsonObject | null {
  const isOurs = event === null || event === "message" || event === "error"
  let body: Json
  try {
    body = foreignJson(data)
  } catch (error) {
    if (event === "error") throw new ReplyFault(errorFailure(openAiErrorIn(data), null, request))
    if (!isOurs || data.trim() === "") return null
    throw error
  }
  if (event === "error") throw new ReplyFault(errorFailure(openAiErrorIn(body), null, request))
  throwError(body, request)
  const chunk = objectOf(body)
  if (chunk === null && isOurs)
    throw unreadable("the server's reply cannot be used: a piece of it is not an object")
  return chunk
}

/** Throws the error of a body: some servers report a failure with status 200, because they had begun to answer. */
function throwError(body: Json, request: OpenAiRequestFacts): void {
  const object = objectOf(body)
  if (object === null || (object["choices"] !== undefined && (object["error"] ?? null) === null)) return
  const error = openAiErrorIn(body)
  if (error.isKnown) throw new ReplyFault(errorFailure(error, null, request))
}

/** Returns the first answer. Only one is requested; a server that sends more numbers them. */
function firstChoice(reply: JsonObject): JsonObject | null {
  const choices = reply["choices"] ?? null
  if (choices !== null && !Array.isArray(choices))
    throw unreadable("the server's reply cannot be used: its choices are not a list")
  const known = listOf(choices).map(objectOf)
  return known.find(choice => choice !== null && (choice["index"] ?? 0) === 0) ?? null
}

/** Returns text, or the texts in a list of parts. */
function textIn(content: Json | undefined): string | null {
  if (content === undefined || content === null || typeof content === "string") return nonEmptyText(content)
  if (!Array.isArray(content)) throw unreadable("the server's reply cannot be used: its content is not text")
  const texts = listOf(content).map(
    part => nonEmptyText(part) ?? nonEmptyText(objectOf(part)?.["text"]) ?? "",
  )
  return nonEmptyText(texts.join(""))
}

/**
 * Returns the new usage, or the one reported before; zero for a half that was never reported. An absurd count is
 * ignored.
 */
function usageIn(value: Json | undefined, before: Received["usage"]): Received["usage"] {
  const object = objectOf(value)
  const { prompt_tokens: prompt = null, completion_tokens: completion = null } = object ?? {}
  if (prompt === null && completion === null) return before
  const input = prompt === null ? (before?.input ?? 0) : tokenCount(prompt)
  const output = completion === null ? (before?.output ?? 0) : tokenCount(completion)
  return input === null || output === null ? before : { input, output }
}

function emptyReply(): Received {
  return {
    calls: [],
    usage: null,
    finish: null,
    isRefused: false,
    isSilent: true,
    hasText: false,
    thoughts: "",
  }
}
