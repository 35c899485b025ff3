import { describe, expect, test } from "bun:test"
import {
  cyclesAllowed,
  defaultLimits,
  PipelineSettings,
  requestTokensMax,
} from "../../../src/domain/pipeline/settings.ts"
import { settingsOf } from "../../support/pipeline-events.ts"

describe("the limits of a session", () => {
  test("are these when nobody says otherwise", () => {
    expect(defaultLimits).toEqual({
      cyclesMax: 3,
      turnsMax: 10,
      stepRetriesMax: 3,
      modelRetriesMax: 2,
      stageRetriesMax: { planner: 2, executor: 2, verifier: 2, reviewer: 1 },
      stageTimeoutMs: { planner: 120_000, executor: null, verifier: 180_000, reviewer: 120_000 },
      stepTimeoutMs: 120_000,
      contextTokensMax: null,
      tokensMax: null,
    })
  })

  test("allow no more than ten cycles, whatever is asked for", () => {
    const allowed = [0, 1, 3, 10, 11, 1_000].map(cyclesMax => cyclesAllowed({ ...defaultLimits, cyclesMax }))
    expect(allowed).toEqual([0, 1, 3, 10, 10, 10])
  })
})

describe("what a request may hold", () => {
  const model = { name: "m", rung: "native" as const, editFormat: "whole" as const }
  const selectionOf = (windowTokens: number, outputTokensMax: number) => {
    const each = { ...model, windowTokens, outputTokensMax }
    return {
      ...{ protocol: "ollama" as const, endpoint: "http://127.0.0.1:11434", consentBy: null },
      ...{ planner: each, executor: each, verifier: each, reviewer: each },
    }
  }
  const max = (windowTokens: number, outputTokensMax: number, contextTokensMax: number | null = null) =>
    requestTokensMax(
      settingsOf({ contextTokensMax }, { selection: selectionOf(windowTokens, outputTokensMax) }),
      "executor",
    )

  test("leaves room for the reply, and is never less than half of the window", () => {
    expect(max(8_192, 2_048)).toBe(6_144)
    expect(max(8_192, 8_000)).toBe(4_096)
  })

  test("is what a person allows where that is less", () => {
    expect(max(8_192, 2_048, 1_000)).toBe(1_000)
    expect(max(8_192, 2_048, 1_000_000)).toBe(6_144)
    expect(requestTokensMax(settingsOf(), "planner")).toBeNull()
    expect(requestTokensMax(settingsOf({ contextTokensMax: 500 }), "planner")).toBe(500)
  })
})

describe("recorded settings", () => {
  test("are read back as they were", () => {
    const settings = settingsOf({ turnsMax: 4 }, { yes: "plan", contextFiles: ["src/**"] })
    expect(PipelineSettings().parse(JSON.parse(JSON.stringify(settings)))).toEqual(settings)
  })

  test("from before models had a limit of their own are read as they are, and nothing is added", () => {
    const { modelRetriesMax: _, ...limits } = defaultLimits
    const older = { ...settingsOf(), limits }
    expect(PipelineSettings().parse(older)).toStrictEqual(older)
  })

  test.each([
    ["a negative limit", { ...settingsOf({ cyclesMax: -1 }) }],
    ["half a turn", { ...settingsOf({ turnsMax: 1.5 }) }],
    ["a key nobody knows", { ...settingsOf(), hurry: true }],
  ])("with %s are refused", (_, settings) => {
    expect(PipelineSettings().safeParse(settings).success).toBe(false)
  })
})
