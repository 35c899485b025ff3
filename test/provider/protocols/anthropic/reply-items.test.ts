import { describe, expect, test } from "bun:test"
import type { Json } from "../../../../src/base/canonical.ts"
import type { JsonObject } from "../../../../src/provider/fields.ts"
import { anthropicReplyReader } from "../../../../src/provider/protocols/anthropic/reply.ts"
import { call, stop, text, toldOf } from "../../provider-kit.ts"
import { calling, ending, failureIn, readWhole, saying } from "./anthropic-kit.ts"

function streamed(...events: readonly (JsonObject | string)[]) {
  const sent = events.map(event => ({
    event: null,
    data: typeof event === "string" ? event : JSON.stringify(event),
  }))
  return toldOf(sent, tell => anthropicReplyReader(null, tell))
}

describe("a stream", () => {
  test("is over with its last event, and what follows is not read", async () => {
    expect(await streamed(...saying(0, "x"), ...ending("end_turn"), "rubbish")).toEqual([text("x"), stop])
  })

  test("that ends early has broken off, wherever it was", async () => {
    const events = [...saying(0, "x"), ...calling(1, "t", "{}"), ...ending("tool_use")]
    for (let count = 0; count < events.length; count++) {
      const items = await streamed(...events.slice(0, count))
      expect(failureIn(items)).toMatchObject({ kind: "truncated", retryable: true })
      expect(items.some(({ kind }) => kind === "call")).toBe(false)
    }
  })

  test("that ends within an event has broken off as well", async () => {
    expect(failureIn(await streamed(...saying(0, "x"), '{"type":"messa'))?.kind).toBe("truncated")
  })

  test("with an event in it that is not JSON cannot be read", async () => {
    for (const odd of ["{", "[]", "7", "null"])
      expect(failureIn(await streamed(odd, ...saying(0, "x"), ...ending("end_turn")))?.kind).toBe("malformed")
  })

  test("may name its events outside of them", async () => {
    const sent = [...saying(0, "x"), ...ending("end_turn")].map(({ type, ...rest }) => ({
      event: String(type),
      data: JSON.stringify(rest),
    }))
    expect(await toldOf(sent, tell => anthropicReplyReader(null, tell))).toEqual([text("x"), stop])
  })
})

describe("a reply that arrives as a whole", () => {
  const message = (content: Json, reason: Json) => ({ type: "message", content, stop_reason: reason })

  test("means the same as a stream", () => {
    const content = [
      { type: "thinking", thinking: "hm" },
      { type: "text", text: "I look." },
      { type: "tool_use", id: "c", name: "t", input: { n: 1 } },
    ]
    const usage = { input_tokens: 3, output_tokens: 4 }
    expect(readWhole({ ...message(content, "tool_use"), usage })).toEqual([
      { kind: "usage", input: 3, output: 4 },
      text("I look."),
      call("c", "t", { n: 1 }),
      { kind: "end", reason: "calls" },
    ])
  })

  test("may be empty, or refused without a word", () => {
    expect(readWhole(message([], "end_turn"))).toEqual([stop])
    expect(readWhole(message([], "refusal"))).toEqual([{ kind: "end", reason: "refused" }])
  })

  test("reports arguments that are not an object as a problem", () => {
    for (const input of [[], "text", 7]) {
      const items = readWhole(message([{ type: "tool_use", id: "c", name: "t", input }], "tool_use"))
      expect(items.map(({ kind }) => kind)).toEqual(["problem", "end"])
    }
  })

  test("drops the call that the limit cut off", () => {
    const content = [{ type: "tool_use", id: "c", name: "t", input: {} }]
    expect(readWhole(message(content, "max_tokens"))).toEqual([{ kind: "end", reason: "length" }])
  })

  test("that is not a message cannot be read", () => {
    for (const body of [
      null,
      [],
      {},
      message("text", "end_turn"),
      message(null, "end_turn"),
      message([7], "end_turn"),
    ])
      expect(failureIn(readWhole(body))?.kind).toBe("malformed")
  })

  test("without a reason for its end cannot be read", () => {
    expect(failureIn(readWhole(message([{ type: "text", text: "x" }], null)))?.kind).toBe("malformed")
  })

  test("that is an error with a good status is the error", () => {
    const body = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }
    expect(failureIn(readWhole(body))?.kind).toBe("overloaded")
  })
})
