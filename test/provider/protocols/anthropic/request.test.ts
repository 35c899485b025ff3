import { describe, expect, test } from "bun:test"
import { messagesRequest } from "../../../../src/provider/protocols/anthropic/request.ts"
import { requestOf } from "../../provider-kit.ts"
import { settingsOf } from "./anthropic-kit.ts"

const look = { name: "look", description: "Looks.", parameters: { type: "object" } }
const shape = { name: "plan", schema: { type: "object", properties: {} } }

describe("the request body", () => {
  test("is the model, the limit and the messages, and nothing that was not asked for", () => {
    expect(messagesRequest(requestOf(), settingsOf())).toEqual({
      answerTool: null,
      body: {
        model: "claude-sonnet-4-5",
        max_tokens: 4096,
        stream: true,
        messages: [{ role: "user", content: [{ type: "text", text: "do it" }] }],
      },
    })
  })

  test("asks for the reply at once where streams are broken", () => {
    expect(messagesRequest(requestOf(), settingsOf({ streams: false })).body["stream"]).toBe(false)
  })

  test("always has a limit of at least one token, for the server demands it", () => {
    expect(messagesRequest(requestOf(), settingsOf({ outputTokensMax: 0 })).body["max_tokens"]).toBe(1)
  })

  test("has the system's texts in their own place", () => {
    const messages = [{ role: "system", text: "Be brief." } as const, { role: "user", text: "x" } as const]
    expect(messagesRequest(requestOf({ messages }), settingsOf()).body["system"]).toBe("Be brief.")
  })

  test("offers tools with the schema of their arguments, and leaves the choice to the model", () => {
    const { body } = messagesRequest(requestOf({ tools: [look] }), settingsOf())
    expect(body["tools"]).toEqual([{ name: "look", description: "Looks.", input_schema: { type: "object" } }])
    expect(body).not.toHaveProperty("tool_choice")
  })
})

describe("an answer with a shape", () => {
  test("is asked for by a tool that has to be called once", () => {
    const { body, answerTool } = messagesRequest(requestOf({ format: shape }), settingsOf())
    expect(answerTool?.name).toBe("plan")
    expect(body["tools"]).toMatchObject([{ name: "plan", input_schema: shape.schema }])
    expect(body["tool_choice"]).toEqual({ type: "tool", name: "plan", disable_parallel_tool_use: true })
    expect(body).not.toHaveProperty("system")
  })

  test("may come after calls of the tools on offer", () => {
    const { body } = messagesRequest(requestOf({ format: shape, tools: [look] }), settingsOf())
    expect(body["tools"]).toMatchObject([{ name: "look" }, { name: "plan" }])
    expect(body["tool_choice"]).toEqual({ type: "any" })
  })

  test("is asked for in words where the model takes no force", () => {
    const { body } = messagesRequest(requestOf({ format: shape }), settingsOf({ model: "claude-opus-5-5" }))
    expect(body["tool_choice"]).toEqual({ type: "auto" })
    expect(body["system"]).toBe(
      "Give the answer by calling the tool plan exactly once, and write no other text.",
    )
  })
})

describe("sampling", () => {
  const both = { temperature: 0.7, topP: 0.95 }

  test("is by the temperature alone when both are set, for both are refused", () => {
    const { body } = messagesRequest(requestOf(), settingsOf(both))
    expect(body["temperature"]).toBe(0.7)
    expect(body).not.toHaveProperty("top_p")
  })

  test("is by top_p when only that is set", () => {
    expect(messagesRequest(requestOf(), settingsOf({ topP: 0.9 })).body["top_p"]).toBe(0.9)
  })

  test("stays within what the server takes", () => {
    expect(messagesRequest(requestOf(), settingsOf({ temperature: 1.5 })).body["temperature"]).toBe(1)
    expect(messagesRequest(requestOf(), settingsOf({ topP: -1 })).body["top_p"]).toBe(0)
  })

  test("is left out for models that refuse it", () => {
    const { body } = messagesRequest(requestOf(), settingsOf({ ...both, model: "claude-opus-4-7" }))
    expect(body).not.toHaveProperty("temperature")
    expect(body).not.toHaveProperty("top_p")
  })
})
