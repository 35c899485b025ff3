import { describe, expect, test } from "bun:test"
import { planTools } from "../../src/app/plan-tools.ts"
import { readPlan } from "../../src/domain/plan/reading.ts"

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
      { code: "E201", argument: null, message: 'unknown tool "file_raed"; did you mean file_read?' },
    ])
    expect(planTools.check("summon", {})).toEqual([
      { code: "E201", argument: null, message: 'unknown tool "summon"' },
    ])
  })

  test("of a name that cannot be called is refused with the reason, whatever its arguments", () => {
    const [problem, ...others] = planTools.check("finish_step", {})
    expect(others).toEqual([])
    expect(problem).toMatchObject({ code: "E201", argument: null })
    expect(problem?.message).toStartWith('"finish_step" cannot be called: ')
  })

  test("of a tool whose result only a model can use is refused", () => {
    expect(planTools.check("use_skill", { name: "a" })).toMatchObject([
      { code: "E201", message: expect.stringContaining("only a model can use") },
    ])
  })

  test("quotes a hostile name harmlessly", () => {
    expect(planTools.check("\u001b[2Jx", {})[0]?.message).toBe('unknown tool "\\x1b[2Jx"')
  })
})

describe("a host of a plan", () => {
  test("is one that commands can be held to", () => {
    for (const entry of ["example.com", "*.example.com:8443", "localhost:8080"])
      expect(planTools.hostProblem?.(entry)).toBeNull()
    for (const entry of ["https://example.com", "*", "169.254.169.254", "localhost"])
      expect(planTools.hostProblem?.(entry)).not.toBeNull()
    const plan = (hosts: readonly string[]) =>
      JSON.stringify({
        plan_id: "p",
        goal: "g",
        intent: "MUTATE",
        tasks: [
          { id: "t", resources: { hosts }, steps: [{ id: "s", action: "RUN_COMMAND", description: "d" }] },
        ],
      })
    const problems = readPlan(plan(["example.com", "http://example.com/"]), planTools)
    expect(problems).toMatchObject({
      problems: [
        { code: "E001", path: "$.tasks[0].resources.hosts[1]", message: expect.stringContaining("scheme") },
      ],
    })
    // What was recorded by an older acode can still be read; it grants nothing.
    expect(readPlan(plan(["http://example.com/"]), { check: () => [] })).toHaveProperty("plan")
  })
})
