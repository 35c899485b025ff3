import { describe, expect, test } from "bun:test"
import { configFixture } from "../config-fixture.ts"

const yaml = (section: Readonly<Record<string, unknown>>) =>
  `${JSON.stringify({ schema_version: "1", ...section })}\n`

describe("the model of a configuration", () => {
  test("is one that is looked for on this machine, when nobody says otherwise", async () => {
    using fixture = configFixture()
    const { mode, model, models } = (await fixture.load()).values
    expect(mode).toEqual({ default: "local-only", allow_burst: true, airgapped_lock: false })
    expect(model).toMatchObject({ provider: "auto", name: null, endpoint: null, streaming: true })
    expect(models).toEqual({
      planner: null,
      executor: null,
      verifier: null,
      reviewer: null,
      tiers: { opus: null, sonnet: null, haiku: null },
    })
  })

  test("may be set in the environment, where no file can be written", async () => {
    using fixture = configFixture()
    const { values, origins } = await fixture.load({
      variables: {
        ACODE_MODE_DEFAULT: "airgapped",
        ACODE_MODEL_PROVIDER: "openai",
        ACODE_MODEL_ENDPOINT: "unix:/run/model.sock",
        ACODE_MODEL_NAME: "small",
      },
    })
    expect(values.mode.default).toBe("airgapped")
    expect(values.model).toMatchObject({
      provider: "openai",
      endpoint: "unix:/run/model.sock",
      name: "small",
    })
    expect(origins.get("model.endpoint")).toBe("environment")
  })
})

describe("a project that nobody trusts", () => {
  test("chooses neither a server nor a model, and consents to nothing", async () => {
    using fixture = configFixture()
    fixture.user(yaml({ model: { name: "mine" }, mode: { allow_burst: false, default: "airgapped" } }))
    fixture.project(
      yaml({
        mode: { default: "local-only", allow_burst: true },
        model: { provider: "anthropic", endpoint: "https://elsewhere.example", name: "its:cloud" },
        models: { planner: "its", reviewer: "its" },
      }),
    )
    const { values, projectFile } = await fixture.load()
    expect(values.mode).toEqual({ default: "airgapped", allow_burst: false, airgapped_lock: false })
    expect(values.model).toMatchObject({ provider: "auto", endpoint: null, name: "mine" })
    expect(values.models.planner).toBeNull()
    expect(projectFile.loosens).toEqual([
      ...["mode.default", "mode.allow_burst", "model.provider", "model.name", "model.endpoint"],
      ...["models.planner", "models.reviewer"],
    ])
  })

  test("may be stricter, and may say how long something takes", async () => {
    using fixture = configFixture()
    fixture.project(
      yaml({
        mode: { default: "airgapped", allow_burst: false, airgapped_lock: true },
        model: { timeout_seconds: 5, parameters: { temperature: 0.5 } },
      }),
    )
    const { values, projectFile } = await fixture.load()
    expect(values.mode).toEqual({ default: "airgapped", allow_burst: false, airgapped_lock: true })
    expect([values.model.timeout_seconds, values.model.parameters.temperature]).toEqual([5, 0.5])
    expect(projectFile.loosens).toEqual([])
  })
})
