import type { Json } from "../../base/canonical.ts"
import { type JsonObject, listOf, objectOf, tokensOf, unreadable, wordsOf } from "../fields.ts"
import { ReplyFault } from "../reply-fault.ts"
import type { Taker, Tell } from "../streamed-items.ts"
import { foreignJson } from "../transport/foreign-json.ts"
import type { ServerEvent } from "../transport/sse.ts"
import { type OpenCall, takePieces, takeWhole } from "./call-assembly.ts"
import { type Asked, endReply, type Received } from "./reply-end.ts"
import { errorFailure, errorIn } from "./server-errors.ts"

/** Reads a reply that comes in events. */
export function replyReader(asked: Asked, tell: Tell): Taker<ServerEvent> {
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
export function readWhole(body: Json, asked: Asked, tell: Tell): void {
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

type TakeCalls = (calls: OpenCall[], pieces: readonly Json[]) => void

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
    if (event === "error") throw new ReplyFault(errorFailure(errorIn(data), null, asked))
    if (!isOurs || data.trim() === "") return null
    throw error
  }
  if (event === "error") throw new ReplyFault(errorFailure(errorIn(body), null, asked))
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
  const error = errorIn(body)
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
  const input = prompt === null ? (before?.input ?? 0) : tokensOf(prompt)
  const output = completion === null ? (before?.output ?? 0) : tokensOf(completion)
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
