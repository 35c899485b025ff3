import { describe, expect, test } from "bun:test"
import type { ModelItem } from "../../../../src/provider/contract.ts"
import { collect } from "../../../../src/provider/reply.ts"
import type { ModelSettings } from "../../../../src/provider/server.ts"
import { eventually } from "../../../support/eventually.ts"
import type {
  FakeModel,
  FakeReply,
  Fault,
  ModelServerOptions,
} from "../../../support/model-server/contract.ts"
import { bytes, whole } from "../../../support/model-server/http.ts"
import { callsTools, says } from "../../../support/model-server/replies.ts"
import { startModelServer } from "../../../support/model-server/server.ts"
import { call, itemsOf, never, requestOf, stop } from "../../provider-kit.ts"
import {
  answering,
  done,
  failureIn,
  lastOf,
  limits,
  ollamaAt,
  part,
  settingsOf,
  streaming,
} from "./ollama-kit.ts"

const qwen: FakeModel = {
  name: "qwen3:8b",
  trainedTokens: 40_960,
  loadedTokens: 4096,
  parameters: "8.2B",
  tools: true,
}

function serving(answer: FakeReply | Fault, more: Partial<ModelServerOptions> = {}) {
  return startModelServer({ protocol: "ollama", answer: () => answer, ...more })
}

async function reply(
  answer: FakeReply | Fault,
  { settings = {}, request = {}, server = {} }: Parts = {},
): Promise<ModelItem[]> {
  await using fake = await serving(answer, server)
  const provider = ollamaAt(fake.endpoint).provider(settingsOf(settings))
  return await itemsOf(provider.ask(requestOf(request), never))
}

interface Parts {
  readonly settings?: Partial<ModelSettings>
  readonly request?: Parameters<typeof requestOf>[0]
  readonly server?: Partial<ModelServerOptions>
}

function textOf(items: readonly ModelItem[]): string {
  return items.map(item => (item.kind === "text" ? item.text : "")).join("")
}

describe.each([true, false])("a reply with streams %p", streams => {
  const settings = { streams }

  test("has its text, its usage and its end", async () => {
    const items = await reply(says("Hello there, you.", { usage: { input: 12, output: 5 } }), { settings })
    expect(textOf(items)).toBe("Hello there, you.")
    expect(items.slice(-2)).toEqual([{ kind: "usage", input: 12, output: 5 }, stop])
  })

  test("has its calls under numbers of our own", async () => {
    const tools = [{ name: "read_file", description: "Reads.", parameters: { type: "object" } }]
    const answer = callsTools(["read_file", { path: "a" }], ["read_file", { path: "b" }])
    const items = await reply(answer, { settings, request: { tools, replyIndex: 7 } })
    expect(items.filter(({ kind }) => kind === "call")).toEqual([
      call("call_7_1", "read_file", { path: "a" }),
      call("call_7_2", "read_file", { path: "b" }),
    ])
    expect(lastOf(items)).toEqual({ kind: "end", reason: "calls" })
  })

  test("of an unknown kind is not output", async () => {
    expect(failureIn(await reply(says("no", { end: "refused" }), { settings })).kind).toBe("malformed")
  })

  test("to a prompt that the server cut in silence is a failure", async () => {
    const messages = [{ role: "user", text: "word ".repeat(1000) }] as const
    const items = await reply(says("what?"), {
      settings: { ...settings, windowTokens: 1000 },
      request: { messages },
      server: { window: 1000 },
    })
    expect(failureIn(items)).toMatchObject({ kind: "contextTooLong", retryable: false })
    expect(failureIn(items).message).toContain("num_ctx is 1000")
  })

  test("may be an error of the server, with the way to mend it", async () => {
    const items = await reply(says("never"), { settings, server: { models: [qwen] } })
    expect(failureIn(items)).toMatchObject({ kind: "notFound", retryable: false })
    expect(failureIn(items).message).toContain("ollama pull fake")
  })
})

describe("the request to the server", () => {
  test("is the request as JSON, and one only", async () => {
    await using fake = await serving(says("ok"))
    const provider = ollamaAt(fake.endpoint).provider(settingsOf({ temperature: 0 }))
    await itemsOf(provider.ask(requestOf(), never))
    expect(fake.requests).toHaveLength(1)
    expect(fake.chats[0]).toMatchObject({
      method: "POST",
      path: "/api/chat",
      body: {
        model: "fake",
        messages: [{ role: "user", content: "do it" }],
        options: { num_ctx: 8192, num_predict: 1024, temperature: 0 },
        truncate: false,
      },
    })
    expect(fake.chats[0]?.headers["content-type"]).toBe("application/json")
  })

  test("is nothing when it cannot fit the window", async () => {
    await using fake = await serving(says("ok"))
    const provider = ollamaAt(fake.endpoint).provider(settingsOf({ windowTokens: 1000 }))
    const messages = [{ role: "user", text: "x".repeat(40_000) }] as const
    const items = await itemsOf(provider.ask(requestOf({ messages }), never))
    expect(failureIn(items).kind).toBe("contextTooLong")
    expect(fake.requests).toHaveLength(0)
  })

  test("is nothing when the model would run elsewhere", async () => {
    await using fake = await serving(says("ok"))
    const server = ollamaAt(fake.endpoint)
    const provider = server.provider(settingsOf({ model: "gpt-oss:120b-cloud" }))
    expect(failureIn(await itemsOf(provider.ask(requestOf(), never))).kind).toBe("badRequest")
    expect((await server.facts("gpt-oss:cloud", limits, never)).failure?.kind).toBe("badRequest")
    expect(fake.requests).toHaveLength(0)
  })
})

describe("a server in trouble", () => {
  test.each([
    [400, "registry.ollama.ai/library/gemma:2b does not support tools", "badRequest"],
    [400, "the input length exceeds the context length", "contextTooLong"],
    [503, "server busy, please try again.  maximum pending requests exceeded", "overloaded"],
    [500, "error parsing tool call: raw='x', err=y", "malformed"],
    [500, "model requires more system memory (38.6 GiB) than is available (27.1 GiB)", "badRequest"],
    [500, "something odd", "unavailable"],
    [401, "unauthorized", "auth"],
  ])("says %d %p, which is %s", async (status, error, kind) => {
    const { message, ...failure } = failureIn(await reply(answering(status, { error })))
    expect(failure.kind).toBe(kind)
    expect(message).toContain(error)
  })

  test("says when to come again", async () => {
    const at = Date.parse("Wed, 21 Oct 2015 07:28:00 GMT")
    await using fake = await serving(
      answering(
        503,
        { error: "maximum pending requests" },
        { "retry-after": "Wed, 21 Oct 2015 07:28:30 GMT" },
      ),
    )
    const provider = ollamaAt(fake.endpoint, () => at).provider(settingsOf())
    const items = await itemsOf(provider.ask(requestOf(), never))
    expect(failureIn(items)).toMatchObject({ kind: "overloaded", retryAfterMs: 30_000 })
  })

  test("is not Ollama at all", async () => {
    const page = {
      acts: [{ send: whole(404, bytes("404 page not found"), { "content-type": "text/plain" }) }],
    }
    expect(failureIn(await reply(page)).message).toContain("404 page not found")
    const html = { acts: [{ send: whole(200, bytes("<html></html>"), { "content-type": "text/html" }) }] }
    expect(failureIn(await reply(html)).kind).toBe("malformed")
    expect(failureIn(await reply(html, { settings: { streams: false } })).kind).toBe("malformed")
  })

  test("gives up in the middle", async () => {
    const items = await reply(streaming([part("Yes"), { error: "the runner has died" }]))
    expect(textOf(items)).toBe("Yes")
    expect(failureIn(items)).toMatchObject({ kind: "unavailable", retryable: true })
  })

  test("writes a line that is not JSON", async () => {
    expect(failureIn(await reply(streaming([part("Yes"), { raw: '{"message":' }]))).kind).toBe("malformed")
  })

  test("ends properly without saying that it is done", async () => {
    expect(failureIn(await reply(streaming([part("half")]))).kind).toBe("truncated")
  })

  test("breaks off with a reset", async () => {
    const items = await reply(streaming([part("half")], { waitMs: 20 }, { reset: true }))
    expect(failureIn(items)).toMatchObject({ retryable: true })
    expect(items.filter(({ kind }) => kind === "end" || kind === "failure")).toHaveLength(1)
  })

  test("falls silent", async () => {
    const quick = { ...limits, betweenMs: 150 }
    const items = await reply(streaming([part("half")], { hang: true }), { settings: { limits: quick } })
    expect(failureIn(items).kind).toBe("timeout")
  })

  test("is silent while it writes a call, which the server hands on when it is whole", async () => {
    const quick = { ...limits, betweenMs: 50 }
    const tools = [{ name: "write_file", description: "Writes a file.", parameters: {} }]
    const calling = { message: { role: "assistant", tool_calls: [{ function: { name: "write_file" } }] } }
    const [, ...later] = streaming([calling, done()]).acts
    const answer = streaming([part("I write it.")], { waitMs: 300 }, ...later)
    expect((await reply(answer, { settings: { limits: quick }, request: { tools } })).at(-1)).toEqual({
      kind: "end",
      reason: "calls",
    })
  })

  test("is not there", async () => {
    const endpoint = await gone()
    const server = ollamaAt(endpoint)
    const items = await itemsOf(server.provider(settingsOf()).ask(requestOf(), never))
    expect(failureIn(items).kind).toBe("unavailable")
    expect((await server.models(limits, never)).failure?.kind).toBe("unavailable")
    expect((await server.facts("x", limits, never)).failure?.kind).toBe("unavailable")
  })
})

async function gone(): Promise<string> {
  await using fake = await serving(says("never"))
  return fake.endpoint
}

describe("stopping", () => {
  test("ends a reply that hangs, and its connection", async () => {
    await using fake = await serving(streaming([part("half")], { hang: true }))
    const stopping = new AbortController()
    const provider = ollamaAt(fake.endpoint).provider(settingsOf())
    const items: ModelItem[] = []
    for await (const item of provider.ask(requestOf(), stopping.signal)) {
      items.push(item)
      stopping.abort()
    }
    expect(failureIn(items).kind).toBe("aborted")
    expect(await eventually("the connection is gone", () => fake.connections.open === 0)).toBe(true)
  })

  test("before it begins sends nothing", async () => {
    await using fake = await serving(says("ok"))
    const server = ollamaAt(fake.endpoint)
    const stopped = AbortSignal.abort()
    expect(failureIn(await itemsOf(server.provider(settingsOf()).ask(requestOf(), stopped))).kind).toBe(
      "aborted",
    )
    expect((await server.models(limits, stopped)).failure?.kind).toBe("aborted")
    expect((await server.facts("fake", limits, stopped)).failure?.kind).toBe("aborted")
    expect(fake.chats).toHaveLength(0)
  })

  test("at the end of a reply leaves no connection behind, though the server says more", async () => {
    await using fake = await serving(streaming([part("Yes"), done(), part("more")], { hang: true }))
    const provider = ollamaAt(fake.endpoint).provider(settingsOf())
    const { text, failure } = await collect(provider.ask(requestOf(), never), never)
    expect({ text, failure }).toEqual({ text: "Yes", failure: null })
    expect(await eventually("the connection is gone", () => fake.connections.open === 0)).toBe(true)
  })
})

describe("asked about its models", () => {
  test("a server lists them", async () => {
    const idle = { ...qwen, name: "gemma:2b", loadedTokens: null, parameters: "2.6B" }
    await using fake = await serving(says("ok"), { models: [qwen, idle] })
    const { value } = await ollamaAt(fake.endpoint).models(limits, never)
    expect(value).toEqual([
      { name: "qwen3:8b", details: "8.2B, Q4_0, 5.1 GB", isLoaded: true },
      { name: "gemma:2b", details: "2.6B, Q4_0, 5.1 GB", isLoaded: false },
    ])
  })

  test("a server reports what one of them can", async () => {
    await using fake = await serving(says("ok"), { models: [{ ...qwen, tools: false }] })
    const server = ollamaAt(fake.endpoint)
    expect(server).toMatchObject({ protocol: "ollama", endpoint: fake.endpoint })
    const { value } = await server.facts("qwen3:8b", limits, never)
    expect(value).toMatchObject({
      trainedTokens: 40_960,
      loadedTokens: 4096,
      declaresTools: false,
      parameters: 8.2,
    })
    expect(value?.digest).toMatch(/^[0-9a-f]{64}$/)
  })

  test("a server that needs a key says so", async () => {
    await using fake = await serving(says("ok"), { key: "secret" })
    expect((await ollamaAt(fake.endpoint).models(limits, never)).failure?.kind).toBe("auth")
    expect((await ollamaAt(fake.endpoint).facts("fake", limits, never)).failure?.kind).toBe("auth")
  })
})
