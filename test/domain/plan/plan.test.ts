import { describe, expect, test } from "bun:test"
import { Criterion } from "../../../src/domain/plan/plan.ts"

describe("a criterion", () => {
  test("that leaves out what has a default means success and no errors", () => {
    expect(Criterion().parse({ id: "a", kind: "command", command: ["npm", "test"] })).toEqual({
      id: "a",
      kind: "command",
      command: ["npm", "test"],
      expect_exit: 0,
    })
    expect(Criterion().parse({ id: "a", kind: "diagnostics", path: "." })).toEqual({
      id: "a",
      kind: "diagnostics",
      path: ".",
      max_errors: 0,
    })
  })

  test.each([
    { id: "a", kind: "command", command: [] },
    { id: "a", kind: "command", command: "npm test" },
    { id: "a", kind: "command", command: ["x"], expect_exit: "0" },
    { id: "a", kind: "file_exists" },
    { id: "a", kind: "file_exists", path: "x", pattern: "y" },
    { id: "a", kind: "file_contains", path: "x" },
    { id: "a", kind: "judgement" },
    { kind: "judgement", text: "fine" },
    { id: "a", kind: "guess", text: "fine" },
  ])("%j is none", value => {
    expect(Criterion().safeParse(value).success).toBe(false)
  })
})
