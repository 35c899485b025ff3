import { describe, expect, test } from "bun:test"
import { assert } from "../../../../src/base/assert.ts"
import { createAnthropic } from "../../../../src/provider/protocols/anthropic/server.ts"
import { collect } from "../../../../src/provider/reply.ts"
import type { ModelServer } from "../../../../src/provider/server.ts"
import { readEndpoint } from "../../../../src/provider/transport/endpoint.ts"
import { openTransport } from "../../../../src/provider/transport/http.ts"
import { eventually } from "../../../support/eventually.ts"
import { nothingLeaves } from "../../../support/external-calls.ts"
import type { FakeServer, ModelServerOptions } from "../../../support/model-server/contract.ts"
import { bytes, chunked, chunkedHead, whole, wholeJson } from "../../../support/model-server/http.ts"
import { callsTools, says } from "../../../support/model-server/replies.ts"
import { startModelServer } from "../../../support/model-server/server.ts"
import { itemsOf, never, requestOf } from "../../provider-kit.ts"
import { limits, settingsOf } from "./anthropic-kit.ts"

const key = "sk-ant-test-0123456789"
const both = [true, false]

function serve(
  answer: ModelServerOptions["answer"],
  more: Partial<ModelServerOptions> = {},
): Promise<FakeServer> {
  return startModelServer({ protocol: "anthropic", key, answer, ...more })
}

function open({ endpoint: url }: Pick<FakeServer, "endpoint">, apiKey = key): ModelServer {
  const endpoint = readEndpoint(url)
  assert(endpoint.problem === undefined, `the endpoint of a test can be read: ${endpoint.problem}`)
  const egress = { mode: "local-only", configured: url, consented: null } as const
  return createAnthropic(openTransport({ endpoint, egress, externalCalls: nothingLeaves }), apiKey)
}

function ask(server: ModelServer, streams: boolean, request = requestOf(), signal = never) {
  return collect(server.provider(settingsOf({ streams, model: "fake" })).ask(request, signal), signal)
}

describe.each(both)("a reply over HTTP, streamed: %p", streams => {
  test("is what the model says, with what it took", async () => {
    await using server = await serve(() => says("Grüße 🌍", { usage: { input: 11, output: 7 } }))
    expect(await ask(open(server), streams)).toMatchObject({
      text: "Grüße 🌍",
      usage: { input: 11, output: 7 },
      end: "stop",
      failure: null,
    })
    expect(server.chats[0]?.headers).toMatchObject({ "x-api-key": key, "anthropic-version": "2023-06-01" })
    expect(server.chats[0]?.body).toMatchObject({ stream: streams, model: "fake" })
  })

  test("brings calls, whose results go back with the next request", async () => {
    await using server = await serve((_, index) =>
      index === 0 ? callsTools(["look", { at: "a" }]) : says("done"),
    )
    const anthropic = open(server)
    const tools = [{ name: "look", description: "Looks.", parameters: { type: "object" } }]
    const first = await ask(anthropic, streams, requestOf({ tools }))
    expect(first).toMatchObject({ end: "calls", calls: [{ tool: "look", arguments: { at: "a" } }] })
    const callId = first.calls[0]?.id ?? ""
    const messages = [
      { role: "user", text: "go" },
      { role: "assistant", text: "", calls: first.calls },
      { role: "tool", callId, text: "found" },
    ] as const
    expect(await ask(anthropic, streams, requestOf({ tools, messages }))).toMatchObject({
      text: "done",
      end: "stop",
    })
  })

  test("that has to have a shape is JSON", async () => {
    const format = { name: "plan", schema: { type: "object", properties: { goal: { type: "string" } } } }
    await using server = await serve(() => callsTools(["plan", { goal: "g" }]))
    expect(await ask(open(server), streams, requestOf({ format }))).toMatchObject({
      text: '{"goal":"g"}',
      end: "stop",
    })
  })

  test("that was refused, cut off or ended strangely is reported as such", async () => {
    const ends = ["length", "refused", { unknown: "pause_turn" }] as const
    await using server = await serve((_, index) => says("x", { end: ends[index] ?? "stop" }))
    const anthropic = open(server)
    expect((await ask(anthropic, streams)).end).toBe("length")
    expect((await ask(anthropic, streams)).end).toBe("refused")
    expect((await ask(anthropic, streams)).failure?.kind).toBe("truncated")
  })

  test("that breaks off keeps nothing of its calls", async () => {
    const acts = streams
      ? [
          { send: chunkedHead("text/event-stream") },
          { send: chunked(bytes('event: ping\ndata: {"type":"ping"}\n\n')) },
        ]
      : [{ send: whole(200, '{"type":"message"').subarray(0, -4) }]
    await using server = await serve(() => ({ acts: [...acts, { reset: true }] }))
    const reply = await ask(open(server), streams)
    expect(reply.calls).toEqual([])
    expect(reply.failure?.retryable).toBe(true)
  })

  test("that does not come within the time is a failure of time", async () => {
    await using server = await serve(() => ({ acts: [{ hang: true }] }))
    const settings = settingsOf({ streams, limits: { ...limits, firstByteMs: 50 } })
    const reply = await collect(open(server).provider(settings).ask(requestOf(), never), never)
    expect(reply.failure?.kind).toBe("timeout")
  })

  test("that is stopped is not a failure of the server, and its connection goes", async () => {
    await using server = await serve(() => ({ acts: [{ hang: true }] }))
    const stopping = new AbortController()
    const items = itemsOf(open(server).provider(settingsOf({ streams })).ask(requestOf(), stopping.signal))
    await eventually("the request is there", () => server.chats.length === 1)
    stopping.abort()
    expect(await items).toMatchObject([{ kind: "failure", failure: { kind: "aborted", retryable: false } }])
    await eventually("the connection is gone", () => server.connections.open === 0)
  })
})

describe("a failure over HTTP", () => {
  test("says whom to ask again and when", async () => {
    const error = { type: "error", error: { type: "rate_limit_error", message: "slow down" } }
    await using server = await serve(() => ({
      acts: [{ send: wholeJson(429, error, { "retry-after": "3" }) }],
    }))
    expect((await ask(open(server), true)).failure).toEqual({
      kind: "rateLimited",
      retryable: true,
      retryAfterMs: 3000,
      message: "the model server answered 429: rate_limit_error: slow down",
    })
  })

  test("of something in between is read from its status", async () => {
    const page = whole(529, "<html>overloaded</html>", { "content-type": "text/html" })
    await using server = await serve(() => ({ acts: [{ send: page }] }))
    expect((await ask(open(server), true)).failure?.kind).toBe("overloaded")
  })

  test("of the length is what the server says", async () => {
    await using server = await serve(() => says("x"), { window: 1 })
    expect((await ask(open(server), true)).failure?.kind).toBe("contextTooLong")
  })

  test("of the key shows no key, though the server repeats it", async () => {
    const error = {
      type: "error",
      error: { type: "authentication_error", message: `invalid x-api-key ${key}` },
    }
    await using server = await serve(() => ({ acts: [{ send: wholeJson(401, error) }] }))
    const { failure } = await ask(open(server), true)
    expect(failure?.kind).toBe("auth")
    expect(failure?.message).toContain("invalid x-api-key <key>")
    expect(JSON.stringify(failure)).not.toContain(key)
  })

  test("of a key that no header can have is found before anything is sent", async () => {
    await using server = await serve(() => says("x"))
    for (const odd of ["", "a b", "sk\nx: y", "schlüssel"]) {
      const { failure } = await ask(open(server, odd), true)
      expect(failure?.kind).toBe("auth")
      if (odd !== "") expect(failure?.message).not.toContain(odd)
    }
    expect(server.connections.all).toBe(0)
  })

  test("to connect is none of the API", async () => {
    const server = await serve(() => says("x"))
    await server[Symbol.asyncDispose]()
    expect((await ask(open(server), true)).failure).toMatchObject({ kind: "unavailable", retryable: true })
  })

  test("is not looked for when it was stopped before", async () => {
    await using server = await serve(() => says("x"))
    const anthropic = open(server)
    const items = await itemsOf(anthropic.provider(settingsOf()).ask(requestOf(), AbortSignal.abort()))
    expect(items).toMatchObject([{ kind: "failure", failure: { kind: "aborted" } }])
    expect((await anthropic.models(limits, AbortSignal.abort())).failure?.kind).toBe("aborted")
    expect(server.connections.all).toBe(0)
  })
})

test("a server that does not stream though it is asked to is understood", async () => {
  const message = { type: "message", content: [{ type: "text", text: "at once" }], stop_reason: "end_turn" }
  await using server = await serve(() => ({ acts: [{ send: wholeJson(200, message) }] }))
  expect(await ask(open(server), true)).toMatchObject({ text: "at once", end: "stop" })
})

describe("the models of a server", () => {
  const fake = { name: "fake", trainedTokens: 1, loadedTokens: 1, parameters: "1B", tools: true }

  test("are listed", async () => {
    await using server = await serve(() => says("x"), { models: [fake] })
    expect((await open(server).models(limits, never)).value).toMatchObject([{ name: "fake", isLoaded: null }])
  })

  test("are known by what the server says of them", async () => {
    await using server = await serve(() => says("x"), { models: [fake] })
    const known = (await open(server).facts("fake", limits, never)).value
    expect(known).toMatchObject({ loadedTokens: null, trainedTokens: null })
    expect((await open(server).facts("../other one", limits, never)).failure?.kind).toBe("notFound")
  })

  test("are not reported to someone with the wrong key", async () => {
    await using server = await serve(() => says("x"))
    expect((await open(server, "sk-wrong").models(limits, never)).failure?.kind).toBe("auth")
    expect((await open(server, "sk-wrong").facts("fake", limits, never)).failure?.kind).toBe("auth")
  })
})
