import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { ModelChoice } from "../../../src/app/wiring/provider.ts"
import {
  lookForModels,
  type ModelLookup,
  type ModelOverrides,
} from "../../../src/app/wiring/session-models.ts"
import { Wiring } from "../../../src/app/wiring/wire.ts"
import { readEnvironment } from "../../../src/config/environment.ts"
import type { Protocol } from "../../../src/domain/model-choice.ts"
import type { ModelSelection, PipelineSettings } from "../../../src/domain/pipeline-settings.ts"
import { modelsLine } from "../../../src/models/recorded.ts"
import type { UsualServer } from "../../../src/provider/protocol.ts"
import { failureOf } from "../../config/config-fixture.ts"
import { fakeModel, usualAt } from "../../models/model-room.ts"
import { probeAnswer } from "../../support/model-server/probes.ts"
import { says } from "../../support/model-server/replies.ts"
import { startModelServer } from "../../support/model-server/server.ts"
import { settingsOf } from "../../support/pipeline/pipeline-events.ts"
import { type TempWorkspace, tempWorkspace } from "../../support/workspace/temp-workspace.ts"

let temp: TempWorkspace
beforeEach(() => {
  temp = tempWorkspace()
})
afterEach(() => temp[Symbol.dispose]())

const serving = (protocol: Protocol = "ollama") =>
  startModelServer({ protocol, answer: asked => probeAnswer(asked) ?? says("hi") })

function configure(config: Readonly<Record<string, unknown>>): void {
  mkdirSync(join(temp.configHome, "acode"), { recursive: true, mode: 0o700 })
  writeFileSync(
    join(temp.configHome, "acode", "config.yml"),
    JSON.stringify({ schema_version: "1", ...config }),
  )
}

interface Asked {
  readonly settings?: Partial<PipelineSettings>
  readonly before?: PipelineSettings | null
  readonly said?: Partial<ModelOverrides>
  readonly model?: ModelChoice
  readonly usualServers?: readonly UsualServer[]
  readonly variables?: Readonly<Record<string, string>>
}

const notices: string[] = []

async function chosen(asked: Asked = {}): Promise<PipelineSettings> {
  return await looked(asked, models => models.choose())
}

async function looked<Value>(asked: Asked, work: (models: ModelLookup) => Promise<Value>): Promise<Value> {
  const { before = null, said = {}, model = {}, usualServers = [], variables = {} } = asked
  notices.length = 0
  using wiring = new Wiring({
    environment: readEnvironment({ ...temp.environment, ...variables }),
    workspace: temp.root,
    configFile: undefined,
    usualServers,
  })
  const never = new AbortController().signal
  const surface = {
    model,
    notice: (text: string) => void notices.push(text),
    stopping: { drain: never, stop: never },
  }
  const settings = { ...(before ?? settingsOf()), ...asked.settings }
  const meant = { settings, before, said: { model: false, mode: false, ...said } }
  using models = await lookForModels(wiring, meant, surface)
  return await work(models)
}

const recorded = (more: Partial<ModelSelection> = {}): ModelSelection => ({
  protocol: "anthropic",
  endpoint: "https://api.anthropic.com",
  consentBy: "ann",
  planner: fakeModel,
  executor: fakeModel,
  verifier: fakeModel,
  reviewer: fakeModel,
  ...more,
})
const inBurst = settingsOf({}, { mode: "burst", model: "anthropic/fake", selection: recorded() })

describe("a new session", () => {
  test("has the models of the server that is found", async () => {
    await using fake = await serving()
    const { selection } = await chosen({ usualServers: [usualAt(fake.endpoint, "ollama")] })
    expect(selection).toMatchObject({ protocol: "ollama", endpoint: fake.endpoint, consentBy: null })
  })

  test("is looked for at once, and not any more when it is given up", async () => {
    const { promise: isGone, resolve: gone } = Promise.withResolvers<void>()
    const { promise: isAsked, resolve: asked } = Promise.withResolvers<void>()
    using silent = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: { data: () => asked(), close: () => gone() },
    })
    const usualServers = [usualAt(`http://127.0.0.1:${silent.port}`, "ollama")]
    const report = await looked({ usualServers }, async models => {
      await isAsked
      models[Symbol.dispose]()
      return await failureOf(() => models.choose())
    })
    expect(report).toMatchObject({ kind: "interrupted", code: "ACODE-MODEL-001" })
    await isGone
  })

  test("with a script or a recording has none, and nothing is looked for", async () => {
    await using fake = await serving()
    const usualServers = [usualAt(fake.endpoint, "ollama")]
    const replay = join(temp.outside, "recording.jsonl")
    writeFileSync(replay, "")
    for (const model of [{ script: "x" }, { replay }])
      expect((await chosen({ model, usualServers })).selection).toBeNull()
    expect(fake.requests).toEqual([])
  })

  test("that replays real models has them as they were asked, and goes on without them when a model is named", async () => {
    const replay = join(temp.outside, "recording.jsonl")
    writeFileSync(replay, `${modelsLine(recorded())}\n`)
    const before = await chosen({ model: { replay } })
    expect(before.selection).toEqual(recorded({ endpoint: "replay", consentBy: null }))
    expect(readFileSync(replay, "utf8")).not.toContain("api.anthropic.com")
    await using fake = await serving()
    const usualServers = [usualAt(fake.endpoint, "ollama")]
    expect(await failureOf(() => chosen({ before, usualServers }))).toMatchObject({
      kind: "usage",
      hint: "say --replay FILE; or continue with a server: --model NAME",
    })
    const named = { before, usualServers, settings: { model: "fake" }, said: { model: true } }
    expect((await chosen(named)).selection?.endpoint).toBe(fake.endpoint)
  })

  test("in burst is told what leaves, before any of it has, with who agreed", async () => {
    // It is no server of this machine by its name; nobody answers there.
    configure({ model: { provider: "openai", endpoint: "https://models.example.invalid" } })
    const variables = { OPENAI_API_KEY: "sk-some-key-or-other" }
    const report = await failureOf(() => chosen({ settings: { mode: "burst" }, variables }))
    expect(report).toMatchObject({ code: "ACODE-MODEL-001", where: "https://models.example.invalid" })
    expect(await failureOf(() => chosen({ settings: { mode: "burst" } }))).toMatchObject({
      code: "ACODE-MODEL-008",
    })
  })

  test("keeps to what the configuration allows", async () => {
    configure({ mode: { allow_burst: false } })
    const burst = { settings: { mode: "burst", model: "anthropic/x" } } as const
    expect(await failureOf(() => chosen(burst))).toMatchObject({ code: "ACODE-MODEL-004" })
    configure({ mode: { airgapped_lock: true } })
    expect(await failureOf(() => chosen())).toMatchObject({ code: "ACODE-MODEL-004" })
    expect(await failureOf(() => chosen({ settings: { mode: "airgapped" } }))).toMatchObject({
      message: expect.stringContaining("none is"),
    })
  })

  test("that is airgapped uses the configured endpoint and looks for no other", async () => {
    await using fake = await serving("openai")
    await using usual = await serving()
    configure({ model: { endpoint: fake.endpoint, provider: "openai" } })
    const usualServers = [usualAt(usual.endpoint, "ollama")]
    const { selection } = await chosen({ settings: { mode: "airgapped" }, usualServers })
    expect([selection?.endpoint, usual.connections.all]).toEqual([fake.endpoint, 0])
  })
})

describe("a session that goes on", () => {
  test("keeps what it has recorded, its consent included, and asks nobody", async () => {
    expect(await chosen({ before: inBurst })).toEqual(inBurst)
    expect(notices).toEqual([])
  })

  test("keeps it only as long as the configuration allows it", async () => {
    configure({ mode: { allow_burst: false } })
    expect(await failureOf(() => chosen({ before: inBurst }))).toMatchObject({ code: "ACODE-MODEL-004" })
  })

  test("loses its consent with its mode, and with it the provider", async () => {
    await using fake = await serving()
    const usualServers = [usualAt(fake.endpoint, "ollama")]
    const revoked = { before: inBurst, settings: { mode: "local-only" }, said: { mode: true } } as const
    const settings = await chosen({ ...revoked, usualServers })
    expect(settings).toMatchObject({ model: null, mode: "local-only" })
    expect(settings.selection).toMatchObject({ endpoint: fake.endpoint, consentBy: null })
    // Back again it needs a new one.
    const back = { before: settings, settings: { mode: "burst" } } as const
    expect(await failureOf(() => chosen({ ...back, said: { mode: true } }))).toMatchObject({
      code: "ACODE-MODEL-005",
    })
  })

  test("and is airgapped keeps its endpoint only as long as that is the configured one", async () => {
    await using fake = await serving()
    const selection = recorded({ protocol: "ollama", endpoint: fake.endpoint, consentBy: null })
    const before = settingsOf({}, { mode: "airgapped", selection })
    configure({ model: { endpoint: fake.endpoint } })
    expect(await chosen({ before })).toEqual(before)
    await using other = await serving()
    configure({ model: { endpoint: other.endpoint } })
    expect(await failureOf(() => chosen({ before }))).toMatchObject({
      kind: "denied",
      code: "ACODE-MODEL-004",
      message: expect.stringContaining(
        `started with ${fake.endpoint}, and now ${other.endpoint} is configured`,
      ),
    })
    expect([fake.connections.all, other.connections.all]).toEqual([0, 0])
    // Whoever names a model means one of the server that is configured now.
    const named = await chosen({ before, settings: { model: "fake" }, said: { model: true } })
    expect([named.selection?.endpoint, fake.connections.all]).toEqual([other.endpoint, 0])
  })

  test("cannot become airgapped after something has left", async () => {
    const airgapped = { before: inBurst, settings: { mode: "airgapped" }, said: { mode: true } } as const
    expect(await failureOf(() => chosen(airgapped))).toMatchObject({ code: "ACODE-MODEL-004" })
  })

  test("needs another consent for another place", async () => {
    const other = { before: inBurst, settings: { model: "openai/gpt" }, said: { model: true } } as const
    const variables = { OPENAI_API_KEY: "sk-some-key-or-other" }
    expect(await failureOf(() => chosen({ ...other, variables }))).toMatchObject({ code: "ACODE-MODEL-005" })
  })

  test("chooses anew when a model is named, and not by itself after a script", async () => {
    await using fake = await serving()
    const usualServers = [usualAt(fake.endpoint, "ollama")]
    const before = settingsOf(
      {},
      { selection: recorded({ protocol: "ollama", endpoint: "http://127.0.0.1:9" }) },
    )
    const named = await chosen({ before, settings: { model: "fake" }, said: { model: true }, usualServers })
    expect(named.selection?.endpoint).toBe(fake.endpoint)
    const scripted = await chosen({ before, model: { script: "x" }, usualServers })
    expect(scripted.selection).toBeNull()
    const asked = fake.requests.length
    for (const said of [{}, { mode: true }])
      expect(await failureOf(() => chosen({ before: scripted, usualServers, said }))).toMatchObject({
        kind: "usage",
        hint: expect.stringContaining("--script FILE (or --replay FILE)"),
      })
    expect(fake.requests.length).toBe(asked)
  })

  test("chooses anew when the configuration names another server since, and says so", async () => {
    await using fake = await serving()
    const gone = recorded({ protocol: "ollama", endpoint: "http://127.0.0.1:9", consentBy: null })
    const before = settingsOf({}, { selection: gone })
    configure({ model: { endpoint: gone.endpoint } })
    expect([await chosen({ before }), notices]).toEqual([before, []])
    configure({ model: { endpoint: fake.endpoint } })
    expect((await chosen({ before })).selection?.endpoint).toBe(fake.endpoint)
    expect(notices[0]).toBe(
      `the configuration names another model server: ${fake.endpoint} instead of ${gone.endpoint}`,
    )
    configure({ model: { endpoint: gone.endpoint, provider: "openai" } })
    expect(await failureOf(() => chosen({ before }))).toMatchObject({ where: gone.endpoint })
    expect(notices[0]).toContain(`${gone.endpoint}, openai instead of`)
  })

  test("keeps its server where the other one is not for it", async () => {
    await using fake = await serving()
    const selection = recorded({ protocol: "ollama", endpoint: "http://127.0.0.1:9", consentBy: null })
    const local = settingsOf({}, { selection })
    configure({ model: { endpoint: "https://models.example.invalid" } })
    expect(await chosen({ before: local })).toEqual(local)
    expect(notices).toEqual([
      expect.stringContaining("the session continues with http://127.0.0.1:9: the mode"),
    ])
    configure({ model: { endpoint: fake.endpoint } })
    const airgapped = settingsOf({}, { mode: "airgapped", selection })
    expect(await failureOf(() => chosen({ before: airgapped }))).toMatchObject({ code: "ACODE-MODEL-004" })
    expect(fake.requests).toEqual([])
    // Nor without a consent where that is needed.
    configure({ model: { provider: "anthropic", endpoint: "https://models.example.invalid" } })
    expect(await failureOf(() => chosen({ before: inBurst }))).toMatchObject({ code: "ACODE-MODEL-005" })
  })
})
