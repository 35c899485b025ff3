import { describe, expect, test } from "bun:test"
import { errorCodes } from "../../../src/domain/error-codes.ts"
import { codeBehind, planCodeOf } from "../../../src/domain/plan/codes.ts"
import { problemsOf } from "./plan-kit.ts"

const calls = [
  ["E105", "ACODE-EXEC-005", "run_command", true],
  ["E301", "ACODE-FS-002", "file_read", false],
  ["E301", "ACODE-FS-002", "read_file", true],
  ["E302", "ACODE-FS-005", "create_file", false],
] as const

describe("a code of the plan format", () => {
  test.each(calls)("%s is %s of %s", (code, behind, tool, requiresConfirmation) => {
    expect(planCodeOf({ tool, requiresConfirmation }, behind)).toBe(code)
    const found = codeBehind(code)
    expect(found?.code).toBe(behind)
    expect(found?.isMeant({ tool, stepKey: requiresConfirmation ? "sha256:1" : null })).toBe(true)
  })

  test("is of no other tool, and of a confirmation only where there was one", () => {
    expect(planCodeOf({ tool: "glob", requiresConfirmation: true }, "ACODE-FS-002")).toBeNull()
    expect(planCodeOf({ tool: "read_file", requiresConfirmation: false }, "ACODE-EXEC-005")).toBeNull()
    expect(codeBehind("E301")?.isMeant({ tool: "file_write", stepKey: "sha256:1" })).toBe(false)
    expect(codeBehind("E105")?.isMeant({ tool: "run_command", stepKey: null })).toBe(false)
  })

  test("is none that a call itself ends with", () => {
    for (const code of ["E201", "ACODE-FS-002", "TS2322", ""]) expect(codeBehind(code)).toBeNull()
  })
})

describe("what reading a plan finds is explained", () => {
  const step = (more: object) => ({
    plan_id: "p",
    intent: "READ",
    steps: [{ step_id: "s", tool: "read_file", arguments: { path: "a" }, ...more }],
  })

  test.each([
    ["E001", step({ precondition: "whenever" }), "not valid"],
    ["E201", step({ tool: "teleport" }), "may not call this tool"],
    ["E202", step({ arguments: {} }), "missing"],
  ] as const)("%s", (code, plan, words) => {
    const [problem = ""] = problemsOf(plan)
    expect(problem).toEndWith(`(${code})`)
    expect(errorCodes[code].meaning).toContain(words)
  })
})
