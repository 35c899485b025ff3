import type { Json } from "../../../base/canonical.ts"
import { oneLine } from "../../../base/text.ts"
import type { ModelCall, ModelFailure, ModelItem } from "../../contract.ts"
import {
  type JsonObject,
  listAt,
  objectAt,
  objectOf,
  textField,
  tokenCount,
  unreadable,
} from "../../fields.ts"
import { ownCallId, unusableArguments } from "../../limits.ts"
import { failedItem, ReplyFault } from "../../reply-fault.ts"
import type { Taker, Tell } from "../../streamed-items.ts"
import { type OllamaTarget, ollamaErrorIn, streamError } from "./errors.ts"
import { refusedCloud } from "./model-facts.ts"
import { cutByServer } from "./window.ts"

/** What has to be known of a request to read its reply. */
interface AskedFor extends OllamaTarget {
  readonly model: string
  readonly replyIndex: number
  /** How long the request is by our own estimate. */
  readonly estimated: number
  /** How much of it the server has to read in any case. */
  readonly least: number
}

/** Reads the parts of a streamed reply, or the only part of a whole one. */
export function ollamaReplyReader(asked: AskedFor, tell: Tell): Taker<Json> {
  let callCount = 0
  return {
    take: value => {
      const part = checkedPart(value, asked)
      const message = objectAt(part, "message") ?? {}
      const text = textField(message, "content")
      if (text !== "") tell({ kind: "text", text })
      for (const call of listAt(message, "tool_calls")) {
        callCount += 1
        tell(callItem(call, ownCallId(asked.replyIndex, callCount)))
      }
      // The last item ends the reply, for whoever reads it.
      if (part["done"] === true) endReply(part, asked, callCount > 0, tell)
    },
    end: () => tell(failedItem("truncated", "the reply broke off before the server said that it is done")),
  }
}

function checkedPart(value: Json, asked: AskedFor): JsonObject {
  const part = objectOf(value)
  if (part === null) throw unreadable("the server's reply cannot be used: a part of it is no object")
  if ((part["error"] ?? null) !== null)
    throw new ReplyFault(streamError(ollamaErrorIn(part) ?? "it does not say why", asked))
  const elsewhere = textField(part, "remote_host")
  if (elsewhere !== "") throw new ReplyFault(refusedCloud(asked.model, elsewhere))
  const isDone = part["done"] ?? false
  if (typeof isDone !== "boolean")
    throw unreadable("the server's reply cannot be used: its done is neither true nor false")
  if (!isDone && (part["message"] ?? null) === null)
    throw unreadable("the server's reply cannot be used: a part of it holds no message; is it Ollama?")
  return part
}

/** What was used, and then the end, which is only one when its reason is known. */
function endReply(part: JsonObject, asked: AskedFor, hasCalls: boolean, tell: Tell): void {
  const counted = tokenCount(part["prompt_eval_count"])
  const output = tokenCount(part["eval_count"])
  if (counted !== null || output !== null) tell({ kind: "usage", input: counted ?? 0, output: output ?? 0 })
  const cut: ModelFailure | null = cutByServer(asked.estimated, counted, asked.windowTokens, asked.least)
  tell(cut === null ? endFor(textField(part, "done_reason"), hasCalls) : { kind: "failure", failure: cut })
}

function endFor(reason: string, hasCalls: boolean): ModelItem {
  switch (reason) {
    case "stop":
      return { kind: "end", reason: hasCalls ? "calls" : "stop" }
    case "length":
      return { kind: "end", reason: "length" }
    case "load":
    case "unload":
      return failedItem("unavailable", `the server did not answer: it did no more than ${reason} the model`)
    case "":
      return failedItem(
        "truncated",
        "the server does not say why the reply ended, so it may be only half of it",
      )
    default:
      return failedItem("malformed", `the reply ended for a reason that is not known: ${oneLine(reason, 80)}`)
  }
}

/**
 * One call as an item. What only the model got wrong is a problem that it can be told; the server's own ids are left
 * aside, for they differ from version to version and are missing in older ones.
 */
function callItem(value: Json, id: string): ModelItem {
  const call = objectOf(value)
  const wanted = call === null ? null : objectAt(call, "function")
  const name = wanted?.["name"]
  if (wanted === null || typeof name !== "string" || name.trim() === "")
    return problem("a call of a tool names no tool")
  const args = argumentsOf(wanted)
  if (args === null) return problem(`the arguments of the call of ${oneLine(name, 80)} are no JSON object`)
  const unusable = unusableArguments(name, args)
  if (unusable !== null) return problem(unusable)
  const made: ModelCall = { id, tool: name, arguments: args }
  return { kind: "call", call: made }
}

/** Null when they are no object. Servers that only look like Ollama write them as text. */
function argumentsOf(wanted: JsonObject): JsonObject | null {
  const given = wanted["arguments"] ?? {}
  if (typeof given !== "string") return objectOf(given)
  try {
    return objectOf(JSON.parse(given))
  } catch {
    // The model is told that it is no object; where the parser gave up says nothing to it.
    return null
  }
}

function problem(text: string): ModelItem {
  return { kind: "problem", text }
}
