import { describe, expect, test } from "bun:test"
import { costOf, modelLines, unknownPrices, usageLines } from "../../../src/cli/render/usage-text.ts"
import { noUsage, usedMore } from "../../../src/domain/pipeline/token-usage.ts"
import type { ModelSelection, StageModel } from "../../../src/domain/pipeline-settings.ts"

const planned = usedMore(noUsage, "planner", { input: 1200, output: 300 })
const worked = usedMore(planned, "executor", { input: 800, output: 200 })

describe("what the models of a session took", () => {
  test("is one line, and another one where several stages asked", () => {
    expect(usageLines(planned, unknownPrices)).toEqual(["tokens 1200 in, 300 out in 1 requests"])
    expect(usageLines(worked, unknownPrices)).toEqual([
      "tokens 2000 in, 500 out in 2 requests",
      "  planner 1200 in, 300 out · executor 800 in, 200 out",
    ])
  })

  test("is not told where nobody has counted it", () => {
    expect(usageLines(noUsage, { input: 1, output: 1 })).toEqual([])
    expect(usageLines(usedMore(noUsage, "planner", { input: 0, output: 0 }), unknownPrices)).toEqual([])
  })

  test("has a cost where a price is known", () => {
    const usage = { requests: 2, input: 2_000_000, output: 500_000 }
    expect(costOf(usage, unknownPrices)).toBeNull()
    expect(costOf(usage, { input: 3, output: 15 })).toBe(13.5)
    expect(costOf(usage, { input: null, output: 15 })).toBe(7.5)
    expect(costOf(usage, { input: 0, output: 0 })).toBe(0)
    expect(usageLines(worked, { input: 3, output: 15 })[0]).toEndWith(", cost 0.0135")
  })
})

describe("the models of a session", () => {
  const model: StageModel = {
    name: "some:8b",
    rung: "native",
    editFormat: "whole",
    windowTokens: 8192,
    outputTokensMax: 4096,
  }
  const selection: ModelSelection = {
    protocol: "ollama",
    endpoint: "http://127.0.0.1:11434",
    consentBy: null,
    planner: model,
    executor: model,
    verifier: model,
    reviewer: model,
  }

  test("are told with their place, each once", () => {
    expect(modelLines(null)).toEqual([])
    expect(modelLines(selection)).toEqual([
      "model some:8b (native calls, window 8192) at http://127.0.0.1:11434, ollama",
    ])
    const other = { ...model, name: "big", rung: "text" as const }
    expect(modelLines({ ...selection, planner: other })[0]).toContain(
      "big (text calls, window 8192), some:8b (native calls, window 8192)",
    )
  })

  test("that are elsewhere are told with who agreed", () => {
    expect(modelLines({ ...selection, consentBy: "ann" })[0]).toEndWith(", ollama, as ann agreed")
  })
})
