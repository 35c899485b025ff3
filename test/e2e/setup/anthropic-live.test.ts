import { expect } from "bun:test"
import { assert } from "../../../src/base/assert.ts"
import type { ModelRequest } from "../../../src/provider/contract.ts"
import { createAnthropic } from "../../../src/provider/protocols/anthropic/server.ts"
import { collect } from "../../../src/provider/reply.ts"
import type { ModelServer, ModelSettings } from "../../../src/provider/server.ts"
import { readEndpoint } from "../../../src/provider/transport/endpoint.ts"
import { openTransport } from "../../../src/provider/transport/http.ts"
import { unheard } from "../../support/external-calls.ts"
import { testWhere } from "../../support/requirement.ts"

const key = process.env["ANTHROPIC_API_KEY"] ?? ""
const liveTest = testWhere(key === "" ? "ANTHROPIC_API_KEY is not set" : null)
const limits = { connectMs: 10_000, firstByteMs: 60_000, betweenMs: 60_000, wholeMs: 90_000 }
const never = new AbortController().signal
const timeoutMs = 120_000

function server(): ModelServer {
  const url = "https://api.anthropic.com"
  const endpoint = readEndpoint(url)
  assert(endpoint.problem === undefined, "the address of the service can be read")
  const egress = { mode: "burst", configured: url, consented: url } as const
  return createAnthropic(openTransport({ endpoint, egress, externalCalls: unheard }), key)
}

/** The smallest of those on offer, because each run is paid for. */
async function someModel(): Promise<string> {
  const { value, failure } = await server().models(limits, never)
  assert(value !== undefined, `the models can be listed: ${failure?.message}`)
  const name = (value.find(model => model.name.includes("haiku")) ?? value[0])?.name
  assert(name !== undefined, "the service has a model")
  return name
}

async function ask(changes: Partial<ModelRequest>, more: Partial<ModelSettings> = {}) {
  const settings: ModelSettings = {
    model: await someModel(),
    windowTokens: null,
    outputTokensMax: 300,
    temperature: null,
    topP: null,
    keepAlive: "30m",
    streams: true,
    limits,
    ...more,
  }
  const request: ModelRequest = {
    stage: "agent",
    replyIndex: 0,
    model: null,
    messages: [{ role: "user", text: "Say the word pear and nothing else." }],
    tools: [],
    format: null,
    outputTokensMax: null,
    ...changes,
  }
  return collect(server().provider(settings).ask(request, never), never)
}

liveTest(
  "the real service tells how much a model can hold",
  async () => {
    const { value } = await server().facts(await someModel(), limits, never)
    expect(value?.declaresTools).toBe(true)
    expect(value?.loadedTokens ?? 0).toBeGreaterThanOrEqual(100_000)
  },
  timeoutMs,
)

liveTest(
  "the real service answers in text, streamed and at once",
  async () => {
    for (const streams of [true, false]) {
      const reply = await ask({}, { streams, temperature: 0.7, topP: 0.95 })
      expect(reply.failure).toBeNull()
      expect(reply.end).toBe("stop")
      expect(reply.text.toLowerCase()).toContain("pear")
      expect(reply.usage.input).toBeGreaterThan(0)
    }
  },
  timeoutMs,
)

liveTest(
  "the real service calls a tool and takes its result",
  async () => {
    const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] }
    const tools = [{ name: "temperature_of", description: "Tells the temperature of a city.", parameters }]
    const question = { role: "user", text: "How warm is it in Oslo? Use the tool." } as const
    const first = await ask({ tools, messages: [question] })
    const [call] = first.calls
    assert(call !== undefined, `the model calls the tool: ${JSON.stringify(first)}`)
    const { text, calls } = first
    const messages = [
      question,
      { role: "assistant", text, calls },
      ...calls.map(({ id }) => ({ role: "tool", callId: id, text: "17 degrees" }) as const),
    ] as const
    expect((await ask({ tools, messages })).text).toContain("17")
  },
  timeoutMs,
)

liveTest(
  "the real service gives an answer that has a shape, also where the shape is a choice",
  async () => {
    const fruit = { type: "object", properties: { fruit: { type: "string" } }, required: ["fruit"] }
    for (const schema of [fruit, { anyOf: [fruit] }]) {
      const reply = await ask({ format: { name: "answer", schema } })
      expect(JSON.parse(reply.text)).toHaveProperty("fruit")
    }
  },
  timeoutMs,
)

liveTest(
  "the real service says that there is no such model, and what is wrong with a key",
  async () => {
    expect((await ask({}, { model: "claude-that-never-was" })).failure?.kind).toBe("notFound")
    const endpoint = readEndpoint("https://api.anthropic.com")
    assert(endpoint.problem === undefined, "the address of the service can be read")
    const egress = { mode: "burst", configured: endpoint.url, consented: endpoint.url } as const
    const stranger = createAnthropic(
      openTransport({ endpoint, egress, externalCalls: unheard }),
      "sk-ant-wrong",
    )
    expect((await stranger.models(limits, never)).failure?.kind).toBe("auth")
  },
  timeoutMs,
)
