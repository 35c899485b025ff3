import type { Json } from "../../../../src/base/canonical.ts"
import type { ModelFailure, ModelItem } from "../../../../src/provider/contract.ts"
import type { JsonObject } from "../../../../src/provider/fields.ts"
import {
  createReading,
  readAnthropicReply as readMessage,
} from "../../../../src/provider/protocols/anthropic/reply.ts"
import type { AnswerTool } from "../../../../src/provider/protocols/anthropic/transcript.ts"
import { failureOf } from "../../../../src/provider/reply-fault.ts"
import type { ModelSettings } from "../../../../src/provider/server.ts"
import type { EmitItem } from "../../../../src/provider/streamed-items.ts"
import type { TransportLimits } from "../../../../src/provider/transport/contract.ts"

export const limits: TransportLimits = {
  connectMs: 5_000,
  firstByteMs: 5_000,
  betweenMs: 5_000,
  wholeMs: 10_000,
}

export function settingsOf(changes: Partial<ModelSettings> = {}): ModelSettings {
  return {
    model: "claude-sonnet-4-5",
    windowTokens: null,
    outputTokensMax: 4096,
    temperature: null,
    topP: null,
    keepAlive: "30m",
    streams: true,
    limits,
    ...changes,
  }
}

/** The items of these events, and the failure that ended them. */
export function read(events: readonly JsonObject[], answerTool: AnswerTool | null = null): ModelItem[] {
  const reading = createReading(answerTool)
  return told(tell => {
    for (const event of events) for (const item of reading.take(event)) tell(item)
  })
}

export function readWhole(message: Json, answerTool: AnswerTool | null = null): ModelItem[] {
  return told(tell => readMessage(message, answerTool, tell))
}

function told(reading: (tell: EmitItem) => void): ModelItem[] {
  const all: ModelItem[] = []
  try {
    reading(item => void all.push(item))
  } catch (error) {
    all.push({ kind: "failure", failure: failureOf(error) })
  }
  return all
}

export function failureIn(items: readonly ModelItem[]): ModelFailure | null {
  const last = items.at(-1)
  return last?.kind === "failure" ? last.failure : null
}

export function textIn(items: readonly ModelItem[]): string {
  return items.map(item => (item.kind === "text" ? item.text : "")).join("")
}

export function started(index: number, block: JsonObject): JsonObject {
  return { type: "content_block_start", index, content_block: block }
}

export function delta(index: number, change: JsonObject): JsonObject {
  return { type: "content_block_delta", index, delta: change }
}

export function textDelta(index: number, text: string): JsonObject {
  return delta(index, { type: "text_delta", text })
}

export function jsonDelta(index: number, partial: string): JsonObject {
  return delta(index, { type: "input_json_delta", partial_json: partial })
}

export function stopped(index: number): JsonObject {
  return { type: "content_block_stop", index }
}

/** A call in as many pieces as it is given. */
export function calling(index: number, name: string, ...pieces: readonly string[]): JsonObject[] {
  const block = { type: "tool_use", id: `toolu_${index}`, name, input: {} }
  return [started(index, block), ...pieces.map(piece => jsonDelta(index, piece)), stopped(index)]
}

export function saying(index: number, ...pieces: readonly string[]): JsonObject[] {
  const begin = started(index, { type: "text", text: "" })
  return [begin, ...pieces.map(piece => textDelta(index, piece)), stopped(index)]
}

export function ending(reason: string, usage: JsonObject = {}): JsonObject[] {
  return [{ type: "message_delta", delta: { stop_reason: reason }, usage }, { type: "message_stop" }]
}
