import type { Json } from "../../base/canonical.ts"
import { oneLine } from "../../base/text.ts"
import type { ModelFailure, ModelItem } from "../contract.ts"
import { failed } from "../failures.ts"
import { countAt, type JsonObject, listAt, objectAt, objectOf, textAt, unreadable } from "../fields.ts"
import { type Items, ReplyFault } from "../reply-fault.ts"
import { refusedCloud } from "./cloud.ts"
import { type AskedModel, errorIn, streamError } from "./server-errors.ts"
import { callItem } from "./tool-calls.ts"
import { cutByServer } from "./window.ts"

/** What has to be known of a request to read its reply. */
interface AskedFor extends AskedModel {
  readonly model: string
  readonly replyIndex: number
  /** How long the request is by our own estimate. */
  readonly estimated: number
}

/**
 * The parts of a streamed reply, together as they came, or the only part of a whole one, as items. Throws `ReplyFault`
 * when a part cannot be used.
 */
export async function* replyItems(
  parts: AsyncIterable<Iterable<Json>> | Iterable<Iterable<Json>>,
  asked: AskedFor,
): AsyncGenerator<Items> {
  let callCount = 0
  const itemsIn = function* (together: Iterable<Json>): Generator<ModelItem> {
    for (const value of together) {
      const part = checkedPart(value, asked)
      const message = objectAt(part, "message") ?? {}
      const text = textAt(message, "content")
      if (text !== "") yield { kind: "text", text }
      for (const call of listAt(message, "tool_calls")) {
        callCount += 1
        yield callItem(call, `call_${asked.replyIndex}_${callCount}`)
      }
      // The last item ends the reply, for whoever reads it.
      if (part["done"] === true) return yield* ending(part, asked, callCount > 0)
    }
  }
  for await (const together of parts) yield itemsIn(together)
  yield [failed("truncated", "the reply broke off before the server said that it is done")]
}

function checkedPart(value: Json, asked: AskedFor): JsonObject {
  const part = objectOf(value)
  if (part === null) throw unreadable("the server's reply cannot be used: a part of it is no object")
  if ((part["error"] ?? null) !== null)
    throw new ReplyFault(streamError(errorIn(part) ?? "it does not say why", asked))
  const elsewhere = textAt(part, "remote_host")
  if (elsewhere !== "") throw new ReplyFault(refusedCloud(asked.model, elsewhere))
  const isDone = part["done"] ?? false
  if (typeof isDone !== "boolean")
    throw unreadable("the server's reply cannot be used: its done is neither true nor false")
  if (!isDone && (part["message"] ?? null) === null)
    throw unreadable("the server's reply cannot be used: a part of it holds no message; is it Ollama?")
  return part
}

/** What was used, and then the end, which is only one when its reason is known. */
function* ending(part: JsonObject, asked: AskedFor, hasCalls: boolean): Generator<ModelItem> {
  const counted = countAt(part, "prompt_eval_count")
  const output = countAt(part, "eval_count")
  if (counted !== null || output !== null) yield { kind: "usage", input: counted ?? 0, output: output ?? 0 }
  const cut: ModelFailure | null = cutByServer(asked.estimated, counted, asked.windowTokens)
  if (cut !== null) return yield { kind: "failure", failure: cut }
  yield endFor(textAt(part, "done_reason"), hasCalls)
}

function endFor(reason: string, hasCalls: boolean): ModelItem {
  switch (reason) {
    case "stop":
      return { kind: "end", reason: hasCalls ? "calls" : "stop" }
    case "length":
      return { kind: "end", reason: "length" }
    case "load":
    case "unload":
      return failed("unavailable", `the server did not answer: it did no more than ${reason} the model`)
    case "":
      return failed("truncated", "the server does not say why the reply ended, so it may be only half of it")
    default:
      return failed("malformed", `the reply ended for a reason that is not known: ${oneLine(reason, 80)}`)
  }
}
