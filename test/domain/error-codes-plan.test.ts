import { describe, expect, test } from "bun:test"
import { planErrorCodes, stepErrorCodes } from "../../src/domain/error-codes.ts"
import { problemsOf } from "./plan-kit.ts"

test("the codes of plans are those that plans of this format have always had, and E105", () => {
  expect(planErrorCodes.map(({ code }) => code).join(" ")).toBe(
    "E001 E002 E003 E101 E102 E103 E104 E105 E201 E202 E301 E302 E303 E304",
  )
})

test("what no tool of this version can meet is said to belong to a later one", () => {
  const later = [...planErrorCodes, ...stepErrorCodes].filter(({ meaning }) =>
    meaning.includes("later version"),
  )
  expect(later.map(({ code }) => code)).toEqual(["E103", "E104", "E303", "E304"])
})

describe("what reading a plan finds is explained", () => {
  const step = (more: object) => ({
    plan_id: "p",
    intent: "READ",
    steps: [{ step_id: "s", tool: "read_file", arguments: { path: "a" }, ...more }],
  })

  test.each([
    ["E001", step({ precondition: "whenever" }), "not valid"],
    ["E201", step({ tool: "teleport" }), "not one that a plan may call"],
    ["E202", step({ arguments: {} }), "missing"],
  ])("%s", (code, plan, words) => {
    const [problem = ""] = problemsOf(plan)
    expect(problem).toEndWith(`(${code})`)
    expect(planErrorCodes.find(entry => entry.code === code)?.meaning).toContain(words)
  })
})
