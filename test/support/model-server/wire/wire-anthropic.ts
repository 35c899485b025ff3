import type { Json } from "../../../../src/base/canonical.ts"
import type { FakeCall, FakeReply } from "../contract.ts"
import {
  type Encoding,
  fragmentsOf,
  jsonText,
  sse,
  tokensOf,
  usageOf,
  type Wire,
  type WireEvent,
} from "./wire.ts"

/** Named events, one block after the other, with a ping among them. */
export const anthropicWire: Wire = {
  streamType: "text/event-stream; charset=utf-8",
  chatPath: "/v1/messages",
  events,
  whole,
  frame: sse,
}

function events(reply: FakeReply, encoding: Encoding): readonly WireEvent[] {
  const usage = usageOf(reply, encoding)
  const started = usage === null ? {} : { usage: { input_tokens: usage.input, output_tokens: 1 } }
  const message = {
    ...envelope(encoding),
    content: [],
    stop_reason: null,
    stop_sequence: null,
    ...started,
  }
  const blocks = [
    ...(reply.text === "" ? [] : [textBlock(reply.text)]),
    ...reply.calls.map(callBlock),
  ].flatMap((block, index) => block(index))
  const [opened, ...others] = blocks
  return [
    event("message_start", { message }),
    ...(opened === undefined ? [] : [opened]),
    event("ping", {}),
    ...others,
    event("message_delta", {
      delta: { stop_reason: stopReason(reply), stop_sequence: null },
      ...(usage === null ? {} : { usage: { output_tokens: usage.output } }),
    }),
    event("message_stop", {}),
  ]
}

function event(type: string, more: Readonly<Record<string, Json>>): WireEvent {
  return { name: type, data: { type, ...more } }
}

type Block = (index: number) => readonly WireEvent[]

function textBlock(text: string): Block {
  return index => [
    event("content_block_start", { index, content_block: { type: "text", text: "" } }),
    ...tokensOf(text).map(piece =>
      event("content_block_delta", { index, delta: { type: "text_delta", text: piece } }),
    ),
    event("content_block_stop", { index }),
  ]
}

/** The arguments begin with an empty piece, and are nothing but that for a call without any. */
function callBlock(call: FakeCall, place: number): Block {
  const written = jsonText(call.arguments)
  const pieces = ["", ...(written === "{}" ? [] : fragmentsOf(written))]
  return index => [
    event("content_block_start", { index, content_block: { ...toolUse(call, place), input: {} } }),
    ...pieces.map(piece =>
      event("content_block_delta", { index, delta: { type: "input_json_delta", partial_json: piece } }),
    ),
    event("content_block_stop", { index }),
  ]
}

function whole(reply: FakeReply, encoding: Encoding): Json {
  const usage = usageOf(reply, encoding)
  const said = reply.text === "" ? [] : [{ type: "text", text: reply.text }]
  const called = reply.calls.map((call, place) => ({ ...toolUse(call, place), input: call.arguments }))
  return {
    ...envelope(encoding),
    content: [...said, ...called],
    stop_reason: stopReason(reply),
    stop_sequence: null,
    ...(usage === null ? {} : { usage: { input_tokens: usage.input, output_tokens: usage.output } }),
  }
}

function stopReason({ end }: FakeReply): string {
  if (typeof end !== "string") return end.unknown
  return { stop: "end_turn", calls: "tool_use", length: "max_tokens", refused: "refusal" }[end]
}

function toolUse({ id, tool }: FakeCall, place: number) {
  return { type: "tool_use", id: id ?? `toolu_fake_${place + 1}`, name: tool }
}

function envelope({ model }: Encoding) {
  return { id: "msg_1nZdL29xx5MUA1yADyHTEsnR8uuvGzszyY", type: "message", role: "assistant", model }
}
