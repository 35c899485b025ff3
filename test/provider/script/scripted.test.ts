import { describe, expect, test } from "bun:test"
import type { Json } from "../../../src/base/canonical.ts"
import type { ModelRequest } from "../../../src/provider/contract.ts"
import { createScripted } from "../../../src/provider/script/scripted.ts"
import { itemsOf, never, noTime, requestOf, scriptOf } from "../provider-kit.ts"

function ask(replies: readonly Json[], request: Partial<ModelRequest> = {}, wait = noTime().wait) {
  return itemsOf(createScripted(scriptOf(replies), wait).ask(requestOf(request), never))
}

describe("a scripted model", () => {
  test("says a text and that it is done", async () => {
    expect(await ask([{ stage: "planner", text: "hello", usage: { input: 3, output: 5 } }])).toEqual([
      { kind: "text", text: "hello" },
      { kind: "usage", input: 3, output: 5 },
      { kind: "end", reason: "stop" },
    ])
  })

  test("calls tools under ids that tell where in the script they stand", async () => {
    const calls = [{ tool: "a", args: { x: 1 } }, { id: "given", tool: "b" }, { tool: "c" }]
    const replies = [
      { stage: "planner", text: "-" },
      { stage: "executor", text: "first", calls },
    ]
    expect(await ask(replies, { stage: "executor", replyIndex: 1 })).toEqual([
      { kind: "text", text: "first" },
      { kind: "call", call: { id: "call_1_1", tool: "a", arguments: { x: 1 } } },
      { kind: "call", call: { id: "given", tool: "b", arguments: {} } },
      { kind: "call", call: { id: "call_1_3", tool: "c", arguments: {} } },
      { kind: "end", reason: "calls" },
    ])
  })

  test("keeps no place of its own: the same index is answered the same again, in any order", async () => {
    const provider = createScripted(
      scriptOf([
        { stage: "planner", text: "zero" },
        { stage: "planner", text: "one" },
      ]),
    )
    const said = []
    for (const replyIndex of [1, 0, 1, 1, 0])
      said.push((await itemsOf(provider.ask(requestOf({ replyIndex }), never)))[0])
    expect(said.map(item => (item?.kind === "text" ? item.text : null))).toEqual([
      "one",
      "zero",
      "one",
      "one",
      "zero",
    ])
  })

  test("refuses another stage than the reply is for, and names both and the place", async () => {
    expect(await ask([{ stage: "verifier", text: "x" }], { stage: "executor" })).toEqual([
      {
        kind: "failure",
        failure: {
          kind: "script",
          message: "the executor asks, and replies[0] of the script is for the verifier",
          retryable: false,
          retryAfterMs: null,
        },
      },
    ])
  })

  test("says that the script has come to its end", async () => {
    expect(await ask([{ stage: "planner", text: "x" }], { replyIndex: 1 })).toEqual([
      {
        kind: "failure",
        failure: {
          kind: "script",
          message: "the planner asks for replies[1] of the script, which has only 1 reply",
          retryable: false,
          retryAfterMs: null,
        },
      },
    ])
  })
})

describe("a fault of the script", () => {
  test.each([
    ["rate_limit", "rateLimited"],
    ["overloaded", "overloaded"],
    ["timeout", "timeout"],
    ["slow", "timeout"],
  ])("%s is the failure %s, which may be gone when asked again", async (kind, told) => {
    const { wait, waited } = noTime()
    const items = await ask([{ stage: "planner", fault: { kind, after_ms: 70 } }], {}, wait)
    expect(items).toHaveLength(1)
    expect(items[0]).toMatchObject({ kind: "failure", failure: { kind: told, retryable: true } })
    expect(waited).toEqual([70])
  })

  test("disconnect says half of something before the connection is gone", async () => {
    const items = await ask([{ stage: "planner", fault: { kind: "disconnect" } }])
    expect(items.map(({ kind }) => kind)).toEqual(["text", "failure"])
    expect(items[1]).toMatchObject({ failure: { kind: "unavailable", retryable: true } })
  })

  test("garbage ends like a reply and is neither JSON nor a call", async () => {
    const items = await ask([
      { stage: "planner", fault: { kind: "garbage" }, usage: { input: 1, output: 1 } },
    ])
    expect(items.map(({ kind }) => kind)).toEqual(["text", "usage", "end"])
    const [said] = items
    expect(() => JSON.parse(said?.kind === "text" ? said.text : "{}")).toThrow()
  })

  test("slow delays what goes with it, and then says it", async () => {
    const { wait, waited } = noTime()
    const reply = { stage: "planner", plan: { goal: "x" }, fault: { kind: "slow", after_ms: 90 } }
    expect(await ask([reply], {}, wait)).toEqual([
      { kind: "text", text: '{"goal":"x"}' },
      { kind: "end", reason: "stop" },
    ])
    expect(waited).toEqual([90])
  })
})

describe("a scripted model that is aborted", () => {
  const aborted = { kind: "failure", failure: { kind: "aborted", retryable: false } }

  test("before it began says only that", async () => {
    const provider = createScripted(scriptOf([{ stage: "planner", text: "x" }]))
    const items = await itemsOf(provider.ask(requestOf(), AbortSignal.abort()))
    expect(items).toMatchObject([aborted])
  })

  test.each(["timeout", "slow", "rate_limit", "garbage"])(
    "while it waits for %s ends at once",
    async kind => {
      const stopping = new AbortController()
      const hour = 3_600_000
      const provider = createScripted(scriptOf([{ stage: "planner", fault: { kind, after_ms: hour } }]))
      const items = itemsOf(provider.ask(requestOf(), stopping.signal))
      stopping.abort()
      expect(await items).toMatchObject([aborted])
    },
  )

  test("between two items says no more", async () => {
    const stopping = new AbortController()
    const calls = [{ tool: "a" }, { tool: "b" }]
    const provider = createScripted(scriptOf([{ stage: "planner", calls }]))
    const kinds: string[] = []
    for await (const item of provider.ask(requestOf(), stopping.signal)) {
      kinds.push(item.kind)
      stopping.abort()
    }
    expect(kinds).toEqual(["call", "failure"])
  })
})
