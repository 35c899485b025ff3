import { describe, expect, test } from "bun:test"
import { noUsage, usedMore, wholeUsage } from "../../../src/domain/pipeline/token-usage.ts"

describe("what the models of a session took", () => {
  test("is counted by stage, each request once", () => {
    const once = usedMore(noUsage, "planner", { input: 10, output: 3 })
    const twice = usedMore(once, "planner", { input: 5, output: 0 })
    expect(twice).toEqual({ ...noUsage, planner: { requests: 2, input: 15, output: 3 } })
    expect(noUsage.planner.requests).toBe(0)
  })

  test("is the same together, whoever took it", () => {
    const used = usedMore(usedMore(noUsage, "executor", { input: 7, output: 1 }), "reviewer", {
      input: 2,
      output: 2,
    })
    expect(wholeUsage(used)).toEqual({ requests: 2, input: 9, output: 3 })
    expect(wholeUsage(noUsage)).toEqual({ requests: 0, input: 0, output: 0 })
  })
})
