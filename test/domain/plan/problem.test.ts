import { describe, expect, test } from "bun:test"
import { pathText, planFailure, planProblems, problemText, quoted } from "../../../src/domain/plan/problem.ts"

describe("a place in a plan", () => {
  test.each([
    [[], "$"],
    [["tasks", 0, "steps", 12, "tool"], "$.tasks[0].steps[12].tool"],
    [["arguments", "a b"], '$.arguments["a b"]'],
    [["arguments", ""], '$.arguments[""]'],
    [["arguments", "\u001b[31m"], '$.arguments["\\x1b[31m"]'],
    [["arguments", "x".repeat(100)], `$.arguments["${"x".repeat(79)}…"]`],
  ])("%j is written %s", (path, text) => {
    expect(pathText(path)).toBe(text)
  })
})

test("text of a plan is quoted on one short line with its escapes shown", () => {
  expect(quoted("a\nb\u001b[2J\u202e")).toBe('"a ⏎ b\\x1b[2J\\u202e"')
  expect(quoted("x".repeat(200))).toHaveLength(82)
})

test("problems are sorted by place, the outer before the inner, and stay in order at one place", () => {
  const at = (message: string, ...path: (string | number)[]) => ({ code: "E001" as const, path, message })
  const found = [
    at("1", "tasks", 10),
    at("2", "tasks", 2, "steps"),
    at("3", "tasks", 2),
    at("4"),
    at("5", "goal"),
    at("6", "tasks", 2),
  ]
  expect(planProblems(found).map(({ path, message }) => `${path} ${message}`)).toEqual([
    "$ 4",
    "$.goal 5",
    "$.tasks[2] 3",
    "$.tasks[2] 6",
    "$.tasks[2].steps 2",
    "$.tasks[10] 1",
  ])
})

describe("the failure of a command that needs a valid plan", () => {
  const shape = { code: "E001", path: "$.goal", message: "is missing" } as const
  const tool = { code: "E201", path: "$.steps[0].tool", message: "there is no such tool" } as const
  const argument = {
    code: "E202",
    path: "$.steps[1].arguments.path",
    message: "is required",
  } as const

  test("says the one problem in its line", () => {
    expect(planFailure([tool], "plan.json").report).toEqual({
      kind: "general",
      code: "E201",
      message: "the plan is not valid: $.steps[0].tool: there is no such tool (E201)",
      where: "plan.json",
      hint: "fix the listed problems; `acode schema plan` describes the format",
    })
  })

  test("lists all of them when there are more", () => {
    expect(planFailure([argument, tool], "p").report.message).toBe(
      `the plan is not valid:\n    ${problemText(argument)}\n    ${problemText(tool)}`,
    )
  })

  test("has the code of the shape when that is wrong, else of the first", () => {
    expect(planFailure([argument, tool], "p").report.code).toBe("E202")
    expect(planFailure([argument, tool, shape], "p").report.code).toBe("E001")
  })

  test("prints a hostile file name harmlessly", () => {
    expect(planFailure([shape], "\u001b]0;x\u0007.json").report.where).toBe("\\x1b]0;x\\x07.json")
  })
})
