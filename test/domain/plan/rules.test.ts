import { describe, expect, test } from "bun:test"
import type { Json } from "../../../src/base/canonical.ts"
import { pathText } from "../../../src/domain/plan/problem.ts"
import { type PlanTools, ruleFindings, type ToolProblem } from "../../../src/domain/plan/rules.ts"
import { openStep, planFile, readStep, taskFile, twoTools } from "./plan-kit.ts"

function rulesBroken(value: object, tools: PlanTools = twoTools): string[] {
  const plan: { readonly [name: string]: Json } = JSON.parse(JSON.stringify(value))
  return ruleFindings(plan, tools).map(({ path, message, code }) => `${pathText(path)} ${message} (${code})`)
}

const ofSteps = (...steps: readonly object[]) => rulesBroken(planFile([taskFile("t", steps)]))

describe("ids", () => {
  test("are unique among tasks, among the steps of a task and among its criteria", () => {
    const criteria = { acceptance: [{ id: "a" }, { id: "a" }] }
    expect(
      rulesBroken(
        planFile([taskFile("t", [readStep("s"), readStep("s")], criteria), taskFile("t", [readStep("x")])]),
      ),
    ).toEqual([
      '$.tasks[1].id "t" is used twice as an id (E001)',
      '$.tasks[0].steps[1].id "s" is used twice as an id (E001)',
      '$.tasks[0].acceptance[1].id "a" is used twice as an id (E001)',
    ])
  })

  test("may be the same in two tasks", () => {
    expect(rulesBroken(planFile([taskFile("t", [readStep("s")]), taskFile("u", [readStep("s")])]))).toEqual(
      [],
    )
  })

  test("of the flat form are unique as well", () => {
    const step = { step_id: "s", tool: "read_file", arguments: { path: "a" } }
    expect(rulesBroken({ steps: [step, step] })).toEqual([
      '$.steps[1].step_id "s" is used twice as an id (E001)',
    ])
  })
})

describe("dependencies", () => {
  test("are on steps of the same task and on tasks of the plan", () => {
    expect(
      rulesBroken(
        planFile([
          taskFile("t", [readStep("a")], { depends_on: ["a", "u"] }),
          taskFile("u", [readStep("b", { depends_on: ["a", "b2"] }), readStep("b2")]),
        ]),
      ),
    ).toEqual([
      '$.tasks[0].depends_on[0] "a" does not exist here (E001)',
      '$.tasks[1].steps[0].depends_on[0] "a" does not exist here (E001)',
    ])
  })

  test("that form a circle are named in its order", () => {
    expect(
      ofSteps(
        readStep("a", { depends_on: ["b"] }),
        readStep("b", { depends_on: ["c"] }),
        readStep("c", { depends_on: ["b", "d"] }),
        readStep("d"),
      ),
    ).toEqual(['$.tasks[0].steps[1].depends_on waits for itself: "b" → "c" → "b" (E001)'])
  })

  test("on itself are a circle of one", () => {
    expect(ofSteps(readStep("a", { depends_on: ["a"] }))).toEqual([
      '$.tasks[0].steps[0].depends_on waits for itself: "a" → "a" (E001)',
    ])
  })

  test("that form two circles are both named", () => {
    const two = (a: string, b: string) => [
      taskFile(a, [readStep("s")], { depends_on: [b] }),
      taskFile(b, [readStep("s")], { depends_on: [a] }),
    ]
    expect(rulesBroken(planFile([...two("a", "b"), ...two("c", "d")]))).toEqual([
      '$.tasks[0].depends_on waits for itself: "a" → "b" → "a" (E001)',
      '$.tasks[2].depends_on waits for itself: "c" → "d" → "c" (E001)',
    ])
  })

  test("of a hundred thousand steps in one circle are found in bounded time and depth", () => {
    const count = 100_000
    const steps = Array.from({ length: count }, (_, index) =>
      readStep(`${index}`, { depends_on: [`${(index + 1) % count}`] }),
    )
    expect(ofSteps(...steps)).toHaveLength(1)
  })
})

describe("the call of a step", () => {
  test("is checked with its tool, once for every concrete step", () => {
    const asked: string[] = []
    const tools: PlanTools = {
      check: (tool, args) => {
        asked.push(`${tool} ${JSON.stringify(args)}`)
        return []
      },
    }
    rulesBroken(
      planFile([taskFile("t", [readStep("a"), openStep("b")]), taskFile("u", [readStep("c")])]),
      tools,
    )
    expect(asked).toEqual(['read_file {"path":"a.txt"}', 'read_file {"path":"c.txt"}'])
  })

  test.each<[ToolProblem, string]>([
    [{ code: "E201", argument: null, message: "m" }, "tool m (E201)"],
    [{ code: "E201", argument: "path", message: "m" }, "tool m (E201)"],
    [{ code: "E202", argument: null, message: "m" }, "arguments m (E202)"],
    [{ code: "E202", argument: "path", message: "m" }, "arguments.path m (E202)"],
    [{ code: "E202", argument: "edits[0].search", message: "m" }, "arguments.edits[0].search m (E202)"],
    [{ code: "E202", argument: "argv[3]", message: "m" }, "arguments.argv[3] m (E202)"],
    [{ code: "E202", argument: "a]b", message: "m" }, 'arguments["a]b"] m (E202)'],
    [{ code: "E001", argument: "path", message: "m" }, "arguments.path m (E001)"],
  ])("%j is told at %s", (problem, expected) => {
    expect(rulesBroken(planFile([taskFile("t", [readStep("a")])]), { check: () => [problem] })).toEqual([
      `$.tasks[0].steps[0].${expected}`,
    ])
  })

  test("without arguments misses none, but an unknown tool is still told", () => {
    expect(ofSteps({ id: "a", tool: "read_file" }, { id: "b", tool: "fly", arguments: [] })).toEqual([
      "$.tasks[0].steps[1].tool there is no such tool (E201)",
    ])
  })

  test("is never finish_step, whatever the tools say", () => {
    const step = { id: "a", tool: "finish_step", arguments: { summary: "done" } }
    expect(rulesBroken(planFile([taskFile("t", [step])]), { check: () => [] })).toEqual([
      "$.tasks[0].steps[0].tool finish_step is for models; a plan cannot call it (E201)",
    ])
  })
})

test("an open step says what is to be done, in its title or description", () => {
  const reason = "needs a description: an action alone does not say what to do (E001)"
  expect(
    ofSteps(
      { id: "a", action: "READ_FILE" },
      { id: "b", action: "READ_FILE", title: "look" },
      { id: "c", action: "READ_FILE", description: "look" },
      { id: "d", action: "READ_FILE", title: " ", description: "" },
    ),
  ).toEqual([`$.tasks[0].steps[0] ${reason}`, `$.tasks[0].steps[3] ${reason}`])
})

test.each<object>([
  {},
  { tasks: 3 },
  { tasks: [3, null, "t", []] },
  { tasks: [{ steps: "s", acceptance: {}, depends_on: 5 }] },
  { tasks: [{ id: 3, depends_on: [1], steps: [{ id: [], depends_on: "a", tool: 5, precondition: 7 }] }] },
  { steps: { a: 1 } },
])("the shape is not its business: %j", value => {
  expect(rulesBroken(value)).toEqual([])
})
