import { describe, expect, test } from "bun:test"
import type { ModelItem } from "../../src/provider/contract.ts"
import { tooLongArguments, tooManyCalls } from "../../src/provider/limits.ts"
import { collect } from "../../src/provider/reply.ts"
import { call, nested, never, requestOf, saying, stop, text } from "./provider-kit.ts"

function collected(...items: readonly ModelItem[]) {
  return collect(saying(...items).ask(requestOf(), never), never)
}

const overloaded: ModelItem = {
  kind: "failure",
  failure: { kind: "overloaded", message: "busy", retryable: true, retryAfterMs: 500 },
}

describe("a reply", () => {
  test("is its texts together, its calls in order, what it cost and how it ended", async () => {
    const usage: ModelItem = { kind: "usage", input: 7, output: 9 }
    const end: ModelItem = { kind: "end", reason: "calls" }
    expect(await collected(text("a"), call("1", "x"), text("b"), call("2", "y", [1]), usage, end)).toEqual({
      text: "ab",
      calls: [
        { id: "1", tool: "x", arguments: {} },
        { id: "2", tool: "y", arguments: [1] },
      ],
      problems: [],
      usage: { input: 7, output: 9 },
      failure: null,
      end: "calls",
    })
  })

  test("may be empty", async () => {
    const reply = await collected(stop)
    expect(reply).toEqual({
      text: "",
      calls: [],
      problems: [],
      usage: { input: 0, output: 0 },
      failure: null,
      end: "stop",
    })
  })

  test("counts the last usage that was reported", async () => {
    const told = [1, 5, 12].map((output): ModelItem => ({ kind: "usage", input: 3, output }))
    expect((await collected(...told, stop)).usage).toEqual({ input: 3, output: 12 })
  })

  test("is passed on piece by piece while it comes", async () => {
    const heard: string[] = []
    const items = saying(text("a"), call("1", "x"), text("b"), stop).ask(requestOf(), never)
    await collect(items, never, piece => heard.push(piece))
    expect(heard).toEqual(["a", "b"])
  })

  test("that failed keeps what was said and none of its calls", async () => {
    expect(await collected(text("I will"), call("1", "delete_file"), overloaded)).toEqual({
      text: "I will",
      calls: [],
      problems: [],
      usage: { input: 0, output: 0 },
      failure: { kind: "overloaded", message: "busy", retryable: true, retryAfterMs: 500 },
      end: null,
    })
  })

  test("without an end broke off", async () => {
    const reply = await collected(text("I will"), call("1", "x"))
    expect(reply).toMatchObject({ calls: [], end: null, failure: { kind: "truncated", retryable: true } })
  })

  test("ends where it ends, whatever follows", async () => {
    expect((await collected(text("a"), stop, text("b"))).text).toBe("a")
  })
})

describe("a reply without bounds", () => {
  const malformed = { kind: "malformed", retryable: true }

  test("of text ends the reading at 1 MB, counted in bytes", async () => {
    const half = "é".repeat(250_000)
    expect((await collected(text(half), text(half), stop)).failure).toBeNull()
    const reply = await collected(text(half), text(half), text("x"), stop)
    expect(reply).toMatchObject({ failure: malformed, end: null })
    expect(reply.text.length).toBe(500_000)
  })

  test("of endless text ends, and the provider is stopped", async () => {
    let isClosed = false
    async function* endless(): AsyncGenerator<ModelItem> {
      try {
        for (;;) yield text("x".repeat(10_000))
      } finally {
        isClosed = true
      }
    }
    expect((await collect(endless(), never)).failure).toMatchObject(malformed)
    expect(isClosed).toBe(true)
  })
})

describe("a call that cannot be made", () => {
  const fine = call("fine", "y", { a: 1 })
  const made = [{ id: "fine", tool: "y", arguments: { a: 1 } }]

  /** The reply is whole: the model is told what was wrong, and whatever else it calls is called. */
  async function expectProblem(problem: string, ...bad: readonly ModelItem[]) {
    const usual = { text: "", usage: { input: 0, output: 0 }, failure: null, end: "stop" } as const
    expect(await collected(...bad, fine, stop)).toEqual({ ...usual, calls: made, problems: [problem] })
  }

  test("since there are 200 already leaves those, and is reported once for all that follow", async () => {
    const calls = Array.from({ length: 300 }, (_, index) => call(`${index}`, "x"))
    expect(await collected(...calls.slice(0, 200), stop)).toMatchObject({ problems: [], failure: null })
    const reply = await collected(...calls, stop)
    expect(reply.calls.map(({ id }) => id)).toEqual(Array.from({ length: 200 }, (_, index) => `${index}`))
    expect(reply).toMatchObject({ failure: null, end: "stop", problems: [tooManyCalls] })
  })

  test("for its arguments of more than 1 MB is reported", async () => {
    expect((await collected(call("1", "x", "y".repeat(999_998)), stop)).problems).toEqual([])
    await expectProblem(tooLongArguments("x"), call("1", "x", "y".repeat(999_999)))
    await expectProblem(tooLongArguments("x"), call("1", "x", "é".repeat(500_000)))
  })

  test("for arguments that must not go further is reported", async () => {
    await expectProblem(
      "the arguments of the call of x cannot be used: one is nested more than 64 levels deep",
      call("1", "x", nested(100_000)),
    )
  })

  test("since its id is that of another one is reported, for their results could not be told apart", async () => {
    const reply = await collected(call("same", "x"), call("same", "y"), stop)
    expect(reply).toMatchObject({ calls: [{ id: "same", tool: "x" }], failure: null })
    expect(reply.problems).toEqual([
      "two calls of the reply have the id same: the second one, of y, was not made",
    ])
  })

  test("is reported briefly, however long its names are", async () => {
    const id = "i".repeat(100_000)
    const { problems } = await collected(call(id, "x"), call(id, "t".repeat(100_000)), stop)
    expect(problems.join().length).toBeLessThan(300)
  })
})

describe("a reply that is aborted", () => {
  test("ends although the provider never answers", async () => {
    const stopping = new AbortController()
    async function* silent(): AsyncGenerator<ModelItem> {
      yield text("well")
      await new Promise(() => undefined)
    }
    const reply = collect(silent(), stopping.signal, () => stopping.abort())
    expect(await reply).toMatchObject({
      text: "well",
      failure: { kind: "aborted", retryable: false },
      end: null,
    })
  })

  test("does not mind how the provider takes it", async () => {
    const stopping = new AbortController()
    async function* sore(): AsyncGenerator<ModelItem> {
      try {
        yield text("well")
        yield stop
      } finally {
        // biome-ignore lint/correctness/noUnsafeFinally: exactly this is what a provider must not do
        throw new Error("not yet!")
      }
    }
    const reply = await collect(sore(), stopping.signal, () => stopping.abort())
    expect(reply.failure?.kind).toBe("aborted")
  })

  test("before it began asks the provider for nothing", async () => {
    const provider = saying(text("x"), stop)
    const reply = await collect(provider.ask(requestOf(), never), AbortSignal.abort())
    expect(reply).toMatchObject({ text: "", failure: { kind: "aborted" } })
    expect(provider.asked).toBe(0)
  })
})
