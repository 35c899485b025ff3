import { describe, expect, test } from "bun:test"
import {
  cyclesAllowed,
  PipelineSettings,
  replyTokensMax,
  requestTokensMax,
} from "../../src/domain/pipeline-settings.ts"
import { defaultLimits } from "../support/pipeline/default-limits.ts"
import { settingsOf } from "../support/pipeline/pipeline-events.ts"

describe("the limits of a session", () => {
  test("are these when nobody says otherwise", () => {
    expect(defaultLimits).toEqual({
      cyclesMax: 3,
      turnsMax: 10,
      exploreTurnsMax: 12,
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
      protocol: "ollama" as const,
      endpoint: "http://127.0.0.1:11434",
      consentBy: null,
      planner: each,
      executor: each,
      verifier: each,
      reviewer: each,
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

  test("is less when replies were cut off, for the next ones are allowed more", () => {
    const settings = settingsOf({}, { selection: selectionOf(32_768, 4_096) })
    const held = [0, 1, 2, 3].map(cutOff => requestTokensMax(settings, "executor", cutOff))
    expect(held).toEqual([28_672, 24_576, 16_384, 16_384])
  })
})

describe("how long a reply may be", () => {
  const each = { name: "m", rung: "native" as const, editFormat: "whole" as const }
  const longest = (windowTokens: number, outputTokensMax: number, consentBy: string | null = null) => {
    const model = { ...each, windowTokens, outputTokensMax }
    const stages = { planner: model, executor: model, verifier: model, reviewer: model }
    const selection = {
      protocol: "ollama" as const,
      endpoint: "http://127.0.0.1:11434",
      consentBy,
      ...stages,
    }
    return [0, 1, 2, 9].map(cutOff => replyTokensMax(selection, "planner", cutOff))
  }

  test("doubles with every reply that was cut off, up to half of the window", () => {
    expect(longest(32_768, 4_096)).toEqual([4_096, 8_192, 16_384, 16_384])
    expect(longest(20_000, 4_096)).toEqual([4_096, 8_192, 10_000, 10_000])
  })

  test("stays where that is half of the window already", () => {
    expect(longest(8_192, 4_096)).toEqual([4_096, 4_096, 4_096, 4_096])
  })

  test("is never more than half of the window, whatever is recorded", () => {
    expect(longest(8_192, 6_000)).toEqual([4_096, 4_096, 4_096, 4_096])
  })

  test("stays what is configured where each token is paid for", () => {
    expect(longest(200_000, 4_096, "a person")).toEqual([4_096, 4_096, 4_096, 4_096])
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
