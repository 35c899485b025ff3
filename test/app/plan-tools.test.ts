import { describe, expect, test } from "bun:test"
import { planTools } from "../../src/app/plan-tools.ts"

const codesOf = (tool: string, args: Parameters<typeof planTools.check>[1]) =>
  planTools.check(tool, args).map(({ code, argument }) => `${code} ${argument ?? "-"}`)

describe("a call of a plan", () => {
  test("that the tool takes is without problems", () => {
    expect(planTools.check("file_read", { path: "a" })).toEqual([])
    expect(planTools.check("read_file", { path: "a", from_line: 2 })).toEqual([])
    expect(planTools.check("run_command", { argv: ["npm", "test"] })).toEqual([])
  })

  test("is told every argument that is missing, wrong or unknown", () => {
    expect(codesOf("file_write", { path: 3, extra: true })).toEqual([
      "E202 path",
      "E202 contents",
      "E202 extra",
    ])
    expect(codesOf("modify_file", { path: "a", edits: [{ search: "x" }] })).toEqual(["E202 edits[0].replace"])
  })

  test("of a tool nobody knows is refused with the name that was probably meant", () => {
    expect(planTools.check("file_raed", { path: "a" })).toEqual([
      { code: "E201", argument: null, message: 'there is no tool "file_raed"; did you mean file_read?' },
    ])
    expect(planTools.check("summon", {})).toEqual([
      { code: "E201", argument: null, message: 'there is no tool "summon"' },
    ])
  })

  test("of a tool that comes later is refused with the reason, whatever its arguments", () => {
    for (const tool of ["splice_patch", "lsp_check"]) {
      const [problem, ...others] = planTools.check(tool, {})
      expect(others).toEqual([])
      expect(problem).toMatchObject({ code: "E201", argument: null })
      expect(problem?.message).toStartWith(`"${tool}" cannot be called: `)
    }
  })

  test("quotes a hostile name harmlessly", () => {
    expect(planTools.check("\u001b[2Jx", {})[0]?.message).toBe('there is no tool "\\x1b[2Jx"')
  })
})
