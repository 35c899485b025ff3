import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { defaultConfig } from "../../src/config/defaults.ts"
import { selectModels } from "../../src/models/select.ts"
import { findServer, type ModelContext, type ServerWish } from "../../src/models/server.ts"
import { knownModel } from "../../src/models/stage-model.ts"
import { failureOf } from "../config/config-fixture.ts"
import type { FakeModel, ModelServerOptions } from "../support/model-server/contract.ts"
import { whole } from "../support/model-server/http.ts"
import { probeAnswer } from "../support/model-server/probes.ts"
import { says } from "../support/model-server/replies.ts"
import { requestFacts } from "../support/model-server/request-facts.ts"
import { startModelServer } from "../support/model-server/server.ts"
import { type TempWorkspace, tempWorkspace } from "../support/workspace/temp-workspace.ts"
import { configWith, modelRoomWith, wishFor } from "./model-room.ts"

let temp: TempWorkspace
beforeEach(() => {
  temp = tempWorkspace()
})
afterEach(() => temp[Symbol.dispose]())

const model = (name: string, more: Partial<FakeModel> = {}): FakeModel => ({
  name,
  trainedTokens: 131_072,
  loadedTokens: null,
  parameters: "8.0B",
  tools: true,
  ...more,
})

const serving = (more: Partial<ModelServerOptions>) =>
  startModelServer({ protocol: "ollama", answer: asked => probeAnswer(asked) ?? says("hi"), ...more })

function roomFor(...config: Parameters<typeof configWith>) {
  return modelRoomWith(configWith(...config), temp.environment)
}

async function selected(room: ModelContext, wish: ServerWish) {
  return await selectModels(room, await findServer(room, wish))
}

describe("the models of a session", () => {
  test("are one for all stages, tried out once and then known", async () => {
    await using fake = await serving({})
    const room = roomFor({ endpoint: fake.endpoint })
    const selection = await selected(room, wishFor())
    const { planner, executor, verifier, reviewer, ...server } = selection
    expect(server).toEqual({ protocol: "ollama", endpoint: fake.endpoint, consentBy: null })
    expect(planner).toEqual({
      name: "fake",
      rung: "native",
      editFormat: "replace",
      windowTokens: 16_384,
      outputTokensMax: 4096,
    })
    expect([executor, verifier, reviewer]).toEqual([planner, planner, planner])
    expect(room.notices.map(notice => notice.split(":")[0])).toEqual([
      "model fake at http",
      "probing what fake can do, once; loading a model may take a while",
    ])
    const asked = fake.chats.length
    expect(asked).toBeGreaterThan(0)
    const again = roomFor({ endpoint: fake.endpoint })
    expect(await selected(again, wishFor({ model: "fake" }))).toEqual(selection)
    expect([fake.chats.length, again.notices]).toEqual([asked, []])
  })

  test("have the window that a hurried look for the server missed", async () => {
    await using fake = await serving({ models: [model("one", { loadedTokens: 32_768 })] })
    let isBusy = true
    using slow = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: request => {
        const { pathname } = new URL(request.url)
        if (pathname === "/api/ps" && isBusy) return new Promise<Response>(() => undefined)
        return fetch(fake.endpoint + pathname, { method: request.method, body: request.body })
      },
    })
    const room = roomFor({ endpoint: `http://127.0.0.1:${slow.port}`, provider: "ollama" })
    const hurried = { connectMs: 500, firstByteMs: 200, betweenMs: 200, wholeMs: 200 }
    const found = await findServer({ ...room, limits: hurried }, wishFor())
    isBusy = false
    expect((await selectModels(room, found)).planner).toMatchObject({ name: "one", windowTokens: 32_768 })
  })

  test("may be another one for each stage, which --model overrules", async () => {
    const models = ["big", "small", "other"].map(name => model(name))
    await using fake = await serving({ models })
    const roles = { models: { ...defaultConfig.models, planner: "big", reviewer: "other" } }
    const room = roomFor({ endpoint: fake.endpoint, name: "small" }, roles)
    const { planner, executor, verifier, reviewer } = await selected(room, wishFor())
    expect([planner, executor, verifier, reviewer].map(({ name }) => name)).toEqual([
      ...["big", "small", "small", "other"],
    ])
    const forced = await selected(room, wishFor({ model: "ollama/big" }))
    expect([forced.planner.name, forced.reviewer.name]).toEqual(["big", "big"])
  })

  test("may be named by the tier they are of, with and without the provider", async () => {
    const models = ["big", "small", "haiku"].map(name => model(name))
    await using fake = await serving({ models })
    const tiers = { opus: "big", sonnet: null, haiku: "small" }
    const roles = { models: { ...defaultConfig.models, planner: "opus", reviewer: "haiku", tiers } }
    const room = roomFor({ endpoint: fake.endpoint, name: "small" }, roles)
    const { planner, executor, reviewer } = await selected(room, wishFor())
    expect([planner, executor, reviewer].map(({ name }) => name)).toEqual(["big", "small", "small"])
    for (const typed of ["opus", "ollama/opus"])
      expect((await selected(room, wishFor({ model: typed }))).executor.name).toBe("big")
    // Behind this one there is none, and the server has no model of that name.
    expect(await failureOf(() => selected(room, wishFor({ model: "sonnet" })))).toMatchObject({
      code: "ACODE-MODEL-007",
    })
  })

  test("that are configured and not there are reported before anything is asked", async () => {
    await using fake = await serving({})
    const room = roomFor({ endpoint: fake.endpoint }, { models: { reviewer: "none" } as never })
    expect(await failureOf(() => selected(room, wishFor()))).toMatchObject({ code: "ACODE-MODEL-007" })
    expect(fake.chats).toEqual([])
  })

  test("that cannot call tools are made to by other means", async () => {
    for (const [schemas, rung] of [
      [true, "constrained"],
      [false, "text"],
    ] as const) {
      await using fake = await serving({ protocol: "openai", native: false, schemas })
      const { executor } = await selected(roomFor({ endpoint: fake.endpoint }), wishFor())
      expect(executor.rung).toBe(rung)
    }
  })

  test("whose replies broke while they were tried out are tried out again", async () => {
    let isBroken = true
    const broken = whole(200, 'data: {"choices":[{"del', { "content-type": "text/event-stream" })
    await using fake = await serving({
      protocol: "openai",
      answer: received => {
        const isNative = requestFacts("openai", received.body).tools.length > 0
        if (isBroken && isNative) return { acts: [{ send: broken }] }
        return probeAnswer(received) ?? says("hi")
      },
    })
    const room = roomFor({ endpoint: fake.endpoint })
    expect((await selected(room, wishFor())).executor.rung).toBe("constrained")
    isBroken = false
    expect((await selected(room, wishFor())).executor.rung).toBe("native")
    const asked = fake.chats.length
    expect((await selected(room, wishFor())).executor.rung).toBe("native")
    expect(fake.chats.length).toBe(asked)
  })

  test("that are another one under the same name are tried out again", async () => {
    // A llama.cpp that was started with another file.
    const models = [model("m")]
    await using fake = await serving({ protocol: "openai", flavour: "llamacpp", models })
    const chats = async () => {
      await selected(roomFor({ endpoint: fake.endpoint }), wishFor())
      return fake.chats.length
    }
    expect([await chats(), await chats()]).toEqual([1, 1])
    models[0] = model("m", { trainedTokens: 32_768 })
    expect([await chats(), await chats()]).toEqual([2, 2])
  })

  test("are tried out again when the server says otherwise about their tools", async () => {
    const models = [model("m")]
    await using fake = await serving({ models })
    const rung = async () => (await selected(roomFor({ endpoint: fake.endpoint }), wishFor())).executor.rung
    expect(await rung()).toBe("native")
    models[0] = model("m", { tools: false })
    expect(await rung()).toBe("constrained")
    models[0] = model("m")
    expect(await rung()).toBe("native")
  })

  test("of Anthropic are known to call tools and not asked to show it", async () => {
    await using fake = await serving({ protocol: "anthropic", models: [model("claude-some-1")] })
    const room = roomFor({ endpoint: fake.endpoint, provider: "anthropic" })
    const { executor } = await selected(room, wishFor())
    expect(executor).toMatchObject({ rung: "native", editFormat: "replace", windowTokens: 200_000 })
    expect(fake.chats).toEqual([])
  })
})

describe("the window", () => {
  const parameters = (context_window: number | null, max_tokens = 4096) => ({
    context_window,
    max_tokens,
    temperature: null,
    top_p: null,
  })

  test("is what is configured, where the server can be told", async () => {
    await using fake = await serving({ models: [model("fake", { loadedTokens: 4096 })] })
    const room = roomFor({ endpoint: fake.endpoint, parameters: parameters(32_768) })
    expect((await selected(room, wishFor())).executor.windowTokens).toBe(32_768)
    expect(JSON.stringify(fake.chats[0]?.body)).toContain('"num_ctx":32768')
  })

  test("is not what another program loaded the model with, where the server can be told", async () => {
    const models = [model("fake", { loadedTokens: 2048 })]
    await using fake = await serving({ models })
    const room = roomFor({ endpoint: fake.endpoint })
    expect((await selected(room, wishFor())).executor.windowTokens).toBe(16_384)
    expect(JSON.stringify(fake.chats[0]?.body)).toContain('"num_ctx":16384')
    models[0] = model("fake", { loadedTokens: 65_536 })
    expect((await selected(room, wishFor())).executor.windowTokens).toBe(65_536)
  })

  test("is no more than what is loaded, where it cannot", async () => {
    const models = [model("fake", { loadedTokens: 4096 })]
    await using fake = await serving({ protocol: "openai", flavour: "lmstudio", models })
    const window = async (configured: number | null) => {
      const room = roomFor({ endpoint: fake.endpoint, parameters: parameters(configured) })
      return (await selected(room, wishFor())).executor
    }
    expect(await window(32_768)).toMatchObject({ windowTokens: 4096, outputTokensMax: 2048 })
    expect(await window(2048)).toMatchObject({ windowTokens: 2048, outputTokensMax: 1024 })
    expect(await window(null)).toMatchObject({ windowTokens: 4096 })
  })

  test("is inspected anew when the model was loaded otherwise since it was tried out", async () => {
    const models = [model("fake", { loadedTokens: 16_384 })]
    await using fake = await serving({ protocol: "openai", flavour: "lmstudio", models })
    const room = roomFor({ endpoint: fake.endpoint })
    const { executor } = await selected(room, wishFor())
    expect(executor).toMatchObject({ windowTokens: 16_384, editFormat: "replace" })
    const asked = fake.chats.length
    models[0] = model("fake", { loadedTokens: 4096 })
    const known = await knownModel(room, (await findServer(room, wishFor())).server, "fake", false)
    expect(known.model).toMatchObject({ windowTokens: 4096, editFormat: "whole" })
    expect(known.notes.map(note => note.split(" (")[0])).toEqual([
      ...["native: works", "window: 4096 tokens", "edit format: whole"],
    ])
    expect(fake.chats.length).toBe(asked)
  })
})
