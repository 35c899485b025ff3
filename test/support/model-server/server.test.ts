import { describe, expect, test } from "bun:test"
import type { Json } from "../../../src/base/canonical.ts"
import { type Protocol, protocols } from "../../../src/domain/model-choice.ts"
import { reply } from "../script-replies.ts"
import type { FakeServer, ModelServerOptions } from "./contract.ts"
import { encodeReply, wires } from "./encode.ts"
import { at, listAt, textAt } from "./json.ts"
import { callsTools, says } from "./replies.ts"
import { scriptedAnswers } from "./scripted.ts"
import { startModelServer } from "./server.ts"

const question = { model: "fake", max_tokens: 100, messages: [{ role: "user", content: "do it" }] }

async function ask(server: FakeServer, protocol: Protocol, more: Readonly<Record<string, Json>> = {}) {
  const answer = await fetch(server.endpoint + wires[protocol].chatPath, {
    method: "POST",
    headers: { "anthropic-version": "2023-06-01", "x-api-key": "k" },
    body: JSON.stringify({ ...question, stream: false, ...more }),
  })
  return { status: answer.status, type: answer.headers.get("content-type"), text: await answer.text() }
}

async function askJson(server: FakeServer, protocol: Protocol, more: Readonly<Record<string, Json>> = {}) {
  const answer = await ask(server, protocol, more)
  return { status: answer.status, body: JSON.parse(answer.text) as Json }
}

function started(protocol: Protocol, more: Partial<ModelServerOptions> = {}) {
  return startModelServer({ protocol, answer: () => says("hello there"), ...more })
}

const place = {
  ollama: ["message", "content"],
  openai: ["choices", 0, "message", "content"],
  anthropic: ["content", 0, "text"],
} as const

/** The request for an answer with a shape, in each protocol. */
const shaped = {
  ollama: (schema: Json) => ({ format: schema }),
  openai: (schema: Json) => ({
    response_format: { type: "json_schema", json_schema: { name: "action", schema } },
  }),
  anthropic: (schema: Json) => ({
    tools: [{ name: "action", input_schema: schema }],
    tool_choice: { type: "tool", name: "action" },
  }),
} as const

describe.each([...protocols])("the fake server speaks %s", protocol => {
  test("whole replies and streams, over one connection", async () => {
    await using server = await started(protocol)
    const { status, body } = await askJson(server, protocol)
    expect(status).toBe(200)
    expect(at(body, ...place[protocol])).toBe("hello there")
    const streamed = await ask(server, protocol, { stream: true })
    expect(streamed.type).toBe(wires[protocol].streamType)
    const pieces = encodeReply(protocol, says("hello there"), {
      streams: true,
      promptTokens: 10,
      includeUsage: false,
    })
    expect(streamed.text.length).toBeGreaterThan(100)
    expect(streamed.text.split("\n").length).toBe(Buffer.concat(pieces).toString().split("\n").length)
    expect(server.requests.map(({ path }) => path)).toEqual(Array(2).fill(wires[protocol].chatPath))
    expect(at(server.chats[1]?.body, "stream")).toBe(true)
    expect(server.connections.all).toBe(1)
  })

  test("nothing is left of it once it is disposed", async () => {
    const server = await started(protocol, { answer: () => ({ acts: [{ hang: true }] }) })
    const asked = ask(server, protocol).catch(() => "broken")
    while (server.connections.open === 0) await Promise.race([asked, new Promise(setImmediate)])
    await server[Symbol.asyncDispose]()
    expect(await asked).toBe("broken")
    expect(server.connections.open).toBe(0)
    expect(await ask(server, protocol).catch(() => "refused")).toBe("refused")
  })

  test("a wrong key and an unknown model are refused", async () => {
    const models = [{ name: "other", trainedTokens: 1, loadedTokens: 1, parameters: "1B", tools: true }]
    await using locked = await started(protocol, { key: "another" })
    expect((await ask(locked, protocol)).status).toBe(401)
    await using strange = await started(protocol, { models })
    expect((await ask(strange, protocol)).status).toBe(404)
  })

  test("without native tools a call is the object a schema asks for, or a block of text", async () => {
    const answer = () => callsTools(["read_file", { path: "a" }])
    await using server = await started(protocol, { native: false, answer })
    const object = '{"tool":"read_file","arguments":{"path":"a"}}'
    const free = await askJson(server, protocol)
    expect(at(free.body, ...place[protocol])).toBe(`\`\`\`tool\n${object}\n\`\`\``)
    const schema = { type: "object" }
    const bound = await askJson(server, protocol, shaped[protocol](schema))
    const said =
      protocol === "anthropic" ? at(bound.body, "content", 0, "input") : at(bound.body, ...place[protocol])
    expect(typeof said === "string" ? said : JSON.stringify(said)).toBe(object)
  })

  test("a script is answered in its order, its faults as this protocol has them, probes not counted", async () => {
    const answer = scriptedAnswers([
      { stage: "planner", text: "one" },
      reply.fault("executor", "rate_limit"),
      reply.fault("executor", "disconnect"),
      reply.calls(["read_file", { path: "a" }]),
    ])
    await using server = await started(protocol, { answer })
    const probe = { messages: [{ role: "user", content: "acode probe: say ok" }] }
    expect(at((await askJson(server, protocol, probe)).body, ...place[protocol])).toBe("ok")
    expect(at((await askJson(server, protocol)).body, ...place[protocol])).toBe("one")
    expect((await ask(server, protocol)).status).toBe(429)
    expect(await ask(server, protocol, { stream: true }).catch(() => "broken")).toBe("broken")
    expect((await ask(server, protocol)).text).toContain("read_file")
    expect(await askJson(server, protocol)).toMatchObject({ status: 400 })
  })
})

describe("a request that does not fit fails as each server has it", () => {
  const long = { messages: [{ role: "user", content: "word ".repeat(1000) }] }

  test.each([
    ["llamacpp", "exceed_context_size_error"],
    ["vllm", "maximum context length is 100 tokens"],
    ["lmstudio", "context length of only 100 tokens"],
    ["plain", "context_length_exceeded"],
  ] as const)("%s", async (flavour, words) => {
    await using server = await started("openai", { flavour, window: 100 })
    const { status, text } = await ask(server, "openai", long)
    expect([status, text]).toEqual([400, expect.stringContaining(words)])
    expect((await ask(server, "openai")).status).toBe(200)
  })

  test("anthropic refuses, ollama cuts and counts less", async () => {
    await using anthropic = await started("anthropic", { window: 100 })
    expect((await ask(anthropic, "anthropic", long)).text).toContain(
      "prompt is too long: 1258 tokens > 100 maximum",
    )
    await using ollama = await started("ollama", { window: 100 })
    expect(at((await askJson(ollama, "ollama", long)).body, "prompt_eval_count")).toBe(50)
  })
})

describe("transcripts that the real servers refuse are refused", () => {
  test("a call without its result", async () => {
    const call = { id: "c1", type: "function", function: { name: "x", arguments: "{}" } }
    await using openai = await started("openai")
    const calls = { messages: [{ role: "assistant", content: null, tool_calls: [call] }] }
    expect(await askJson(openai, "openai", calls)).toMatchObject({ status: 400 })
    await using anthropic = await started("anthropic")
    const used = [{ type: "tool_use", id: "t1", name: "x", input: {} }]
    const messages = [
      ...question.messages,
      { role: "assistant", content: used },
      { role: "user", content: "so?" },
    ]
    expect((await ask(anthropic, "anthropic", { messages })).text).toContain("without `tool_result`")
  })

  test.each(["openai", "ollama"] as const)(
    "by a template, of %s: users in a row, empty answers, and two calls at once",
    async protocol => {
      await using server = await started(protocol)
      const user = { role: "user", content: "do it" }
      const empty = { role: "assistant", content: "" }
      const calls = ["a", "b"].map(id => ({ id, function: { name: "run", arguments: "{}" } }))
      const results = ["a", "b"].map(id => ({ role: "tool", content: "", tool_call_id: id }))
      for (const messages of [
        [user, { ...empty, tool_calls: calls }, ...results],
        [user, user],
        [user, empty, user],
        [user, { ...empty, content: "hm" }, empty],
      ])
        expect(await askJson(server, protocol, { messages })).toMatchObject({ status: 400 })
    },
  )
})

describe("what servers say of themselves", () => {
  const get = async (server: FakeServer, path: string) =>
    (await fetch(server.endpoint + path)).json() as Promise<Json>

  test("ollama", async () => {
    await using server = await started("ollama")
    expect(textAt(await get(server, "/api/version"), "version")).not.toBe("")
    expect(textAt(await get(server, "/api/tags"), "models", 0, "name")).toBe("fake")
    expect(at(await get(server, "/api/ps"), "models", 0, "context_length")).toBe(8192)
    const shown = await fetch(`${server.endpoint}/api/show`, { method: "POST", body: '{"model":"fake"}' })
    expect(await shown.json()).toMatchObject({
      capabilities: ["completion", "tools"],
      details: { parameter_size: "8.0B" },
      model_info: { "llama.context_length": 131_072 },
    })
  })

  test("openai, by flavour, and anthropic", async () => {
    await using vllm = await started("openai", { flavour: "vllm" })
    expect(at(await get(vllm, "/v1/models"), "data", 0, "max_model_len")).toBe(8192)
    await using llamacpp = await started("openai", { flavour: "llamacpp" })
    expect(at(await get(llamacpp, "/props"), "default_generation_settings", "n_ctx")).toBe(8192)
    expect(at(await get(llamacpp, "/health"), "status")).toBe("ok")
    await using lmstudio = await started("openai", { flavour: "lmstudio" })
    expect(at(await get(lmstudio, "/api/v0/models"), "data", 0, "loaded_context_length")).toBe(8192)
    await using plain = await started("openai")
    expect((await fetch(`${plain.endpoint}/props`)).status).toBe(404)
    await using anthropic = await started("anthropic")
    expect(listAt(await get(anthropic, "/v1/models"), "data")).toHaveLength(1)
  })
})
