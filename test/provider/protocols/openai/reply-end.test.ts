import { describe, expect, test } from "bun:test"
import type { Json } from "../../../../src/base/canonical.ts"
import type { OpenAiRequestFacts } from "../../../../src/provider/protocols/openai/reply.ts"
import { text } from "../../provider-kit.ts"
import { delta, failureIn, message, piece, streamed, whole } from "./openai-kit.ts"

async function ended(
  said: Json,
  finish: string | null,
  tokens: readonly [input: number, output: number] | null = null,
  more: Partial<OpenAiRequestFacts> = {},
) {
  const usage = tokens === null ? {} : { usage: { prompt_tokens: tokens[0], completion_tokens: tokens[1] } }
  const items = await whole(message(said, finish, usage), more)
  return { items, last: items.at(-1), failure: failureIn(items) }
}

const aCall = [piece({ id: "a", name: "read", args: '{"path":"x"}' })]

describe("how a reply ended", () => {
  test("a reply that stopped, stopped", async () => {
    expect((await ended({ content: "a" }, "stop")).last).toEqual({ kind: "end", reason: "stop" })
  })

  test("a reason that is unknown is a failure and never an end", async () => {
    for (const finish of ["pause", "end_turn", "abort", "error", "function_call", "STOP"]) {
      const { failure } = await ended({ content: "a" }, finish)
      expect(failure).toMatchObject({
        kind: "malformed",
        message: `the reply ended for an unknown reason: ${finish}`,
      })
    }
  })

  test("no reason, and an empty one, mean that it broke off", async () => {
    expect((await ended({ content: "a" }, null)).failure?.kind).toBe("truncated")
    expect((await ended({ content: "a" }, "")).failure?.kind).toBe("truncated")
  })

  test("a filter is a refusal, and calls of a refused reply are not reported", async () => {
    const { items } = await ended({ content: "no", tool_calls: aCall }, "content_filter")
    expect(items).toEqual([text("no"), { kind: "end", reason: "refused" }])
  })

  test("a refusal in its own field is text to read and an end of its own", async () => {
    const { items } = await ended({ content: null, refusal: "I cannot." }, "stop")
    expect(items).toEqual([text("I cannot."), { kind: "end", reason: "refused" }])
    expect((await ended({ content: "a", refusal: null }, "stop")).last).toEqual({
      kind: "end",
      reason: "stop",
    })
  })

  test("a limit that was reached is reported, and the call it cut is not made", async () => {
    const { items } = await ended({ content: "a", tool_calls: aCall }, "length")
    expect(items).toEqual([
      text("a"),
      { kind: "problem", text: "the reply was cut off at its limit, in the call of read" },
      { kind: "end", reason: "length" },
    ])
  })

  test("arguments that are not JSON leave a problem and no call", async () => {
    const { items } = await ended(
      { content: null, tool_calls: [piece({ name: "read", args: "{" })] },
      "tool_calls",
    )
    expect(items.map(({ kind }) => kind)).toEqual(["problem", "end"])
  })

  test("a reply that says it calls, and calls nothing, is a problem unless it has text", async () => {
    expect((await ended({ content: null }, "tool_calls")).items).toEqual([
      { kind: "problem", text: "the reply says that it calls a tool, and it contains no call" },
      { kind: "end", reason: "stop" },
    ])
    expect((await ended({ content: '{"tool":"read"}' }, "tool_calls")).items).toEqual([
      text('{"tool":"read"}'),
      { kind: "end", reason: "stop" },
    ])
  })
})

describe("a window that is full without a word", () => {
  test("a reply shorter than its limit that fills the window ran out of window", async () => {
    const { failure } = await ended({ content: "half" }, "length", [8000, 190])
    expect(failure).toMatchObject({ kind: "contextTooLong", retryable: false })
  })

  test("a reply that reached its own limit did not, however full the window is", async () => {
    expect((await ended({ content: "a" }, "length", [4096, 4096])).last).toEqual({
      kind: "end",
      reason: "length",
    })
  })

  test("with room in the window, or where it is unknown, it was another limit", async () => {
    expect((await ended({ content: "a" }, "length", [100, 100])).last).toMatchObject({ reason: "length" })
    const unknown = await ended({ content: "a" }, "length", [8000, 190], { windowTokens: null })
    expect(unknown.last).toMatchObject({ reason: "length" })
  })

  test("nothing at all, cut off before the limit, is a full window even where its size is unknown", async () => {
    const { failure } = await ended({ content: "" }, "length", [8000, 0], { windowTokens: null })
    expect(failure?.kind).toBe("contextTooLong")
  })

  test("a model that only thought until its limit is not that", async () => {
    const thought = { content: "", reasoning: "hm" }
    expect((await ended(thought, "length", [100, 50])).last).toMatchObject({ reason: "length" })
  })

  test("an empty reply to a request longer than the window is that", async () => {
    expect((await ended({ content: "" }, "stop", [8192, 0])).failure?.kind).toBe("contextTooLong")
  })

  test("an empty reply to a request that fits is an empty reply", async () => {
    expect((await ended({ content: "" }, "stop", [100, 0])).last).toEqual({ kind: "end", reason: "stop" })
  })

  test("calls are not nothing", async () => {
    const { last } = await ended({ content: null, tool_calls: aCall }, "stop", [9000, 10])
    expect(last).toEqual({ kind: "end", reason: "calls" })
  })
})

describe("an answer of a shape that the server takes for a thought", () => {
  const plan = '{"goal": "x"}'
  const shaped = { isShaped: true }

  test.each(["reasoning_content", "reasoning"])("is the answer, also in %s", async where => {
    const { items } = await ended({ content: "", [where]: plan }, "stop", [5, 3], shaped)
    expect(items).toEqual([
      text(plan),
      { kind: "usage", input: 5, output: 3 },
      { kind: "end", reason: "stop" },
    ])
  })

  test("is one also when it comes in pieces", async () => {
    const pieces = ['{"goal"', ': "x"}'].map(part => delta({ reasoning_content: part }))
    const items = await streamed([...pieces, delta({}, "stop")], shaped)
    expect(items).toEqual([text(plan), { kind: "end", reason: "stop" }])
  })

  test("stays a thought beside an answer, when it was cut off, or when no shape was asked for", async () => {
    const said = { content: "yes", reasoning: plan }
    expect((await ended(said, "stop", null, shaped)).items[0]).toEqual(text("yes"))
    const thought = { content: "", reasoning: plan }
    expect((await ended(thought, "length", null, shaped)).items).toEqual([{ kind: "end", reason: "length" }])
    expect((await ended(thought, "stop")).items).toEqual([{ kind: "end", reason: "stop" }])
  })

  test.each(["I think", `first ${plan}`, `${plan} it is`, "42", "[]", `{"goal":`])(
    "is none when it is no JSON object from end to end: %s",
    async reasoning => {
      const { items } = await ended({ content: null, reasoning }, "stop", null, shaped)
      expect(items).toEqual([{ kind: "end", reason: "stop" }])
    },
  )
})

describe("a call that was cut off", () => {
  const cut = [
    { kind: "problem", text: "the reply was cut off at its limit, in the call of read" },
    { kind: "end", reason: "length" },
  ] as const

  test("is none also where the server only says that there is a call", async () => {
    const { items } = await ended({ tool_calls: aCall }, "tool_calls", [100, 4096])
    expect(items.slice(1)).toEqual([...cut])
  })

  test("is none where the window was full", async () => {
    const { items } = await ended({ tool_calls: aCall }, "tool_calls", [8000, 192])
    expect(items.slice(1)).toEqual([...cut])
  })

  test("is none of those that end elsewhere than at the limit", async () => {
    for (const tokens of [null, [100, 4095], [100, 5000], [7000, 1191]] as const)
      expect((await ended({ tool_calls: aCall }, "tool_calls", tokens)).last).toEqual({
        kind: "end",
        reason: "calls",
      })
  })
})
