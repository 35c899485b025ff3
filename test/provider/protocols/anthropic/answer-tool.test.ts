import { describe, expect, test } from "bun:test"
import { assert } from "../../../../src/base/assert.ts"
import type { Json } from "../../../../src/base/canonical.ts"
import {
  type AnswerTool,
  answerText,
  answerToolFor,
} from "../../../../src/provider/protocols/anthropic/transcript.ts"
import { call, requestOf, stop, text } from "../../provider-kit.ts"
import { calling, ending, read, readWhole, saying } from "./anthropic-kit.ts"

const plan = { type: "object", properties: { goal: { type: "string" } }, required: ["goal"] }
const choice = { anyOf: [plan, { type: "object" }] }

function toolFor(schema: Json, tools: readonly string[] = []): AnswerTool {
  const offered = tools.map(name => ({ name, description: "", parameters: {} }))
  const tool = answerToolFor(requestOf({ format: { name: "plan", schema }, tools: offered }))
  assert(tool !== null, "a request with a shape has a tool for it")
  return tool
}

describe("the tool of an answer", () => {
  test("is there only when the answer has a shape", () => {
    expect(answerToolFor(requestOf())).toBeNull()
    expect(toolFor(plan)).toEqual({ name: "plan", schema: plan, isWrapped: false })
  })

  test("has a name of its own beside the tools on offer", () => {
    expect(toolFor(plan, ["plan", "other"]).name).toBe("answer_plan")
  })

  test.each([
    ["a choice", choice],
    ["a choice that says it is an object", { type: "object", ...choice }],
    ["a list", { type: "array", items: plan }],
    ["a reference", { type: "object", $ref: "#/$defs/a" }],
    ["anything", true],
  ])("wraps %s, which the server refuses at the top", (_, schema) => {
    const { isWrapped, schema: sent } = toolFor(schema)
    expect(isWrapped).toBe(true)
    expect(sent).toMatchObject({ type: "object", required: ["answer"] })
    expect(Object.keys(sent)).not.toContain("anyOf")
  })

  test("leaves definitions where references look for them", () => {
    const schema = { $ref: "#/$defs/a", $defs: { a: plan } }
    expect(toolFor(schema).schema).toMatchObject({
      $defs: { a: plan },
      properties: { answer: { $ref: "#/$defs/a" } },
    })
  })

  test("gives the answer without its wrapping, and without one when the model left it out", () => {
    const wrapped = toolFor(choice)
    expect(answerText(wrapped, { answer: { goal: "g" } })).toBe('{"goal":"g"}')
    expect(answerText(wrapped, { goal: "g" })).toBe('{"goal":"g"}')
    expect(answerText(toolFor(plan), { answer: "kept" })).toBe('{"answer":"kept"}')
  })
})

describe("a reply that has to have a shape", () => {
  const tool = toolFor(plan)

  test("is the input of the tool as text, and ends as text does", () => {
    const items = read([...calling(0, "plan", '{"goal":', '"g"}'), ...ending("tool_use")], tool)
    expect(items).toEqual([text('{"goal":"g"}'), stop])
  })

  test("is the same when it arrives as a whole", () => {
    const content = [{ type: "tool_use", id: "c", name: "plan", input: { goal: "g" } }]
    const items = readWhole({ type: "message", content, stop_reason: "tool_use" }, tool)
    expect(items).toEqual([text('{"goal":"g"}'), stop])
  })

  test("is not mixed with what the model says before it", () => {
    const events = [...saying(0, "Here it is:"), ...calling(1, "plan", '{"goal":"g"}'), ...ending("tool_use")]
    expect(read(events, tool)).toEqual([text('{"goal":"g"}'), stop])
  })

  test("is the text where the tool was not called", () => {
    expect(read([...saying(0, '{"goal"', ':"g"}'), ...ending("end_turn")], tool)).toEqual([
      text('{"goal":"g"}'),
      stop,
    ])
  })

  test("is the first of two, and that is reported", () => {
    const events = [...calling(0, "plan", '{"goal":"1"}'), ...calling(1, "plan", '{"goal":"2"}')]
    expect(read([...events, ...ending("tool_use")], tool)).toEqual([
      text('{"goal":"1"}'),
      { kind: "problem", text: "the answer was given more than once" },
      stop,
    ])
  })

  test("is nothing when it was cut off", () => {
    expect(read([...calling(0, "plan", '{"goal"'), ...ending("max_tokens")], tool)).toEqual([
      { kind: "end", reason: "length" },
    ])
  })

  test("is a problem when it is not an object", () => {
    const items = read([...calling(0, "plan", "{"), ...ending("tool_use")], tool)
    expect(items.map(({ kind }) => kind)).toEqual(["problem", "end"])
  })

  test("may be a call of another tool first", () => {
    const events = [...calling(0, "look", "{}"), ...ending("tool_use")]
    expect(read(events, tool)).toEqual([call("toolu_0", "look"), { kind: "end", reason: "calls" }])
  })

  test("keeps no more text than it can hold", () => {
    const items = read(saying(0, ...Array.from({ length: 30 }, () => "x".repeat(100_000))), tool)
    expect(items).toMatchObject([{ kind: "failure", failure: { kind: "malformed" } }])
  })
})
