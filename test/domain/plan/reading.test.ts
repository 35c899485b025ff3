import { describe, expect, test } from "bun:test"
import { type Plan, planHash } from "../../../src/domain/plan/plan.ts"
import { openStep, planFile, planOf, problemsOf, readStep, taskFile } from "./plan-kit.ts"

const resources = {
  read: ["src/**"],
  write: ["src/email.ts"],
  commands: [["npm", "test"]],
  hosts: ["example.org"],
}
const acceptance = [
  { id: "a1", kind: "command", command: ["npm", "test"], expect_exit: 0 },
  { id: "a2", kind: "file_exists", path: "src/email.ts" },
  { id: "a3", kind: "file_contains", path: "src/email.ts", pattern: "export" },
  { id: "a4", kind: "diagnostics", path: ".", max_errors: 0 },
  { id: "a5", kind: "judgement", text: "errors are clear" },
]

describe("the full form", () => {
  test("with everything that can be said is read to the last word", () => {
    const open = { id: "s1", title: "Look", description: "look around", action: "READ_FILE", depends_on: [] }
    const concrete = {
      id: "s2",
      title: "Write",
      description: "",
      tool: "write_file",
      arguments: { path: "src/email.ts", content: "export {}\n" },
      precondition: "file_exists",
      requires_confirmation: true,
      depends_on: ["s1"],
    }
    const value = planFile(
      [
        {
          id: "t1",
          title: "Email",
          description: "check addresses",
          complexity: 3,
          depends_on: [],
          resources,
          acceptance,
          steps: [open, concrete],
        },
      ],
      { evidence_referenced: ["Q8"] },
    )
    const expected: Plan = {
      planId: "p1",
      goal: "get it done",
      intent: "MUTATE",
      tasks: [
        {
          id: "t1",
          title: "Email",
          description: "check addresses",
          complexity: 3,
          dependsOn: [],
          resources,
          // As it was written: the fields of a criterion keep their names.
          acceptance: acceptance as Plan["tasks"][number]["acceptance"],
          steps: [
            {
              kind: "open",
              id: "s1",
              title: "Look",
              description: "look around",
              dependsOn: [],
              action: "READ_FILE",
            },
            {
              kind: "concrete",
              id: "s2",
              title: "Write",
              description: "",
              dependsOn: ["s1"],
              tool: "write_file",
              arguments: { path: "src/email.ts", content: "export {}\n" },
              precondition: "file_exists",
              requiresConfirmation: true,
            },
          ],
        },
      ],
      evidenceReferenced: ["Q8"],
      hash: planHash(JSON.parse(JSON.stringify(value))),
    }
    expect(planOf(value)).toEqual(expected)
  })

  test("with only what must be said has defaults for the rest", () => {
    const value = {
      goal: "g",
      intent: "READ",
      tasks: [taskFile("t", [{ id: "s", tool: "read_file", arguments: { path: "a" } }])],
    }
    const { hash, ...plan } = planOf(value)
    expect(hash).toMatch(/^sha256:[0-9a-f]{64}$/)
    expect(plan).toEqual({
      planId: `plan-${hash.slice(7, 19)}`,
      goal: "g",
      intent: "READ",
      tasks: [
        {
          id: "t",
          title: "t",
          description: "",
          complexity: 1,
          dependsOn: [],
          resources: { read: [], write: [], commands: [], hosts: [] },
          acceptance: [],
          steps: [
            {
              kind: "concrete",
              id: "s",
              title: "s",
              description: "",
              dependsOn: [],
              tool: "read_file",
              arguments: { path: "a" },
              precondition: "none",
              requiresConfirmation: false,
            },
          ],
        },
      ],
      evidenceReferenced: [],
    })
  })
})

describe("the flat form", () => {
  const flat = {
    plan_id: "read-two",
    intent: "READ",
    steps: [
      {
        step_id: "one",
        tool: "read_file",
        arguments: { path: "a" },
        precondition: "file exists",
        requires_confirmation: false,
      },
      {
        step_id: "two",
        tool: "read_file",
        arguments: { path: "b" },
        precondition: null,
        requires_confirmation: true,
      },
    ],
    evidence_referenced: ["Q1"],
  }

  test("is one task with its steps in the order of the file", () => {
    const { tasks, ...plan } = planOf(flat)
    expect(plan).toEqual({
      planId: "read-two",
      goal: "read-two",
      intent: "READ",
      evidenceReferenced: ["Q1"],
      hash: planHash(flat),
    })
    expect(tasks).toEqual([
      {
        id: "plan",
        title: "read-two",
        description: "",
        complexity: 1,
        dependsOn: [],
        resources: { read: [], write: [], commands: [], hosts: [] },
        acceptance: [],
        steps: [
          {
            kind: "concrete",
            id: "one",
            title: "one",
            description: "",
            dependsOn: [],
            tool: "read_file",
            arguments: { path: "a" },
            precondition: "file_exists",
            requiresConfirmation: false,
          },
          {
            kind: "concrete",
            id: "two",
            title: "two",
            description: "",
            dependsOn: [],
            tool: "read_file",
            arguments: { path: "b" },
            precondition: "none",
            requiresConfirmation: true,
          },
        ],
      },
    ])
  })

  test("cannot leave out its id", () => {
    const { plan_id: _, ...nameless } = flat
    expect(problemsOf(nameless)).toEqual(["$.plan_id: is missing (E001)"])
  })

  test("is not mixed with the other", () => {
    expect(problemsOf({ ...planFile([taskFile("t", [readStep("s")])]), steps: [] })).toEqual([
      "$.steps: is an unknown property (E001)",
    ])
  })
})

describe("what is not a plan at all", () => {
  test.each(["null", "[]", "3", '"plan"', "true"])("%s", text => {
    expect(problemsOf(text)).toEqual(["$: a plan is a JSON object (E001)"])
  })

  test("{} is told what a plan needs", () => {
    expect(problemsOf("{}")).toEqual([
      "$.goal: is missing (E001)",
      "$.intent: is missing (E001)",
      "$.tasks: is missing (E001)",
    ])
  })
})

describe("everything is told at once", () => {
  test("what the reader, the schema, the rules and the tools find", () => {
    const text = `{
      "goal": "", "goal": "", "intent": "READ", "surplus": 1,
      "tasks": [
        {"id": "t", "complexity": 4, "depends_on": ["gone"], "steps": [
          {"id": "s", "tool": "read_file", "arguments": {}, "precondition": "moon is full"},
          {"id": "s", "tool": "teleport", "arguments": 3},
          {"id": "x", "action": "DANCE", "description": "a waltz", "depends_on": ["x"]}]}]}`
    expect(problemsOf(text)).toEqual([
      "$.goal: is given twice; remove one (E001)",
      "$.goal: must not be empty (E001)",
      "$.surplus: is an unknown property (E001)",
      "$.tasks[0].complexity: must be one of 1, 2, 3, 5, 8, 13, 21, 34 (E001)",
      '$.tasks[0].depends_on[0]: "gone" does not exist here (E001)',
      "$.tasks[0].steps[0].arguments.path: is required (E202)",
      '$.tasks[0].steps[0].precondition: "moon is full" is unknown; use one of none, file_exists, project_exists, index_exists, symbol_exists, root_exists (E001)',
      "$.tasks[0].steps[1].arguments: must be an object (E001)",
      '$.tasks[0].steps[1].id: "s" is used twice as an id (E001)',
      "$.tasks[0].steps[1].tool: there is no such tool (E201)",
      "$.tasks[0].steps[2].action: must be one of READ_FILE, WRITE_FILE, MODIFY_FILE, CREATE_FILE, DELETE_FILE, CREATE_DIRECTORY, RUN_COMMAND, ANALYZE_CODE, GENERATE_CODE (E001)",
      '$.tasks[0].steps[2].depends_on: waits for itself: "x" → "x" (E001)',
    ])
  })

  test("places are in the order of the numbers, not of the digits", () => {
    const steps = Array.from({ length: 12 }, (_, index) => readStep(`s${index}`, { arguments: {} }))
    const found = problemsOf(planFile([taskFile("t", steps)]))
    expect(found.map(line => Number(/steps\[(\d+)\]/.exec(line)?.[1]))).toEqual(
      steps.map((_, index) => index),
    )
  })
})

test("arguments are kept exactly: nothing added, dropped, defaulted or converted", () => {
  const path = {
    constructor: 1,
    toString: [null, true, 1.5, "é\u0000", { "": [] }],
    "10": "ten",
    "2": "two",
    deep: { a: { b: { c: [] } } },
  }
  const [task] = planOf(planFile([taskFile("t", [readStep("s", { arguments: { path } })])])).tasks
  const [step] = task?.steps ?? []
  expect(step?.kind === "concrete" && JSON.stringify(step.arguments)).toBe(JSON.stringify({ path }))
})

describe("limits", () => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => readStep(`s${index}`))

  test("1000 steps of a task are read and 1001 are not", () => {
    expect(planOf(planFile([taskFile("t", many(1000))])).tasks[0]?.steps).toHaveLength(1000)
    expect(problemsOf(planFile([taskFile("t", many(1001))]))).toEqual([
      "$.tasks[0].steps: must have at most 1000 entries (E001)",
    ])
  })

  test("100 tasks are read and 101 are not", () => {
    const tasks = (count: number) =>
      Array.from({ length: count }, (_, index) => taskFile(`t${index}`, [openStep("s")]))
    expect(planOf(planFile(tasks(100))).tasks).toHaveLength(100)
    expect(problemsOf(planFile(tasks(101)))).toEqual(["$.tasks: must have at most 100 entries (E001)"])
  })
})
