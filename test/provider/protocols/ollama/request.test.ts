import { describe, expect, test } from "bun:test"
import type { ModelMessage } from "../../../../src/provider/contract.ts"
import { chatRequest } from "../../../../src/provider/protocols/ollama/request.ts"
import { requestOf } from "../../provider-kit.ts"
import { settingsOf } from "./ollama-kit.ts"

const readTool = {
  name: "read_file",
  description: "Reads a file.",
  parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
}

describe("what Ollama is asked", () => {
  test("names the model of the settings, pins the window and bounds the reply", () => {
    const body = chatRequest(requestOf({ model: "another" }), settingsOf({ temperature: 0.2, topP: 0.9 }))
    expect(body).toEqual({
      model: "fake",
      messages: [{ role: "user", content: "do it" }],
      stream: true,
      options: { num_ctx: 8192, num_predict: 1024, temperature: 0.2, top_p: 0.9 },
      keep_alive: "30m",
      truncate: false,
      shift: false,
    })
  })

  test("leaves to the server what is not decided", () => {
    const body = chatRequest(requestOf(), settingsOf({ windowTokens: null, streams: false }))
    expect(body).toMatchObject({ stream: false, options: { num_predict: 1024 } })
    expect(JSON.stringify(body)).not.toMatch(/num_ctx|temperature|top_p|tools|format/)
  })

  test("forbids the server to cut the request or to forget it while it answers", () => {
    expect(chatRequest(requestOf(), settingsOf())).toMatchObject({ truncate: false, shift: false })
  })

  test("describes tools as functions and hands a schema on as it is", () => {
    const schema = { type: "object", properties: { a: { type: "integer" } }, required: ["a"] }
    const body = chatRequest(requestOf({ tools: [readTool], format: { name: "x", schema } }), settingsOf())
    expect(body).toMatchObject({ tools: [{ type: "function", function: readTool }], format: schema })
  })

  test("keeps a model loaded for seconds when only a number is given", () => {
    const kept = (keepAlive: string) => chatRequest(requestOf(), settingsOf({ keepAlive }))
    expect(kept("-1")).toMatchObject({ keep_alive: -1 })
    expect(kept("300")).toMatchObject({ keep_alive: 300 })
    expect(kept("1h30m")).toMatchObject({ keep_alive: "1h30m" })
  })
})

describe("messages", () => {
  const asked = (...messages: readonly ModelMessage[]) =>
    chatRequest(requestOf({ messages }), settingsOf()) as { readonly messages: readonly unknown[] }

  test("keep their order and roles", () => {
    const { messages } = asked(
      { role: "system", text: "be brief" },
      { role: "user", text: "hello" },
      { role: "assistant", text: "hi", calls: [] },
    )
    expect(messages).toEqual([
      { role: "system", content: "be brief" },
      { role: "user", content: "hello" },
      { role: "assistant", content: "hi" },
    ])
  })

  test("are such that every template takes them", () => {
    const { messages } = asked(
      { role: "user", text: "hello" },
      { role: "assistant", text: "", calls: [] },
      { role: "user", text: "well?" },
      { role: "assistant", text: "", calls: [{ id: "a", tool: "run", arguments: {} }] },
      { role: "tool", callId: "a", text: "one" },
      { role: "user", text: "that was wrong" },
    )
    expect(messages).toMatchObject([
      { role: "user", content: "hello" },
      { role: "assistant", content: "[no answer]" },
      { role: "user", content: "well?" },
      { role: "assistant", content: "" },
      { role: "tool", content: "one\n\nthat was wrong", tool_name: "run" },
    ])
  })

  test("tie each result to the tool that was called", () => {
    const { messages } = asked(
      {
        role: "assistant",
        text: "",
        calls: [
          { id: "call00001", tool: "read_file", arguments: { path: "a" } },
          { id: "call00002", tool: "run", arguments: {} },
        ],
      },
      { role: "tool", callId: "call00001", text: "one" },
      { role: "tool", callId: "call00002", text: "two" },
    )
    expect(messages).toEqual([
      {
        role: "assistant",
        content: "",
        tool_calls: [
          { id: "call00001", function: { index: 0, name: "read_file", arguments: { path: "a" } } },
        ],
      },
      { role: "tool", content: "one", tool_name: "read_file", tool_call_id: "call00001" },
      {
        role: "assistant",
        content: "",
        tool_calls: [{ id: "call00002", function: { index: 0, name: "run", arguments: {} } }],
      },
      { role: "tool", content: "two", tool_name: "run", tool_call_id: "call00002" },
    ])
  })

  test("take the newest call when an id is used again", () => {
    const called = (tool: string): ModelMessage => ({
      role: "assistant",
      text: "",
      calls: [{ id: "1", tool, arguments: {} }],
    })
    const result: ModelMessage = { role: "tool", callId: "1", text: "done" }
    const { messages } = asked(called("read_file"), result, called("run"), result)
    expect(messages[1]).toMatchObject({ tool_name: "read_file" })
    expect(messages[3]).toMatchObject({ tool_name: "run" })
  })

  test("of a result without a call name no tool", () => {
    expect(asked({ role: "tool", callId: "999999999", text: "lost" }).messages).toEqual([
      { role: "tool", content: "lost", tool_call_id: "999999999" },
    ])
  })

  test("never hold arguments that are not an object, which would spoil every later request", () => {
    const { messages } = asked({
      role: "assistant",
      text: "",
      calls: [{ id: "1", tool: "run", arguments: ["ls", "-l"] }],
    })
    expect(messages[0]).toMatchObject({
      tool_calls: [{ function: { arguments: { arguments: ["ls", "-l"] } } }],
    })
  })
})
