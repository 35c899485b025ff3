import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { diagnose } from "../../../src/app/verbs/diagnose.ts"
import { modelVerbs } from "../../../src/app/verbs/models.ts"
import { Wiring } from "../../../src/app/wiring/wire.ts"
import { readEnvironment } from "../../../src/config/environment.ts"
import type { UsualServer } from "../../../src/provider/protocol.ts"
import { failureOf } from "../../config/config-fixture.ts"
import { usualAt } from "../../models/model-room.ts"
import type { FakeModel, ModelServerOptions } from "../../support/model-server/contract.ts"
import { probeAnswer } from "../../support/model-server/probes.ts"
import { says } from "../../support/model-server/replies.ts"
import { startModelServer } from "../../support/model-server/server.ts"
import { type TempWorkspace, tempWorkspace } from "../../support/workspace/temp-workspace.ts"

let temp: TempWorkspace
beforeEach(() => {
  temp = tempWorkspace()
})
afterEach(() => temp[Symbol.dispose]())

const model = (name: string, loadedTokens: number | null): FakeModel => ({
  name,
  loadedTokens,
  trainedTokens: 32_768,
  parameters: "8.0B",
  tools: true,
})

const serving = (more: Partial<ModelServerOptions> = {}) =>
  startModelServer({ protocol: "ollama", answer: asked => probeAnswer(asked) ?? says("hi"), ...more })

function wiringFor(usualServers: readonly UsualServer[], variables: Readonly<Record<string, string>> = {}) {
  const environment = readEnvironment({ ...temp.environment, ...variables })
  return new Wiring({ environment, workspace: temp.root, configFile: undefined, usualServers })
}

const look = (more: object = {}) => ({
  model: null,
  mode: null,
  notice: () => undefined,
  signal: AbortSignal.timeout(10_000),
  ...more,
})

describe("the list of models", () => {
  test("says where they are and which one a session would take", async () => {
    await using fake = await serving({ models: [model("one", null), model("two", 4096)] })
    using wiring = wiringFor([usualAt(fake.endpoint, "ollama")])
    const { endpoint, protocol, models } = await modelVerbs(wiring).listModels(look())
    expect([endpoint, protocol]).toEqual([fake.endpoint, "ollama"])
    expect(models.map(({ name, isLoaded, isChosen }) => [name, isLoaded, isChosen])).toEqual([
      ["one", false, false],
      ["two", true, true],
    ])
    expect(fake.chats).toEqual([])
  })

  test("is shown also where none of them would be taken", async () => {
    await using fake = await serving({ models: [model("nomic-embed-text", null)] })
    using wiring = wiringFor([usualAt(fake.endpoint, "ollama")])
    const { models } = await modelVerbs(wiring).listModels(look())
    expect(models.map(({ isChosen }) => isChosen)).toEqual([false])
  })

  test("of a server elsewhere is asked for only with a consent", async () => {
    using wiring = wiringFor([], { ACODE_MODEL_PROVIDER: "anthropic" })
    const verbs = modelVerbs(wiring)
    expect(await failureOf(() => verbs.listModels(look()))).toMatchObject({ code: "ACODE-MODEL-004" })
    expect(await failureOf(() => verbs.listModels(look({ mode: "burst" })))).toMatchObject({
      code: "ACODE-MODEL-008",
    })
  })

  test("is not told to consent by a flag that only a session has", async () => {
    using wiring = wiringFor([])
    const { listModels, probeModel } = modelVerbs(wiring)
    const burst = look({ mode: "burst" })
    expect(await failureOf(() => listModels(burst))).toMatchObject({
      hint: "name the provider to ask: `ACODE_MODEL_PROVIDER=anthropic acode models list --mode burst`",
    })
    expect(await failureOf(() => probeModel(burst))).toMatchObject({
      hint: "name the provider to ask: `acode models probe anthropic/NAME --mode burst`",
    })
  })
})

describe("trying out a model", () => {
  test("asks anew each time, and tells what it can do and how long it takes to begin", async () => {
    await using fake = await serving({ native: false })
    using wiring = wiringFor([usualAt(fake.endpoint, "ollama")])
    const probed = await modelVerbs(wiring).probeModel(look({ model: "fake" }))
    expect(probed).toMatchObject({
      name: "fake",
      rung: "constrained",
      windowTokens: 16_384,
      protocol: "ollama",
    })
    expect(probed.notes.some(note => note.startsWith("window: 16384 tokens ("))).toBe(true)
    expect(probed.firstTokenMs).toBeGreaterThanOrEqual(0)
    const asked = fake.chats.length
    await modelVerbs(wiring).probeModel(look())
    expect(fake.chats.length).toBe(2 * asked)
  })

  test("says where its window is from, and that nobody has configured one", async () => {
    await using fake = await serving({ protocol: "openai", models: [model("fake", null)] })
    using wiring = wiringFor([usualAt(fake.endpoint, "openai")])
    const { notes } = await modelVerbs(wiring).probeModel(look({ model: "fake" }))
    expect(notes).toContain(
      "window: 8192 tokens (assumed, for the server does not say what is loaded; configure it if it is more)",
    )
  })

  test("that is not there is told with what is", async () => {
    await using fake = await serving()
    using wiring = wiringFor([usualAt(fake.endpoint, "ollama")])
    const report = await failureOf(() => modelVerbs(wiring).probeModel(look({ model: "none" })))
    expect(report).toMatchObject({ code: "ACODE-MODEL-007", message: expect.stringContaining("it has fake") })
  })
})

describe("doctor", () => {
  const finding = async (wiring: Wiring) => (await diagnose(wiring)).find(({ name }) => name === "model")

  test("tells the server, the mode, and that a key is there but not which", async () => {
    await using fake = await serving()
    using wiring = wiringFor([usualAt(fake.endpoint, "ollama")], { OPENAI_API_KEY: "sk-secret-value-1" })
    const message = `ollama at ${fake.endpoint}, 1 model; mode local-only, OPENAI_API_KEY is set`
    expect(await finding(wiring)).toEqual({ name: "model", status: "ok", message, hint: null })
  })

  test("warns when there is none, with what to start, or not the one that is configured", async () => {
    using none = wiringFor([usualAt("http://127.0.0.1:9", "ollama", "Ollama")])
    expect(await finding(none)).toMatchObject({
      status: "warning",
      message: expect.stringContaining("ACODE-MODEL-001: no model server was found"),
      hint: expect.stringContaining("start Ollama"),
    })
    await using fake = await serving()
    using other = wiringFor([usualAt(fake.endpoint, "ollama")], { ACODE_MODEL_NAME: "qwen" })
    expect(await finding(other)).toMatchObject({
      status: "warning",
      message: expect.stringContaining("qwen is not among them"),
    })
  })

  test("does not wait for a server that never answers", async () => {
    using silent = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: { data: () => undefined },
    })
    const endpoint = `http://127.0.0.1:${silent.port}`
    using wiring = wiringFor([usualAt(endpoint, "ollama")])
    expect(await finding(wiring)).toMatchObject({ status: "warning" })
    using named = wiringFor([], { ACODE_MODEL_ENDPOINT: endpoint })
    const silence = `ACODE-MODEL-001: ${endpoint} did not answer within 2 s; mode local-only`
    expect(await finding(named)).toMatchObject({ status: "warning", message: silence })
    silent.stop(true)
  }, 10_000)
})
