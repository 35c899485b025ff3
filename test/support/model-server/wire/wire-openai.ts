import type { Json } from "../../../../src/base/canonical.ts"
import type { FakeReply } from "../contract.ts"
import {
  type Encoding,
  fragmentsOf,
  jsonText,
  rawEvent,
  sse,
  tokensOf,
  usageOf,
  type Wire,
  type WireEvent,
} from "./wire.ts"

/** Chunks without names, calls by their index in pieces, usage in a chunk of its own, and `[DONE]`. */
export const openaiWire: Wire = {
  streamType: "text/event-stream",
  chatPath: "/v1/chat/completions",
  events,
  whole,
  frame: sse,
}

function events(reply: FakeReply, encoding: Encoding): readonly WireEvent[] {
  const chunk = (delta: Json, finish: string | null = null): WireEvent => ({
    name: null,
    data: {
      ...envelope(encoding, "chat.completion.chunk"),
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
    },
  })
  const usage = usageOf(reply, encoding)
  const tail =
    usage === null || !encoding.includeUsage
      ? []
      : [
          {
            name: null,
            data: {
              ...envelope(encoding, "chat.completion.chunk"),
              choices: [],
              usage: openaiUsage(usage.input, usage.output),
            },
          },
        ]
  return [
    chunk({ role: "assistant", content: reply.calls.length > 0 && reply.text === "" ? null : "" }),
    ...saidIn(reply).map(delta => chunk(delta)),
    ...callDeltas(reply).map(delta => chunk(delta)),
    chunk({}, finishReason(reply)),
    ...tail,
    rawEvent("[DONE]"),
  ]
}

function saidIn({ text, end }: FakeReply): readonly Json[] {
  return tokensOf(text).map(piece => (end === "refused" ? { refusal: piece } : { content: piece }))
}

function callDeltas({ calls }: FakeReply): readonly Json[] {
  return calls.flatMap((call, index) => [
    {
      tool_calls: [
        {
          index,
          id: call.id ?? callId(index),
          type: "function",
          function: { name: call.tool, arguments: "" },
        },
      ],
    },
    ...fragmentsOf(jsonText(call.arguments)).map(piece => ({
      tool_calls: [{ index, function: { arguments: piece } }],
    })),
  ])
}

function whole(reply: FakeReply, encoding: Encoding): Json {
  const usage = usageOf(reply, encoding)
  const isRefused = reply.end === "refused"
  const calls = reply.calls.map((call, index) => ({
    id: call.id ?? callId(index),
    type: "function",
    function: { name: call.tool, arguments: jsonText(call.arguments) },
  }))
  const message = {
    role: "assistant",
    content: isRefused || (calls.length > 0 && reply.text === "") ? null : reply.text,
    refusal: isRefused ? reply.text : null,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  }
  return {
    ...envelope(encoding, "chat.completion"),
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReason(reply) }],
    ...(usage === null ? {} : { usage: openaiUsage(usage.input, usage.output) }),
  }
}

/** A refusal has its own field and stops as usual; without words it is the filter that stopped it. */
function finishReason({ end, text }: FakeReply): string {
  if (typeof end !== "string") return end.unknown
  if (end === "refused") return text === "" ? "content_filter" : "stop"
  return { stop: "stop", calls: "tool_calls", length: "length" }[end]
}

function openaiUsage(input: number, output: number) {
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output }
}

function envelope({ model }: Encoding, object: string) {
  return { id: "chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT", object, created: 1_741_569_952, model }
}

function callId(index: number): string {
  return `call_fake_${index + 1}`
}
