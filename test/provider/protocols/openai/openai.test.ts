import { describe, expect, test } from "bun:test"
import { assert } from "../../../../src/base/assert.ts"
import type { ModelItem } from "../../../../src/provider/contract.ts"
import { createOpenAi } from "../../../../src/provider/protocols/openai/server.ts"
import { collect } from "../../../../src/provider/reply.ts"
import type { ModelSettings } from "../../../../src/provider/server.ts"
import { readEndpoint } from "../../../../src/provider/transport/endpoint.ts"
import { openTransport } from "../../../../src/provider/transport/http.ts"
import { eventually } from "../../../support/eventually.ts"
import { nothingLeaves } from "../../../support/external-calls.ts"
import type { FakeReply, Fault, Flavour } from "../../../support/model-server/contract.ts"
import { bytes, wholeJson } from "../../../support/model-server/http.ts"
import { callsTools, says } from "../../../support/model-server/replies.ts"
import { startModelServer } from "../../../support/model-server/server.ts"
import { itemsOf, never, requestOf } from "../../provider-kit.ts"

const limits = { connectMs: 5000, firstByteMs: 10_000, betweenMs: 10_000, wholeMs: 20_000 }

const settings: ModelSettings = {
  model: "fake",
  windowTokens: null,
  outputTokensMax: 4096,
  temperature: 0.2,
  topP: null,
  keepAlive: "30m",
  streams: true,
  limits,
}

function serverAt(endpoint: string, apiKey: string | null = null) {
  const read = readEndpoint(endpoint)
  assert(read.problem === undefined, "the endpoint of a test is valid")
  const egress = { mode: "local-only", configured: endpoint, consented: null } as const
  return createOpenAi(openTransport({ endpoint: read, egress, externalCalls: nothingLeaves }), apiKey)
}

function providerAt(endpoint: string, more: Partial<ModelSettings> = {}, apiKey: string | null = null) {
  return serverAt(endpoint, apiKey).provider({ ...settings, ...more })
}

function fake(answer: FakeReply | Fault, flavour: Flavour = "plain") {
  return startModelServer({ protocol: "openai", flavour, answer: () => answer })
}

async function oneReply(
  answer: FakeReply | Fault,
  more: Partial<ModelSettings> = {},
  apiKey: string | null = null,
) {
  await using server = await fake(answer)
  return await collect(providerAt(server.endpoint, more, apiKey).ask(requestOf(), never), never)
}

describe("asking over HTTP", () => {
  for (const streams of [true, false]) {
    const how = streams ? "in a stream" : "at once"
    test(`text, usage and end come ${how}`, async () => {
      const usage = { input: 11, output: 7 }
      const reply = await oneReply(says("Hello, world. 😀", { usage }), { streams })
      expect(reply).toMatchObject({
        text: "Hello, world. 😀",
        usage,
        end: "stop",
        failure: null,
        problems: [],
      })
    })

    test(`calls come ${how}`, async () => {
      const reply = await oneReply(callsTools(["read", { path: "a" }], ["list", {}]), { streams })
      expect(reply.end).toBe("calls")
      expect(reply.calls.map(({ tool, arguments: values }) => [tool, values])).toEqual([
        ["read", { path: "a" }],
        ["list", {}],
      ])
    })

    test(`limits, refusals and unknown ends come ${how}`, async () => {
      expect((await oneReply(says("a", { end: "length" }), { streams })).end).toBe("length")
      expect((await oneReply(says("no", { end: "refused" }), { streams })).end).toBe("refused")
      expect((await oneReply(says("", { end: "refused" }), { streams })).end).toBe("refused")
      const { failure } = await oneReply(says("a", { end: { unknown: "pause" } }), { streams })
      expect(failure?.kind).toBe("malformed")
    })
  }

  test("a server that streams or not whatever it was asked for is understood", async () => {
    const body = { choices: [{ message: { content: "at once" }, finish_reason: "stop" }] }
    expect((await oneReply({ acts: [{ send: wholeJson(200, body) }] })).text).toBe("at once")
    const chunk = JSON.stringify({ choices: [{ delta: { content: "in a stream" }, finish_reason: "stop" }] })
    const event = `data: ${chunk}\n\n`
    const head = `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: ${event.length}\r\n\r\n`
    const stream: Fault = { acts: [{ send: bytes(head + event) }] }
    expect((await oneReply(stream, { streams: false })).text).toBe("in a stream")
  })

  test("an endpoint with /v1 is asked at the same place as one without", async () => {
    await using server = await fake(says("a"))
    for (const endpoint of [server.endpoint, `${server.endpoint}/v1`, `${server.endpoint}/v1/`])
      await collect(providerAt(endpoint).ask(requestOf(), never), never)
    expect(server.chats.map(({ path }) => path)).toEqual(Array(3).fill("/v1/chat/completions"))
  })

  test("a key is sent where there is one, and nothing is sent where there is none", async () => {
    await using server = await fake(says("a"))
    for (const key of ["sk-secret-key", null, ""])
      await collect(providerAt(server.endpoint, {}, key).ask(requestOf(), never), never)
    const sent = server.chats.map(({ headers }) => headers["authorization"])
    expect(sent).toEqual(["Bearer sk-secret-key", undefined, undefined])
    expect(server.chats[0]?.headers["content-type"]).toBe("application/json")
  })

  test("ends with exactly one end or failure, and never throws", async () => {
    const answers: readonly (FakeReply | Fault)[] = [
      says("a"),
      callsTools(["read", {}]),
      { acts: [{ close: true }] },
      { acts: [{ reset: true }] },
      { acts: [{ send: wholeJson(200, { nothing: true }) }] },
      { acts: [{ send: bytes("garbage") }, { close: true }] },
    ]
    for (const answer of answers) {
      await using server = await fake(answer)
      const items = await itemsOf(providerAt(server.endpoint).ask(requestOf(), never))
      const ends = items.filter(({ kind }) => kind === "end" || kind === "failure")
      expect(ends).toHaveLength(1)
      expect(items.at(-1)).toEqual(ends[0] as ModelItem)
    }
  })
})

describe("failures over HTTP", () => {
  test("a request that is too long is reported by every kind of server", async () => {
    for (const flavour of ["llamacpp", "lmstudio", "vllm", "plain"] as const) {
      const answer = () => says("a")
      await using server = await startModelServer({ protocol: "openai", flavour, window: 100, answer })
      const request = requestOf({ messages: [{ role: "user", text: "word ".repeat(2000) }] })
      const { failure } = await collect(providerAt(server.endpoint).ask(request, never), never)
      expect({ flavour, kind: failure?.kind }).toEqual({ flavour, kind: "contextTooLong" })
    }
  })

  test("a wait that the server asks for is reported", async () => {
    const refused = wholeJson(
      429,
      { error: { message: "slow down", type: "rate_limit_error" } },
      { "retry-after": "3" },
    )
    const { failure } = await oneReply({ acts: [{ send: refused }] })
    expect(failure).toMatchObject({ kind: "rateLimited", retryAfterMs: 3000, retryable: true })
  })

  test("a key that a server repeats is not in the message", async () => {
    const key = "sk-very-secret-key"
    const told = wholeJson(401, { error: { message: `Incorrect API key provided: ${key}.`, type: "auth" } })
    const { failure } = await oneReply({ acts: [{ send: told }] }, {}, key)
    expect(failure).toMatchObject({ kind: "auth", message: expect.stringContaining("[api key]") })
    expect(JSON.stringify(failure)).not.toContain(key)
    const finish = { choices: [{ message: { content: "" }, finish_reason: key }] }
    const odd = await oneReply({ acts: [{ send: wholeJson(200, finish) }] }, {}, key)
    expect(JSON.stringify(odd.failure)).not.toContain(key)
  })

  test("a request that was stopped says so, before and while it is answered", async () => {
    await using server = await fake({ acts: [{ hang: true }] })
    const stopped = await itemsOf(providerAt(server.endpoint).ask(requestOf(), AbortSignal.abort()))
    expect(stopped.map(item => item.kind === "failure" && item.failure.kind)).toEqual(["aborted"])
    const stopping = new AbortController()
    const items = itemsOf(providerAt(server.endpoint).ask(requestOf(), stopping.signal))
    await eventually("the server was asked", () => server.chats.length > 0)
    stopping.abort()
    expect((await items).map(item => item.kind === "failure" && item.failure.kind)).toEqual(["aborted"])
  })
})

describe("the list of models of a server", () => {
  const models = [
    { name: "one", trainedTokens: 131_072, loadedTokens: 8192, parameters: "8.0B", tools: true },
    { name: "two", trainedTokens: 4096, loadedTokens: null, parameters: "1.0B", tools: false },
  ]
  const answer = () => says("a")

  test("facts that a hurried look for models missed are asked for again", async () => {
    let isBusy = true
    using server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: async ({ url }) => {
        const { pathname } = new URL(url)
        if (pathname === "/v1/models") return Response.json({ data: [{ id: "one" }] })
        if (isBusy) return new Promise<Response>(() => undefined)
        if (pathname !== "/props") return new Response("not found", { status: 404 })
        return Response.json({ default_generation_settings: { n_ctx: 4096 } })
      },
    })
    const asked = serverAt(`http://127.0.0.1:${server.port}`)
    expect((await asked.models({ ...limits, wholeMs: 100 }, never)).value).toMatchObject([{ name: "one" }])
    isBusy = false
    expect((await asked.facts("one", limits, never)).value?.loadedTokens).toBe(4096)
  })

  test("facts are found at each kind of server, also from an endpoint with /v1", async () => {
    const expected = {
      llamacpp: { trainedTokens: 131_072, loadedTokens: 8192 },
      lmstudio: { trainedTokens: 131_072, loadedTokens: 8192, declaresTools: true },
      vllm: { trainedTokens: null, loadedTokens: 8192 },
      plain: { trainedTokens: null, loadedTokens: null, declaresTools: null, parameters: null },
    }
    for (const flavour of ["llamacpp", "lmstudio", "vllm", "plain"] as const) {
      await using server = await startModelServer({ protocol: "openai", flavour, models, answer })
      for (const endpoint of [server.endpoint, `${server.endpoint}/v1`]) {
        const { value } = await serverAt(endpoint).facts("one", limits, never)
        expect(value).toMatchObject(expected[flavour])
      }
    }
  })

  test("models are listed, with what is known of them", async () => {
    await using server = await startModelServer({ protocol: "openai", flavour: "lmstudio", models, answer })
    const { value } = await serverAt(server.endpoint).models(limits, never)
    expect(value?.map(({ name, isLoaded }) => [name, isLoaded])).toEqual([
      ["one", true],
      ["two", false],
    ])
  })

  test("a key that is missing or wrong is a failure, with a right one all is reported", async () => {
    const key = "sk-right-key"
    await using server = await startModelServer({
      protocol: "openai",
      flavour: "llamacpp",
      models,
      answer,
      key,
    })
    expect((await serverAt(server.endpoint).models(limits, never)).failure?.kind).toBe("auth")
    expect((await serverAt(server.endpoint, "wrong").facts("one", limits, never)).failure?.kind).toBe("auth")
    expect((await serverAt(server.endpoint, key).facts("one", limits, never)).value?.loadedTokens).toBe(8192)
  })

  test("a server that is not there, and a look that was stopped, are failures", async () => {
    const server = await startModelServer({ protocol: "openai", answer })
    await server[Symbol.asyncDispose]()
    expect((await serverAt(server.endpoint).models(limits, never)).failure?.kind).toBe("unavailable")
    await using other = await startModelServer({ protocol: "openai", answer })
    const { failure } = await serverAt(other.endpoint).facts("one", limits, AbortSignal.abort())
    expect(failure?.kind).toBe("aborted")
  })
})
