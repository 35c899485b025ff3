import { describe, expect, test } from "bun:test"
import { defaultConfig } from "../../src/config/defaults.ts"
import { exitCodeOf, type FailureReport } from "../../src/domain/failure.ts"
import type { Protocol } from "../../src/domain/model-choice.ts"
import { anyModel } from "../../src/models/select.ts"
import { egressOf, findServer } from "../../src/models/server.ts"
import type { UsualServer } from "../../src/provider/protocol.ts"
import { failureOf } from "../config/config-fixture.ts"
import type { ModelServerOptions } from "../support/model-server/contract.ts"
import { says } from "../support/model-server/replies.ts"
import { startModelServer } from "../support/model-server/server.ts"
import { configWith, modelRoomWith, usualAt, wishFor } from "./model-room.ts"

const serving = (protocol: Protocol, more: Partial<ModelServerOptions> = {}) =>
  startModelServer({ protocol, answer: () => says("hi"), ...more })

/** Nobody listens there: ports below 1024 are not given to tests. */
const nowhere = "http://127.0.0.1:9"

describe("the server of a session", () => {
  test.each(["ollama", "openai"] as const)(
    "of %s is recognised where only its place is named",
    async protocol => {
      await using fake = await serving(protocol)
      const found = await findServer(modelRoomWith(configWith({ endpoint: fake.endpoint })), wishFor())
      expect([found.server.protocol, found.server.endpoint]).toEqual([protocol, fake.endpoint])
      expect(found.models?.map(({ name }) => name)).toEqual(["fake"])
      expect(found.consentBy).toBeNull()
    },
  )

  test("of llama.cpp is not treated as Ollama's", async () => {
    await using fake = await serving("openai", { flavour: "llamacpp" })
    const found = await findServer(modelRoomWith(configWith({ endpoint: fake.endpoint })), wishFor())
    expect(found.server.protocol).toBe("openai")
  })

  test("is the first of the usual ones that answers, in their order", async () => {
    await using ollama = await serving("ollama")
    await using studio = await serving("openai", { flavour: "lmstudio" })
    const usual = [
      usualAt(nowhere, "ollama", "None"),
      usualAt(studio.endpoint, "openai", "Studio"),
      usualAt(ollama.endpoint, "ollama", "Ollama"),
    ]
    const room = modelRoomWith(configWith(), { OPENAI_API_KEY: "sk-some-key" }, usual)
    expect((await findServer(room, wishFor())).server.endpoint).toBe(studio.endpoint)
    const named = await findServer(room, wishFor({ model: "ollama/fake" }))
    expect([named.server.endpoint, named.named?.name]).toEqual([ollama.endpoint, "fake"])
    // Who listens there was named by nobody.
    for (const { headers } of studio.requests) expect(headers["authorization"]).toBeUndefined()
  })

  test("is not one without a model to talk to where another one has one", async () => {
    const named = (name: string) => ({
      name,
      trainedTokens: 8192,
      loadedTokens: null,
      parameters: "1.0B",
      tools: true,
    })
    for (const models of [[], [named("nomic-embed-text:latest")]]) {
      await using ollama = await serving("ollama", { models })
      await using studio = await serving("openai", { flavour: "lmstudio" })
      const usual = [usualAt(ollama.endpoint, "ollama"), usualAt(studio.endpoint, "openai")]
      const found = await findServer(modelRoomWith(configWith(), {}, usual), wishFor())
      expect(found.server.endpoint).toBe(studio.endpoint)
      // With none anywhere it is the first that answers, and whoever wants to use it says what is missing.
      await using none = await serving("openai", { flavour: "lmstudio", models: [] })
      const empty = [usualAt(ollama.endpoint, "ollama"), usualAt(none.endpoint, "openai")]
      const first = await findServer(modelRoomWith(configWith(), {}, empty), wishFor())
      expect(first.server.endpoint).toBe(ollama.endpoint)
      expect((await failureOf(() => anyModel(first))).message).toBe("no model is named; it has none")
    }
  })

  test("is the first of the usual ones that has the model which is named, wherever others have some", async () => {
    const offering = (name: string) => [
      { name, trainedTokens: 8192, loadedTokens: 8192, parameters: "1.0B", tools: true },
    ]
    await using ollama = await serving("ollama", { models: offering("small:latest") })
    await using studio = await serving("openai", { flavour: "lmstudio", models: offering("big") })
    const usual = [usualAt(ollama.endpoint, "ollama"), usualAt(studio.endpoint, "openai")]
    const endpointFor = async (model: string | null, config = configWith()) =>
      (await findServer(modelRoomWith(config, {}, usual), wishFor({ model }))).server.endpoint
    expect(await endpointFor("big")).toBe(studio.endpoint)
    expect(await endpointFor("small")).toBe(ollama.endpoint)
    expect(await endpointFor(null, configWith({ name: "big" }))).toBe(studio.endpoint)
    expect(
      await endpointFor(null, configWith({}, { models: { ...defaultConfig.models, reviewer: "big" } })),
    ).toBe(studio.endpoint)
    // What is typed is meant for every stage, whatever is configured.
    expect(await endpointFor("small", configWith({ name: "big" }))).toBe(ollama.endpoint)
    // Where nobody has it, the first one says what it has.
    expect(await endpointFor("huge")).toBe(ollama.endpoint)
  })

  test("that still loads its model is there, and to be asked again in a moment", async () => {
    const answers = (status: number, message: string) =>
      Bun.serve({
        port: 0,
        hostname: "127.0.0.1",
        fetch: () =>
          Response.json({ error: { code: status, message, type: "unavailable_error" } }, { status }),
      })
    using llama = answers(503, "Loading model")
    const endpoint = `http://127.0.0.1:${llama.port}`
    await using empty = await serving("ollama", { models: [] })
    await using ollama = await serving("ollama")
    const search = (...usual: readonly UsualServer[]) =>
      findServer(modelRoomWith(configWith(), {}, usual), wishFor())
    const usual = usualAt(endpoint, "openai", "llama.cpp")
    const told: FailureReport = {
      kind: "unavailable" as const,
      code: "ACODE-MODEL-001",
      where: endpoint,
      message: "the model server answered 503: Loading model",
      hint: "the server is there, and busy or still loading its model; try again in a moment",
    }
    expect(await failureOf(() => search(usualAt(nowhere, "ollama"), usual))).toEqual(told)
    expect(await failureOf(() => search(usualAt(empty.endpoint, "ollama"), usual))).toEqual(told)
    // Also where its place is named, and not where another one can be used now.
    const named = modelRoomWith(configWith({ endpoint, provider: "openai" }))
    expect(await failureOf(() => findServer(named, wishFor()))).toEqual(told)
    expect((await search(usual, usualAt(ollama.endpoint, "ollama"))).server.endpoint).toBe(ollama.endpoint)
    // It may be the very model that is wanted by name.
    const both = modelRoomWith(configWith(), {}, [usualAt(ollama.endpoint, "ollama"), usual])
    expect(await failureOf(() => findServer(both, wishFor({ model: "big" })))).toEqual(told)
    using other = answers(503, "no upstream")
    const foreign = usualAt(`http://127.0.0.1:${other.port}`, "openai")
    expect((await failureOf(() => search(foreign))).message).toStartWith("no model server was found")
  })

  test("that is not there at all is reported with what to start", async () => {
    const usual = [usualAt(nowhere, "ollama", "Ollama"), usualAt(nowhere, "openai", "LM Studio")]
    const report = await failureOf(() => findServer(modelRoomWith(configWith(), {}, usual), wishFor()))
    expect(report).toMatchObject({ kind: "unavailable", code: "ACODE-MODEL-001" })
    expect(report.message).toContain("Ollama (http://127.0.0.1:9), LM Studio")
    expect(report.hint).toContain("start Ollama")
    expect(exitCodeOf(report.kind)).toBe(4)
  })

  test("that is named and does not answer is reported with its place", async () => {
    const room = modelRoomWith(configWith({ endpoint: nowhere, provider: "openai" }))
    expect(await failureOf(() => findServer(room, wishFor()))).toMatchObject({
      kind: "unavailable",
      code: "ACODE-MODEL-001",
      where: nowhere,
    })
  })

  test("that is something else is reported as that", async () => {
    using other = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: () => new Response("<html>hello</html>"),
    })
    const endpoint = `http://127.0.0.1:${other.port}`
    for (const provider of ["auto", "ollama", "openai", "anthropic"] as const) {
      const report = await failureOf(() =>
        findServer(modelRoomWith(configWith({ endpoint, provider })), wishFor()),
      )
      expect(report, provider).toMatchObject({ kind: "unavailable", code: "ACODE-MODEL-006" })
    }
  })

  test("that refuses the key is reported as that", async () => {
    await using fake = await serving("anthropic", { key: "the right one" })
    const config = configWith({ endpoint: fake.endpoint, provider: "anthropic" })
    const wrong = modelRoomWith(config, { ANTHROPIC_API_KEY: "a-wrong-one" })
    const report = await failureOf(() => findServer(wrong, wishFor()))
    expect(report).toMatchObject({ kind: "unavailable", code: "ACODE-MODEL-008" })
    expect(JSON.stringify(report)).not.toContain("a-wrong-one")
  })

  test("that has no list may be used nevertheless", async () => {
    using bare = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: () => Response.json({ error: { message: "no such path" } }, { status: 404 }),
    })
    const endpoint = `http://127.0.0.1:${bare.port}`
    const found = await findServer(modelRoomWith(configWith({ endpoint, provider: "openai" })), wishFor())
    expect(found.models).toBeNull()
  })

  test("is not looked for once someone has stopped it", async () => {
    const room = {
      ...modelRoomWith(configWith(), {}, [usualAt(nowhere, "ollama")]),
      signal: AbortSignal.abort(),
    }
    const report = await failureOf(() => findServer(room, wishFor()))
    expect(exitCodeOf(report.kind)).toBe(130)
  })
})

describe("a server elsewhere", () => {
  const config = configWith({ provider: "openai", endpoint: "https://models.example.invalid" })
  const keys = { OPENAI_API_KEY: "sk-some-key" }

  test("is never talked to without a consent of this session to exactly this place", async () => {
    for (const consented of [null, { endpoint: "https://other.example.invalid", by: "ann" }]) {
      const wish = wishFor({ mode: "burst", consented })
      const report = await failureOf(() => findServer(modelRoomWith(config, keys), wish))
      expect(report).toMatchObject({ kind: "denied", code: "ACODE-MODEL-005" })
      expect(report.message).toContain("https://models.example.invalid")
    }
  })

  test("is used after a consent, now or earlier in the session", async () => {
    const consented = { endpoint: "https://models.example.invalid", by: "ann" }
    for (const wish of [{ consentsNow: "bob" }, { consented }]) {
      const look = () => findServer(modelRoomWith(config, keys), wishFor({ mode: "burst", ...wish }))
      // The name leads nowhere: that it is looked up is what tells.
      expect(await failureOf(look)).toMatchObject({ code: "ACODE-MODEL-001" })
    }
  })

  test("is what a session may talk to only by that consent", () => {
    expect(egressOf("burst", null, "https://a.example", "ann").consented).toBe("https://a.example")
    expect(egressOf("burst", null, "https://a.example", null).consented).toBeNull()
    expect(egressOf("airgapped", "unix:/run/x", "unix:/run/y", null)).toEqual({
      mode: "airgapped",
      configured: "unix:/run/x",
      consented: null,
    })
  })
})
