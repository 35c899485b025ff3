import { describe, expect, test } from "bun:test"
import { call, stop, text } from "../../provider-kit.ts"
import { delta, failureIn, fromEvents, message, piece, streamed, whole } from "./openai-kit.ts"

const usage = { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 }

describe("a streamed reply", () => {
  test("its text comes in the pieces it was sent in, its usage and its end last", async () => {
    const items = await streamed([
      delta({ role: "assistant", content: "" }),
      delta({ content: "Hel" }),
      delta({ content: "lo" }),
      delta({}, "stop"),
      { choices: [], usage },
    ])
    expect(items).toEqual([text("Hel"), text("lo"), { kind: "usage", input: 12, output: 5 }, stop])
  })

  test("calls are reported once they are whole", async () => {
    const items = await streamed([
      delta({ content: null, tool_calls: [piece({ index: 0, id: "a", name: "read", args: "" })] }),
      delta({ tool_calls: [piece({ index: 0, args: '{"path":' })] }),
      delta({ tool_calls: [piece({ index: 0, args: '"x"}' })] }),
      delta({}, "tool_calls"),
    ])
    expect(items).toEqual([call("a", "read", { path: "x" }), { kind: "end", reason: "calls" }])
  })

  test("a null, empty or missing list of calls is none", async () => {
    const items = await streamed([
      delta({ content: "a", tool_calls: null }),
      delta({ content: "b", tool_calls: [] }),
      delta({}, "stop"),
    ])
    expect(items).toEqual([text("a"), text("b"), stop])
  })

  test("thoughts are not text, whatever the server calls them", async () => {
    const items = await streamed([
      delta({ reasoning_content: "hm" }),
      delta({ reasoning: "well" }),
      delta({ content: "yes" }),
      delta({}, "stop"),
    ])
    expect(items).toEqual([text("yes"), stop])
  })

  test("text in parts is text", async () => {
    const parts = [{ type: "text", text: "a" }, "b", { type: "image_url", image_url: {} }]
    expect(await streamed([delta({ content: parts }, "stop")])).toEqual([text("ab"), stop])
  })

  test("an end without [DONE] is an end once the server said how it ended", async () => {
    const data = JSON.stringify(delta({ content: "a" }, "stop"))
    expect(await fromEvents([{ event: null, data }])).toEqual([text("a"), stop])
  })

  test("nothing after [DONE] counts", async () => {
    const done = { event: null, data: " [DONE] " }
    const events = [delta({ content: "a" }, "stop"), delta({ content: "b" }, "length")].map(chunk => ({
      event: null,
      data: JSON.stringify(chunk),
    }))
    const [first, second] = events
    if (first === undefined || second === undefined) throw new Error("two events")
    expect(await fromEvents([first, done, second])).toEqual([text("a"), stop])
  })

  test("other answers than the first are left out", async () => {
    const other = { choices: [{ index: 1, delta: { content: "no" }, finish_reason: "length" }] }
    expect(await streamed([delta({ content: "a" }), other, delta({}, "stop")])).toEqual([text("a"), stop])
  })

  test.each([
    [{ prompt_tokens: 12 }, { input: 12, output: 0 }],
    [
      { prompt_tokens: 12, completion_tokens: null },
      { input: 12, output: 0 },
    ],
    [{ completion_tokens: 5 }, { input: 0, output: 5 }],
  ])("a usage of which only one half is reported counts: %j", async (half, counts) => {
    const said = delta({ content: "a" }, "stop")
    const last = { choices: [], usage: half }
    expect(await streamed([said, last])).toEqual([text("a"), { kind: "usage" as const, ...counts }, stop])
    // The half that was told before stays.
    const both = { kind: "usage" as const, input: counts.input || 12, output: counts.output || 5 }
    expect(await streamed([{ choices: [], usage }, said, last])).toContainEqual(both)
  })

  test("the last usage counts, and an absurd one does not", async () => {
    const items = await streamed([
      { choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } },
      { choices: [], usage },
      { choices: [], usage: null },
      { choices: [], usage: { prompt_tokens: -1, completion_tokens: 5 } },
      { choices: [], usage: { prompt_tokens: 1.5, completion_tokens: 5 } },
      { choices: [], usage: { prompt_tokens: 1e300, completion_tokens: 5 } },
      { choices: [], usage: { prompt_tokens: "12", completion_tokens: 5 } },
      { choices: [], usage: "much" },
      delta({ content: "a" }, "stop"),
    ])
    expect(items).toEqual([text("a"), { kind: "usage", input: 12, output: 5 }, stop])
  })

  test("events that are not known, and chunks without a choice, are passed over", async () => {
    const data = JSON.stringify(delta({ content: "a" }, "stop"))
    const items = await fromEvents([
      { event: "ping", data: "not json" },
      { event: "ping", data: '{"type":"ping"}' },
      { event: null, data: '{"prompt_progress":{"total":10}}' },
      { event: null, data: " " },
      { event: "message", data },
    ])
    expect(items).toEqual([text("a"), stop])
  })
})

describe("a stream that cannot be used", () => {
  test("a piece that is not JSON, and one that is not an object, are malformed", async () => {
    for (const data of ['{"choices":[', "hello", "[]", "1", '{"choices":{}}'])
      expect(failureIn(await fromEvents([{ event: null, data }]))?.kind).toBe("malformed")
  })

  test("content of a wrong type is malformed", async () => {
    expect(failureIn(await streamed([delta({ content: 1 }, "stop")]))).toMatchObject({
      kind: "malformed",
      message: "the server's reply cannot be used: its content is not text",
    })
  })

  test("a stream that ends before the reply does is truncated, and what came stays", async () => {
    const items = await streamed([delta({ content: "half" })])
    expect(items[0]).toEqual(text("half"))
    expect(failureIn(items)).toMatchObject({ kind: "truncated", retryable: true })
    expect(failureIn(await fromEvents([]))?.kind).toBe("truncated")
  })

  test("an error in the middle is the end of it, whatever it looks like", async () => {
    const long = { message: "Context size has been exceeded.", type: "server_error", code: 500 }
    const told = [
      { event: null, data: JSON.stringify({ error: long }) },
      { event: "error", data: JSON.stringify({ error: long }) },
      { event: "error", data: JSON.stringify(long) },
      { event: "error", data: "Context size has been exceeded." },
      { event: null, data: JSON.stringify({ error: "Context size has been exceeded." }) },
      { event: null, data: JSON.stringify({ error: long, choices: [{ finish_reason: "error" }] }) },
    ]
    for (const event of told)
      expect({ event, kind: failureIn(await fromEvents([event]))?.kind }).toEqual({
        event,
        kind: "contextTooLong",
      })
  })

  test("a field for an error that is empty is not an error", async () => {
    const chunk = { error: null, choices: [{ delta: { content: "a" }, finish_reason: "stop" }] }
    expect(await streamed([chunk])).toEqual([text("a"), stop])
  })
})

describe("a whole reply", () => {
  test("has text, calls, usage and an end", async () => {
    const said = {
      role: "assistant",
      content: "I look.",
      reasoning_content: "hm",
      tool_calls: [piece({ id: "a", name: "read", args: '{"path":"x"}' }), piece({ id: "", name: "list" })],
    }
    expect(await whole(message(said, "tool_calls", { usage }))).toEqual([
      text("I look."),
      { kind: "usage", input: 12, output: 5 },
      call("a", "read", { path: "x" }),
      call("call_3_2", "list"),
      { kind: "end", reason: "calls" },
    ])
  })

  test("says that it stopped although it calls, and calls nevertheless", async () => {
    const said = { content: null, tool_calls: [piece({ id: "a", name: "list", args: "{}" })] }
    expect(await whole(message(said, "stop"))).toEqual([call("a", "list"), { kind: "end", reason: "calls" }])
  })

  test("without a message it is malformed", async () => {
    for (const body of [null, 1, "x", [], {}, { choices: [] }, { choices: [{}] }, { choices: [null] }])
      expect(failureIn(await whole(body))).toMatchObject({ kind: "malformed", retryable: true })
  })

  test("an error with status 200 is one", async () => {
    expect(failureIn(await whole({ error: { message: "no", type: "invalid_request_error" } }))).toMatchObject(
      {
        kind: "badRequest",
        message: "the model server answered 400: no",
      },
    )
  })
})
