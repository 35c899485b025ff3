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
import type { EmitItem, PieceReader } from "../../streamed-items.ts"
import { type OllamaTarget, ollamaErrorIn, streamError } from "./errors.ts"
import { refusedCloud } from "./model-facts.ts"
import { cutByServer } from "./window.ts"

/** The facts about a request that are needed to read its reply. */
interface RequestFacts extends OllamaTarget {
  readonly model: string
  readonly replyIndex: number
  /** The length of the request by our own estimate. */
  readonly estimated: number
  /** The part of it that the server has to read in any case. */
  readonly least: number
}

/** Reads the parts of a streamed reply, or the only part of a whole one. */
export function ollamaReplyReader(request: RequestFacts, emit: EmitItem): PieceReader<Json> {
  let callCount = 0
  return {
    take: value => {
      const part = checkedPart(value, request)
      const message = objectAt(part, "message") ?? {}
      const text = textField(message, "content")
      if (text !== "") emit({ kind: "text", text })
      for (const call of listAt(message, "tool_calls")) {
        callCount += 1
        emit(callItem(call, ownCallId(request.replyIndex, callCount)))
      }
      // The item that this emits ends the reply for its reader.
      if (part["done"] === true) endReply(part, request, callCount > 0, emit)
    },
    end: () => emit(failedItem("truncated", "the reply ended before the server reported that it is done")),
  }
}

function checkedPart(value: Json, request: RequestFacts): JsonObject {
  const part = objectOf(value)
  if (part === null) throw unreadable("the server's reply cannot be used: a part of it is not an object")
  if ((part["error"] ?? null) !== null)
    throw new ReplyFault(streamError(ollamaErrorIn(part) ?? "it does not say why", request))
  const elsewhere = textField(part, "remote_host")
  if (elsewhere !== "") throw new ReplyFault(refusedCloud(request.model, elsewhere))
  const isDone = part["done"] ?? false
  if (typeof isDone !== "boolean")
    throw unreadable("the server's reply cannot be used: its done is neither true nor false")
  if (!isDone && (part["message"] ?? null) === null)
    throw unreadable("the server's reply cannot be used: a part of it has no message; is it Ollama?")
  return part
}

/** Emits the usage and then the end, which is a failure when its reason is unknown. */
function endReply(part: JsonObject, request: RequestFacts, hasCalls: boolean, emit: EmitItem): void {
  const counted = tokenCount(part["prompt_eval_count"])
  const output = tokenCount(part["eval_count"])
  if (counted !== null || output !== null) emit({ kind: "usage", input: counted ?? 0, output: output ?? 0 })
  const cut: ModelFailure | null = cutByServer(
    request.estimated,
    counted,
    request.windowTokens,
    request.least,
  )
  emit(cut === null ? endFor(textField(part, "done_reason"), hasCalls) : { kind: "failure", failure: cut })
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
      return failedItem("malformed", `the reply ended for an unknown reason: ${oneLine(reason, 80)}`)
  }
}

/**
 * Returns one call as an item. A mistake of the model becomes a problem that is reported to it; the server's own ids
 * are ignored, because they differ between versions and older ones have none.
 */
function callItem(value: Json, id: string): ModelItem {
  const call = objectOf(value)
  const called = call === null ? null : objectAt(call, "function")
  const name = called?.["name"]
  if (called === null || typeof name !== "string" || name.trim() === "")
    return problem("a call of a tool names no tool")
  const args = argumentsOf(called)
  if (args === null) return problem(`the arguments of the call of ${oneLine(name, 80)} are not a JSON object`)
  const unusable = unusableArguments(name, args)
  if (unusable !== null) return problem(unusable)
  const made: ModelCall = { id, tool: name, arguments: args }
  return { kind: "call", call: made }
}

/** Returns null for anything but an object. Servers that only imitate Ollama write the arguments as text. */
function argumentsOf(called: JsonObject): JsonObject | null {
  const given = called["arguments"] ?? {}
  if (typeof given !== "string") return objectOf(given)
  try {
    return objectOf(JSON.parse(given))
  } catch {
    // The model learns that it is not an object; the position of the parse error would not help it.
    return null
  }
}

function problem(text: string): ModelItem {
  return { kind: "problem", text }
}
