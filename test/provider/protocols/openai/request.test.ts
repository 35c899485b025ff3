import { describe, expect, test } from "bun:test"
import type { ModelRequest } from "../../../../src/provider/contract.ts"
import { chatBody } from "../../../../src/provider/protocols/openai/request.ts"
import { requestOf } from "../../provider-kit.ts"

type ChatSettings = Parameters<typeof chatBody>[1]

const settings: ChatSettings = {
  model: "qwen",
  outputTokensMax: 1000,
  temperature: null,
  topP: null,
  streams: true,
}

function body(request: Partial<ModelRequest> = {}, more: Partial<ChatSettings> = {}, isNewest = false) {
  return JSON.parse(chatBody(requestOf(request), { ...settings, ...more }, isNewest))
}

describe("a request", () => {
  test("has nothing in it that was not asked for", () => {
    expect(body()).toEqual({
      model: "qwen",
      messages: [{ role: "user", content: "do it" }],
      max_tokens: 1000,
      stream: true,
      stream_options: { include_usage: true },
    })
  })

  test("asks for usage only in a stream, because servers refuse it elsewhere", () => {
    expect(body({}, { streams: false })).toEqual({
      model: "qwen",
      messages: [{ role: "user", content: "do it" }],
      max_tokens: 1000,
      stream: false,
    })
  })

  test("names the model of the request before that of the settings", () => {
    expect(body({ model: "llama" }).model).toBe("llama")
  })

  test("has temperature and top_p where they are set, also to 0", () => {
    expect(body({}, { temperature: 0, topP: 0.95 })).toMatchObject({ temperature: 0, top_p: 0.95 })
  })

  test("limits the reply by the new name only where the old one is refused", () => {
    const newest = body({}, {}, true)
    expect(newest.max_completion_tokens).toBe(1000)
    expect(newest).not.toHaveProperty("max_tokens")
  })

  test("describes tools as functions", () => {
    const parameters = { type: "object", properties: { path: { type: "string" } } }
    expect(body({ tools: [{ name: "read", description: "Reads.", parameters }] }).tools).toEqual([
      { type: "function", function: { name: "read", description: "Reads.", parameters } },
    ])
  })

  test("forces a format by a strict schema", () => {
    const schema = { type: "object", properties: {} }
    expect(body({ format: { name: "plan", schema } }).response_format).toEqual({
      type: "json_schema",
      json_schema: { name: "plan", schema, strict: true },
    })
    expect(body({ format: { name: "plan", schema } }, {}, true).response_format).toMatchObject({
      json_schema: { strict: false },
    })
  })
})

describe("messages", () => {
  test("a transcript with calls and their results keeps its order and its ids", () => {
    const { messages } = body({
      messages: [
        { role: "system", text: "be brief" },
        { role: "user", text: "read x" },
        {
          role: "assistant",
          text: "",
          calls: [{ id: "functions.read:0", tool: "read", arguments: { path: "x" } }],
        },
        { role: "tool", callId: "functions.read:0", text: "content of x" },
        { role: "assistant", text: "done", calls: [] },
      ],
    })
    expect(messages).toEqual([
      { role: "system", content: "be brief" },
      { role: "user", content: "read x" },
      {
        role: "assistant",
        content: null,
        tool_calls: [
          { id: "functions.read:0", type: "function", function: { name: "read", arguments: '{"path":"x"}' } },
        ],
      },
      { role: "tool", tool_call_id: "functions.read:0", content: "content of x" },
      { role: "assistant", content: "done" },
    ])
  })

  test("text beside a call is kept, and an empty answer is replaced by a word", () => {
    const { messages } = body({
      messages: [
        { role: "assistant", text: "I look.", calls: [{ id: "a", tool: "list", arguments: {} }] },
        { role: "assistant", text: "", calls: [] },
      ],
    })
    expect(messages).toMatchObject([{ content: "I look." }, { content: "[no answer]" }])
    expect(messages[1]).not.toHaveProperty("tool_calls")
  })

  test("what is said behind a result goes with it, because templates refuse a user there", () => {
    const { messages } = body({
      messages: [
        { role: "user", text: "read x" },
        { role: "assistant", text: "", calls: [{ id: "a", tool: "read", arguments: { path: "x" } }] },
        { role: "tool", callId: "a", text: "content of x" },
        { role: "user", text: "the other call was wrong" },
      ],
    })
    expect(messages.map(({ role }: { role: string }) => role)).toEqual(["user", "assistant", "tool"])
    expect(messages[2].content).toBe("content of x\n\nthe other call was wrong")
  })

  test("half a character is replaced, because a server that reads strictly refuses it", () => {
    const { messages } = body({ messages: [{ role: "user", text: "a\ud800b 😀" }] })
    expect(messages).toEqual([{ role: "user", content: "a\ufffdb 😀" }])
  })
})
