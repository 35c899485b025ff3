import { describe, expect, test } from "bun:test"
import type { Json } from "../../../../src/base/canonical.ts"
import type { ModelItem } from "../../../../src/provider/contract.ts"
import { ollamaReplyReader } from "../../../../src/provider/protocols/ollama/reply.ts"
import { call, stop, text, toldOf } from "../../provider-kit.ts"
import { done, failureIn, lastOf, part } from "./ollama-kit.ts"

const asked = { model: "fake", windowTokens: 8192, replyIndex: 3, estimated: 100, least: 100 }

function read(parts: readonly Json[], changes: Partial<typeof asked> = {}): Promise<ModelItem[]> {
  return toldOf(parts, tell => ollamaReplyReader({ ...asked, ...changes }, tell))
}

function calling(...calls: readonly Json[]): Json {
  return { message: { role: "assistant", content: "", tool_calls: calls }, done: false }
}

describe("a reply", () => {
  test("is text as it comes, the usage and the end", async () => {
    const items = await read([part("Hel"), part("lo"), done({ prompt_eval_count: 26, eval_count: 2 })])
    expect(items).toEqual([text("Hel"), text("lo"), { kind: "usage", input: 26, output: 2 }, stop])
  })

  test("that comes whole is read the same way", async () => {
    const whole = done({
      message: { role: "assistant", content: "Hello", tool_calls: [{ function: { name: "run" } }] },
    })
    expect(await read([whole])).toEqual([
      text("Hello"),
      call("call_3_1", "run"),
      { kind: "end", reason: "calls" },
    ])
  })

  test("leaves out what the model only thought", async () => {
    const thinking = { message: { role: "assistant", content: "", thinking: "I could lie" }, done: false }
    expect(await read([thinking, part("Yes"), done()])).toEqual([text("Yes"), stop])
  })

  test("reports no usage when the server reports none, and zero for the half that is missing", async () => {
    expect(await read([done()])).toEqual([stop])
    expect(await read([done({ eval_count: 7 })])).toEqual([{ kind: "usage", input: 0, output: 7 }, stop])
  })

  test("does not believe a count that can be none, which would end the budget of a session", async () => {
    for (const absurd of [9e15, 100_000_001, -1, 1.5, "12"]) {
      const items = await read([done({ prompt_eval_count: absurd, eval_count: absurd })])
      expect(items).toEqual([stop])
      const half = await read([done({ prompt_eval_count: 26, eval_count: absurd })])
      expect(half).toEqual([{ kind: "usage", input: 26, output: 0 }, stop])
    }
  })

  test("says nothing after its end", async () => {
    expect(await read([part("a"), done(), part("b"), done()])).toEqual([text("a"), stop])
  })

  test("that was cut at its length says so, also with calls", async () => {
    const cut = { kind: "end", reason: "length" } as const
    expect(await read([part("half"), done({ done_reason: "length" })])).toEqual([text("half"), cut])
    const items = await read([calling({ function: { name: "run" } }), done({ done_reason: "length" })])
    expect(lastOf(items)).toEqual(cut)
  })
})

describe("calls", () => {
  test("are numbered through the parts of a reply, whatever ids the server gives", async () => {
    const items = await read([
      calling({ id: "call_xyz", function: { name: "read_file", arguments: { path: "a" } } }),
      calling({ function: { name: "run", arguments: { command: "ls" } } }, { function: { name: "list" } }),
      done(),
    ])
    expect(items).toEqual([
      call("call_3_1", "read_file", { path: "a" }),
      call("call_3_2", "run", { command: "ls" }),
      call("call_3_3", "list"),
      { kind: "end", reason: "calls" },
    ])
  })

  test("may have arguments that were written as text", async () => {
    const items = await read([calling({ function: { name: "run", arguments: '{"a":1}' } }), done()])
    expect(items[0]).toEqual(call("call_3_1", "run", { a: 1 }))
  })

  test.each([
    ["a list", { function: { name: "run", arguments: [1] } }],
    ["half of an object", { function: { name: "run", arguments: '{"a":' } }],
    ["a number", { function: { name: "run", arguments: 4 } }],
  ])("with arguments that are %s are a problem the model is reported of", async (_what, made) => {
    const items = await read([calling(made), done()])
    expect(items[0]).toEqual({
      kind: "problem",
      text: "the arguments of the call of run are not a JSON object",
    })
  })

  test.each([
    ["no function", {}],
    ["no name", { function: { arguments: {} } }],
    ["an empty name", { function: { name: " " } }],
    ["a name that is no text", { function: { name: 5 } }],
    ["nothing but text", "run"],
  ])("with %s are a problem, too", async (_what, made) => {
    const items = await read([calling(made), done()])
    expect(items[0]).toEqual({ kind: "problem", text: "a call of a tool names no tool" })
  })

  test("that cannot be used do not change the numbers of the others", async () => {
    const items = await read([calling({}, { function: { name: "run" } }), done()])
    expect(items[1]).toEqual(call("call_3_2", "run"))
  })
})

describe("an end that is none", () => {
  test.each([
    ["load", "unavailable"],
    ["unload", "unavailable"],
    ["content_filter", "malformed"],
    ["tool_use", "malformed"],
    ["", "truncated"],
  ])("done for the reason %p is a failure of kind %s and no output", async (reason, kind) => {
    const items = await read([part("I refuse"), done({ done_reason: reason })])
    expect(failureIn(items).kind).toBe(kind)
  })

  test("done for no reason is treated as half of a reply", async () => {
    const { done_reason: _left, ...rest } = done() as Record<string, Json>
    expect(failureIn(await read([rest])).kind).toBe("truncated")
  })

  test("a reply that stops before it is done is broken off", async () => {
    expect(failureIn(await read([part("half")]))).toMatchObject({ kind: "truncated", retryable: true })
    expect(failureIn(await read([])).kind).toBe("truncated")
  })

  test("a prompt that the server has cut makes the reply worthless", async () => {
    const items = await read([part("About what?"), done({ prompt_eval_count: 4098 })], { estimated: 9000 })
    expect(failureIn(items).kind).toBe("contextTooLong")
    expect(items).toContainEqual({ kind: "usage", input: 4098, output: 0 })
  })

  test("what a template leaves out is not a prompt that was cut", async () => {
    const whole = { windowTokens: 16_384, estimated: 12_000, least: 11_000 }
    const cut = await read([part("Hi"), done({ prompt_eval_count: 4090 })], whole)
    expect(failureIn(cut).kind).toBe("contextTooLong")
    const less = await read([part("Hi"), done({ prompt_eval_count: 4090 })], { ...whole, least: 5000 })
    expect(lastOf(less)).toEqual(stop)
  })
})

describe("a part that cannot be used", () => {
  test.each([
    ["a list", []],
    ["a word", "hello"],
    ["nothing", null],
    ["neither a message nor the end", { foo: 1 }],
    ["a message that is a word", { message: "hi", done: false }],
    ["content that is a number", { message: { content: 4 }, done: false }],
    ["calls that are no list", { message: { content: "", tool_calls: { name: "run" } }, done: false }],
    [
      "a function that is a word",
      { message: { content: "", tool_calls: [{ function: "run" }] }, done: false },
    ],
    ["an end that is a word", { message: { content: "" }, done: "yes" }],
    ["a reason that is a number", done({ done_reason: 1 })],
  ] as readonly (readonly [string, Json])[])("is malformed: %s", async (_what, bad) => {
    const items = await read([part("ok"), bad])
    expect(items[0]).toEqual(text("ok"))
    expect(failureIn(items)).toMatchObject({ kind: "malformed", retryable: true })
  })

  test("is an error in the middle, reported with the server's words", async () => {
    const items = await read([part("Yes"), { error: "an error was encountered while running the model" }])
    expect(failureIn(items)).toMatchObject({ kind: "unavailable", retryable: true })
    expect(failureIn(items).message).toContain("an error was encountered while running the model")
  })

  test("is an error without words as well", async () => {
    expect(failureIn(await read([{ error: {} }])).message).toContain("does not say why")
  })

  test("is one of a model that runs elsewhere, before any of its text", async () => {
    const remote = { ...(part("hello") as object), remote_model: "x", remote_host: "https://ollama.com:443" }
    const items = await read([remote as Json, done()])
    expect(items).toHaveLength(1)
    expect(failureIn(items)).toMatchObject({ kind: "badRequest", retryable: false })
    expect(failureIn(items).message).toContain("https://ollama.com:443")
  })
})
