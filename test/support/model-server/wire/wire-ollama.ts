import type { Json } from "../../../../src/base/canonical.ts"
import type { FakeCall, FakeReply } from "../contract.ts"
import { bytes } from "../http.ts"
import { dataText, type Encoding, tokensOf, usageOf, type Wire, type WireEvent } from "./wire.ts"

/** One JSON object a line; calls come whole, with arguments that are objects. */
export const ollamaWire: Wire = {
  streamType: "application/x-ndjson",
  chatPath: "/api/chat",
  events,
  whole: (reply, encoding) => ({
    ...envelope(encoding),
    message: { role: "assistant", content: reply.text, ...callsOf(reply) },
    ...ending(reply, encoding),
  }),
  frame: event => bytes(`${dataText(event)}\n`),
}

function events(reply: FakeReply, encoding: Encoding): readonly WireEvent[] {
  const line = (data: Json): WireEvent => ({ name: null, data })
  const said = tokensOf(reply.text).map(content =>
    line({ ...envelope(encoding), message: { role: "assistant", content }, done: false }),
  )
  const called = reply.calls.map((call, index) =>
    line({
      ...envelope(encoding),
      message: { role: "assistant", content: "", tool_calls: [callOf(call, index)] },
      done: false,
    }),
  )
  const last = { ...envelope(encoding), message: { role: "assistant", content: "" } }
  return [...said, ...called, line({ ...last, ...ending(reply, encoding) })]
}

function envelope({ model }: Encoding) {
  return { model, created_at: "2025-05-27T22:54:57.641643Z" }
}

function callsOf({ calls }: FakeReply) {
  return calls.length === 0 ? {} : { tool_calls: calls.map(callOf) }
}

function callOf({ id, tool, arguments: args }: FakeCall, index: number) {
  const identity = id === null ? {} : { id }
  return { ...identity, function: { index, name: tool, arguments: args } }
}

/** Calls end with `stop` here. There is no word for a refusal, so it is one that no client knows. */
function ending(reply: FakeReply, encoding: Encoding) {
  const usage = usageOf(reply, encoding)
  const { end } = reply
  const known = { stop: "stop", calls: "stop", length: "length", refused: "content_filter" } as const
  return {
    done_reason: typeof end === "string" ? known[end] : end.unknown,
    done: true,
    total_duration: 4_883_583_458,
    load_duration: 1_334_875,
    ...(usage === null ? {} : { prompt_eval_count: usage.input, eval_count: usage.output }),
    prompt_eval_duration: 342_546_000,
    eval_duration: 4_535_599_000,
  }
}
