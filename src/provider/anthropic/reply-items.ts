import type { Json } from "../../base/canonical.ts"
import { modelFailure } from "../failures.ts"
import { type JsonObject, objectOf } from "../fields.ts"
import { ReplyFault } from "../reply-fault.ts"
import type { Taker, Tell } from "../streamed-items.ts"
import { foreignJson } from "../transport/foreign-json.ts"
import type { ServerEvent } from "../transport/sse.ts"
import type { AnswerTool } from "./answer-tool.ts"
import { failureForEvent } from "./error-reply.ts"
import { createReading } from "./message-reading.ts"

/** Reads a streamed reply. */
export function replyReader(answerTool: AnswerTool | null, tell: Tell): Taker<ServerEvent> {
  const reading = createReading(answerTool)
  let broken: unknown = null
  return {
    take: event => {
      if (reading.isOver()) return
      if (broken !== null) throw broken
      let decoded: JsonObject
      try {
        decoded = decodedEvent(event)
      } catch (error) {
        // As the last one it was cut off with the reply; that shows only when nothing follows.
        broken = error
        return
      }
      for (const item of reading.take(decoded)) tell(item)
    },
    end: () => {
      if (reading.isOver()) return
      throw new ReplyFault(modelFailure("truncated", "the reply broke off before its end"))
    },
  }
}

/** Reads a reply that came at once as if it had been streamed, so that both mean the same. */
export function readWhole(message: Json, answerTool: AnswerTool | null, tell: Tell): void {
  const reading = createReading(answerTool)
  for (const event of eventsOf(message)) for (const item of reading.take(event)) tell(item)
}

function decodedEvent({ event, data }: ServerEvent): JsonObject {
  const decoded = objectOf(foreignJson(data))
  if (decoded === null) throw unreadable("an event is no JSON object")
  return decoded["type"] === undefined && event !== null ? { ...decoded, type: event } : decoded
}

function* eventsOf(value: Json): Generator<JsonObject> {
  const message = objectOf(value)
  if (message?.["type"] === "error") throw new ReplyFault(failureForEvent(message))
  if (message === null || !Array.isArray(message["content"])) throw unreadable("it is no message")
  yield { type: "message_start", message }
  for (const [index, block] of message["content"].entries()) {
    yield { type: "content_block_start", index, content_block: block }
    yield { type: "content_block_stop", index }
  }
  yield { type: "message_delta", delta: { stop_reason: message["stop_reason"] ?? null } }
  yield { type: "message_stop" }
}

function unreadable(why: string): ReplyFault {
  return new ReplyFault(modelFailure("malformed", `the reply cannot be read: ${why}`))
}
