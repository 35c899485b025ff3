import type { Json } from "../../../base/canonical.ts"
import { oneLine } from "../../../base/text.ts"
import type { ModelItem } from "../../contract.ts"
import { type JsonObject, listOf, objectOf, tokenCount, unreadable, wordsOf } from "../../fields.ts"
import { modelFailure, ReplyFault } from "../../reply-fault.ts"
import type { Taker, Tell } from "../../streamed-items.ts"
import { foreignJson } from "../../transport/foreign-json.ts"
import type { ServerEvent } from "../../transport/sse.ts"
import { callItems, type PartialCall, takePieces, takeWhole } from "./calls.ts"
import { errorFailure, openAiErrorIn } from "./errors.ts"

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
interface Received {
  readonly calls: PartialCall[]
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
function endReply(received: Received, asked: Asked, tell: Tell): void {
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

/** Reads a reply that comes in events. */
export function openAiReplyReader(asked: Asked, tell: Tell): Taker<ServerEvent> {
  const received = nothingYet()
  return {
    take: event => {
      // The last item ends the reply, for whoever reads it.
      if (event.data.trim() === "[DONE]") return endReply(received, asked, tell)
      const chunk = chunkIn(event, asked)
      if (chunk === null) return
      const choice = firstChoice(chunk)
      take(received, chunk, choice, objectOf(choice?.["delta"]), takePieces, tell)
    },
    end: () => endReply(received, asked, tell),
  }
}

/** Reads a reply that came as one piece of JSON. */
export function readOpenAiReply(body: Json, asked: Asked, tell: Tell): void {
  const reply = objectOf(body)
  throwError(body, asked)
  const choice = reply === null ? null : firstChoice(reply)
  const message = objectOf(choice?.["message"])
  if (reply === null || message === null)
    throw unreadable("the server's reply cannot be used: there is no message in it")
  const received = nothingYet()
  take(received, reply, choice, message, takeWhole, tell)
  endReply(received, asked, tell)
}

/** Longer ones are no answer in the wrong place. */
const thoughtsMax = 1_000_000

type TakeCalls = (calls: PartialCall[], pieces: readonly Json[]) => void

function take(
  received: Received,
  { usage }: JsonObject,
  choice: JsonObject | null,
  said: JsonObject | null,
  takeCalls: TakeCalls,
  tell: Tell,
): void {
  received.usage = usageIn(usage, received.usage)
  received.finish = wordsOf(choice?.["finish_reason"]) ?? received.finish
  if (said === null) return
  takeCalls(received.calls, listOf(said["tool_calls"]))
  // What a model thinks is no part of its answer, but it shows that there was one.
  const thought = wordsOf(said["reasoning_content"]) ?? wordsOf(said["reasoning"])
  if (thought !== null) {
    received.isSilent = false
    if (received.thoughts.length <= thoughtsMax) received.thoughts += thought
  }
  const refusal = wordsOf(said["refusal"])
  if (refusal !== null) received.isRefused = true
  for (const text of [textIn(said["content"]), refusal]) {
    if (text === null) continue
    received.isSilent = false
    received.hasText = true
    tell({ kind: "text", text })
  }
}

/** Null when the event tells nothing about the reply. */
function chunkIn({ event, data }: ServerEvent, asked: Asked): JsonObject | null {
  const isOurs = event === null || event === "message" || event === "error"
  let body: Json
  try {
    body = foreignJson(data)
  } catch (error) {
    if (event === "error") throw new ReplyFault(errorFailure(openAiErrorIn(data), null, asked))
    if (!isOurs || data.trim() === "") return null
    throw error
  }
  if (event === "error") throw new ReplyFault(errorFailure(openAiErrorIn(body), null, asked))
  throwError(body, asked)
  const chunk = objectOf(body)
  if (chunk === null && isOurs)
    throw unreadable("the server's reply cannot be used: a piece of it is no object")
  return chunk
}

/** Some servers tell a failure with status 200, because they had begun to answer. */
function throwError(body: Json, asked: Asked): void {
  const object = objectOf(body)
  if (object === null || (object["choices"] !== undefined && (object["error"] ?? null) === null)) return
  const error = openAiErrorIn(body)
  if (error.isTold) throw new ReplyFault(errorFailure(error, null, asked))
}

/** One answer is asked for; a server that gives more numbers them. */
function firstChoice(reply: JsonObject): JsonObject | null {
  const choices = reply["choices"] ?? null
  if (choices !== null && !Array.isArray(choices))
    throw unreadable("the server's reply cannot be used: its choices are no list")
  const known = listOf(choices).map(objectOf)
  return known.find(choice => choice !== null && (choice["index"] ?? 0) === 0) ?? null
}

/** Text, or a list of parts of which some are text. */
function textIn(content: Json | undefined): string | null {
  if (content === undefined || content === null || typeof content === "string") return wordsOf(content)
  if (!Array.isArray(content)) throw unreadable("the server's reply cannot be used: its content is no text")
  const texts = listOf(content).map(part => wordsOf(part) ?? wordsOf(objectOf(part)?.["text"]) ?? "")
  return wordsOf(texts.join(""))
}

/** What is told now, or else what was told before; zero for a half that nobody told. What is absurd tells nothing. */
function usageIn(value: Json | undefined, before: Received["usage"]): Received["usage"] {
  const told = objectOf(value)
  const { prompt_tokens: prompt = null, completion_tokens: completion = null } = told ?? {}
  if (prompt === null && completion === null) return before
  const input = prompt === null ? (before?.input ?? 0) : tokenCount(prompt)
  const output = completion === null ? (before?.output ?? 0) : tokenCount(completion)
  return input === null || output === null ? before : { input, output }
}

function nothingYet(): Received {
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
