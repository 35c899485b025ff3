import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { chmodSync, mkdirSync, readdirSync } from "node:fs"
import { runAcode } from "../../support/acode.ts"
import { testWhere } from "../../support/requirement.ts"
import { type TempWorkspace, tempWorkspace } from "../../support/workspace/temp-workspace.ts"

const plan = {
  plan_id: "read-it",
  intent: "READ",
  steps: [
    { step_id: "one", tool: "file_read", arguments: { path: "a.txt" }, precondition: "file exists" },
    {
      step_id: "two",
      tool: "file_glob",
      arguments: { pattern: "*", root: "." },
      requires_confirmation: true,
    },
  ],
}
const broken = {
  plan_id: "\u001b[31mred",
  intent: "READ",
  steps: [
    { step_id: "one", tool: "file_read", arguments: {} },
    { step_id: "two", tool: "teleport", arguments: {} },
  ],
}
const open = {
  goal: "g",
  intent: "MUTATE",
  tasks: [{ id: "t", steps: [{ id: "s", action: "READ_FILE", title: "look" }] }],
}

let workspace: TempWorkspace

beforeAll(() => {
  workspace = tempWorkspace({
    files: {
      "plan.json": JSON.stringify(plan),
      "spaced.json": JSON.stringify(Object.fromEntries(Object.entries(plan).toReversed()), null, 3),
      "broken.json": JSON.stringify(broken),
      "open.json": JSON.stringify(open),
      "secret.json": JSON.stringify(plan),
    },
  })
  workspace.write("latin1.json", Buffer.from('{"plan_id":"\u00e9"}', "latin1"))
  workspace.write("huge.json", Buffer.alloc(6 * 1024 * 1024, "["))
  mkdirSync(`${workspace.root}/directory.json`)
})
afterAll(() => workspace[Symbol.dispose]())

function acode(args: readonly string[], stdin = "") {
  return runAcode(args, { cwd: workspace.root, env: workspace.environment, stdin })
}

const hashPattern = /^sha256:[0-9a-f]{64}$/

describe("plan validate", () => {
  test("says in one line that a plan is valid and exits 0", async () => {
    const { exitCode, stdout, stderr } = await acode(["plan", "validate", "plan.json"])
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" })
    expect(stdout).toMatch(/^valid: 2 steps in 1 task \(sha256:[0-9a-f]{64}\)\n$/)
  })

  test("prints every problem with its place and code, harmlessly, and exits 1", async () => {
    const { exitCode, stdout, stderr } = await acode(["plan", "validate", "broken.json"])
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: "" })
    expect(stdout.split("\n")).toEqual([
      "$.plan_id: must be printable, without a space at its beginning or end (E001)",
      expect.stringMatching(/^\$\.steps\[0\]\.arguments\.path: .+ \(E202\)$/),
      '$.steps[1].tool: unknown tool "teleport" (E201)',
      "not valid: 3 problems",
      "",
    ])
  })

  test("gives the same as JSON", async () => {
    const good = await acode(["plan", "validate", "plan.json", "--json"])
    expect(JSON.parse(good.stdout)).toEqual({
      valid: true,
      plan_id: "read-it",
      hash: expect.stringMatching(hashPattern),
      tasks: 1,
      steps: 2,
      runnable: true,
      problems: [],
    })
    const bad = await acode(["plan", "validate", "broken.json", "--json"])
    expect(bad.exitCode).toBe(1)
    const report = JSON.parse(bad.stdout)
    expect(report.valid).toBe(false)
    expect(
      report.problems.map(({ code, path }: { code: string; path: string }) => `${code} ${path}`),
    ).toEqual(["E001 $.plan_id", "E202 $.steps[0].arguments.path", "E201 $.steps[1].tool"])
  })

  test("says the same of what is no text at all", async () => {
    const { exitCode, stdout } = await acode(["plan", "validate", "latin1.json", "--json"])
    expect(exitCode).toBe(1)
    const problems = [{ code: "E001", path: "$", message: "the text is not UTF-8" }]
    expect(JSON.parse(stdout)).toEqual({ valid: false, problems })
  })

  test("reads standard input as -", async () => {
    const { exitCode, stdout } = await acode(["plan", "validate", "-"], '{"goal": 1')
    expect(exitCode).toBe(1)
    expect(stdout).toContain("(line 1, column 11)")
  })

  test("says of open steps that they need a model", async () => {
    const { exitCode, stdout } = await acode(["plan", "validate", "open.json"])
    expect(exitCode).toBe(0)
    expect(stdout).toContain("some steps are open")
  })

  test("leaves nothing behind", async () => {
    await acode(["plan", "validate", "plan.json"])
    expect(readdirSync(workspace.root)).not.toContain(".agent")
    expect(readdirSync(workspace.dataHome)).toEqual([])
  })
})

describe("plan hash", () => {
  test("does not depend on spacing and the order of keys, nor on how the file comes in", async () => {
    const runs = [
      await acode(["plan", "hash", "plan.json"]),
      await acode(["plan", "hash", "spaced.json"]),
      await acode(["plan", "hash", "-"], JSON.stringify(plan)),
    ]
    expect(new Set(runs.map(({ stdout }) => stdout)).size).toBe(1)
    expect(runs[0]?.stdout.trimEnd()).toMatch(hashPattern)
    const json = await acode(["plan", "hash", "plan.json", "--json"])
    expect(JSON.parse(json.stdout)).toEqual({ plan_id: "read-it", hash: runs[0]?.stdout.trimEnd() })
  })

  test("is another one after one letter", async () => {
    const { stdout: before } = await acode(["plan", "hash", "plan.json"])
    const { stdout: after } = await acode(
      ["plan", "hash", "-"],
      JSON.stringify(plan).replace("a.txt", "b.txt"),
    )
    expect(after).not.toBe(before)
  })

  test("is not given for what is no plan", async () => {
    const { exitCode, stdout, stderr } = await acode(["plan", "hash", "broken.json"])
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" })
    expect(stderr).toContain("error E001: the plan is not valid:\n    $.plan_id: must be printable")
    expect(stderr).toContain("(E201)")
    expect(stderr).not.toContain("\u001b")
  })
})

describe("plan show", () => {
  test("lists the steps with tools, arguments, conditions and the hash", async () => {
    const { exitCode, stdout } = await acode(["plan", "show", "plan.json"])
    expect(exitCode).toBe(0)
    expect(stdout.split("\n")).toEqual([
      "plan    read-it",
      "goal    read-it",
      "intent  READ",
      expect.stringMatching(/^hash {4}sha256:/),
      "",
      "task plan read-it (complexity 1)",
      "  1. one: file_read",
      '     path = "a.txt"',
      "     only if file_exists",
      "  2. two: file_glob",
      '     pattern = "*"',
      '     root = "."',
      "     asks for confirmation",
      "",
    ])
  })

  test("gives the plan with its defaults as JSON, in the words of the format", async () => {
    const { stdout } = await acode(["plan", "show", "plan.json", "--json"])
    const shown = JSON.parse(stdout)
    expect(shown).toMatchObject({ plan_id: "read-it", runnable: true, evidence_referenced: [] })
    expect(shown.steps).toEqual([
      {
        index: 0,
        task_id: "plan",
        id: "one",
        title: "one",
        description: "",
        depends_on: [],
        tool: "file_read",
        arguments: { path: "a.txt" },
        precondition: "file_exists",
        requires_confirmation: false,
      },
      expect.objectContaining({ index: 1, id: "two", precondition: "none", requires_confirmation: true }),
    ])
    const { stdout: opened } = await acode(["plan", "show", "open.json", "--json"])
    expect(JSON.parse(opened)).toMatchObject({ runnable: false, steps: [{ id: "s", action: "READ_FILE" }] })
  })
})

describe("a file that cannot be read", () => {
  const rootTest = testWhere(process.getuid?.() === 0 ? "root may read everything" : null)

  test.each([
    ["missing.json", 2, "ACODE-FS-002", "the plan file does not exist"],
    ["plan.json/inside", 2, "ACODE-FS-002", "the plan file does not exist"],
    ["directory.json", 2, "ACODE-FS-003", "the plan file is a directory"],
    ["latin1.json", 1, "E001", "the text is not UTF-8"],
    ["huge.json", 1, "E001", "larger than 5 MB"],
  ])("%s exits %i with %s", async (file, expected, code, words) => {
    const { exitCode, stdout, stderr } = await acode(["plan", "show", file])
    expect({ exitCode, stdout }).toEqual({ exitCode: expected, stdout: "" })
    expect(stderr).toContain(`error ${code}: `)
    expect(stderr).toContain(words)
  })

  rootTest("secret.json, which this user may not read, exits 2", async () => {
    chmodSync(`${workspace.root}/secret.json`, 0o000)
    const { exitCode, stderr } = await acode(["plan", "hash", "secret.json"])
    expect(exitCode).toBe(2)
    expect(stderr).toContain("error ACODE-FS-005: the plan file may not be read by this user")
  })

  test("no file at all is a mistake in the line", async () => {
    for (const verb of ["validate", "show", "hash"])
      expect((await acode(["plan", verb])).exitCode, verb).toBe(2)
  })
})

test("schema plan prints a schema of both forms", async () => {
  const { exitCode, stdout } = await acode(["schema", "plan"])
  expect(exitCode).toBe(0)
  const schema = JSON.parse(stdout)
  expect(schema.title).toBe("acode plan")
  expect(schema.oneOf.map(({ required }: { required: string[] }) => required)).toEqual([
    ["goal", "intent", "tasks"],
    ["plan_id", "intent", "steps"],
  ])
})
