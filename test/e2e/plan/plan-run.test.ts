import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { check } from "../../support/checker/checker.ts"
import {
  type PlanStepText,
  type PlanWorkspace,
  planText,
  planWorkspace,
} from "../../support/plan/plan-workspace.ts"
import { missingProgram, missingSandbox, testWhere } from "../../support/requirement.ts"

let room: PlanWorkspace
beforeEach(() => {
  room = planWorkspace({ files: { "src/a.txt": "hello foo\n", "package.json": "{}\n" } })
})
afterEach(() => room[Symbol.dispose]())

const file = (path: string) => readFileSync(join(room.workspace.root, path), "utf8")
const exists = (path: string) => existsSync(join(room.workspace.root, path))

const threeSteps: readonly PlanStepText[] = [
  ["file_read", { path: "src/a.txt" }],
  ["file_write", { path: "out/b.txt", contents: "foo\n" }],
  ["run_command", { argv: ["sh", "-c", "cat out/b.txt"] }],
]

describe("a plan is run only as it was approved", () => {
  test("nobody approved it: refused with E002, exit 33, and nothing happens", async () => {
    room.plan(threeSteps)
    const run = await room.acode("plan", "run", room.planFile)
    expect(run.exitCode).toBe(33)
    expect(run.stderr).toContain("error E002: this plan has not been approved")
    expect(exists("out/b.txt")).toBe(false)
  })

  test("approved: every step runs, each with evidence of its own, exit 0", async () => {
    room.plan(threeSteps)
    const { run, result } = await room.approveAndRun()
    expect(run.exitCode).toBe(0)
    expect(result).toMatchObject({ plan_id: "demo", status: "Completed", exit_code: 0 })
    const ids = result.step_results.map(step => step.execution_id)
    expect(new Set(ids).size).toBe(3)
    for (const id of ids) expect((await room.acode("evidence", "show", id ?? "", "--json")).exitCode).toBe(0)
    expect(result.step_results.at(2)?.stdout).toBe("foo\n")
    expect(file("out/b.txt")).toBe("foo\n")
    expect(await check(room.workspace)).toEqual([])
    expect((await room.acode("audit", "verify")).exitCode).toBe(0)
  })

  test("changed after the approval: refused, exit 33, and the message says so", async () => {
    room.plan(threeSteps)
    await room.acode("plan", "approve", room.planFile)
    writeFileSync(room.planFile, readFileSync(room.planFile, "utf8").replace("foo", "bar"))
    const run = await room.acode("plan", "run", room.planFile)
    expect([run.exitCode, run.stderr]).toEqual([33, expect.stringContaining("E002")])
    expect(run.stderr).toContain("was changed after its approval")
  })

  test("another spacing and order of keys are no change", async () => {
    room.plan(threeSteps)
    await room.acode("plan", "approve", room.planFile)
    const { steps, ...rest } = JSON.parse(readFileSync(room.planFile, "utf8"))
    writeFileSync(room.planFile, JSON.stringify({ steps, ...rest }, null, 4))
    expect((await room.acode("plan", "run", room.planFile)).exitCode).toBe(0)
  })

  test("the approval has ended: refused, exit 33", async () => {
    room.plan(threeSteps)
    await room.acode("plan", "approve", room.planFile, "--expires", "0.001s")
    const run = await room.acode("plan", "run", room.planFile)
    expect([run.exitCode, run.stderr]).toEqual([33, expect.stringContaining("E002")])
    expect(run.stderr).toContain("ended at")
  })

  test("an approval of another plan is E003, exit 33; one that is unknown is a usage error", async () => {
    room.plan(threeSteps, "other")
    const approved = await room.acode("plan", "approve", room.planFile, "--json")
    const { id } = JSON.parse(approved.stdout)
    room.plan(threeSteps, "demo")
    const run = await room.acode("plan", "run", room.planFile, "--approval", id)
    expect([run.exitCode, run.stderr]).toEqual([33, expect.stringContaining("E003")])
    expect((await room.acode("plan", "run", room.planFile, "--approval", "apr_x")).exitCode).toBe(2)
  })

  test("invalid: everything wrong is told, exit 1, before anybody asks for an approval", async () => {
    room.plan([
      ["file_raed", { path: "a" }],
      ["file_write", { path: "b" }],
      ["splice_patch", { file: "a", symbol: "b" }],
    ])
    const run = await room.acode("plan", "run", room.planFile)
    expect(run.exitCode).toBe(1)
    for (const told of ["E201", "E202", "file_read", "contents", "steps[2].arguments.with"])
      expect(run.stderr).toContain(told)
    room.plan([["file_search", { pattern: "x", root: "" }]])
    const empty = await room.acode("plan", "run", room.planFile)
    expect([empty.exitCode, empty.stderr]).toEqual([
      1,
      expect.stringMatching(/arguments\.root: must not be empty \(E202\)/),
    ])
    writeFileSync(room.planFile, "{")
    const broken = await room.acode("plan", "run", room.planFile)
    expect([broken.exitCode, broken.stderr]).toEqual([1, expect.stringContaining("E001")])
  })

  test("a plan with an open step is not for this lane", async () => {
    const task = { id: "t", title: "t", description: "", resources: {}, acceptance: [], depends_on: [] }
    const steps = [{ id: "s", title: "s", description: "do it", action: "WRITE_FILE", depends_on: [] }]
    const plan = { plan_id: "p", goal: "g", intent: "MUTATE", tasks: [{ ...task, steps }] }
    writeFileSync(room.planFile, JSON.stringify(plan))
    const run = await room.acode("plan", "run", room.planFile)
    expect([run.exitCode, run.stderr]).toEqual([1, expect.stringContaining("E001")])
  })
})

describe("the first failure is the end", () => {
  test("at step 2: two results, step 3 never ran, exit 30, evidence complete", async () => {
    room.plan([
      ["file_write", { path: "one.txt", contents: "1" }],
      ["run_command", { argv: ["sh", "-c", "echo broken >&2; exit 3"] }],
      ["file_write", { path: "three.txt", contents: "3" }],
    ])
    const { run, result } = await room.approveAndRun()
    expect(run.exitCode).toBe(30)
    expect(result.status).toBe("Failed")
    expect(result.step_results.map(step => step.success)).toEqual([true, false])
    expect(result.step_results.at(1)).toMatchObject({ error_code: "ACODE-EXE-003", stderr: "broken\n" })
    expect([exists("one.txt"), exists("three.txt")]).toEqual([true, false])
    const failures = JSON.parse((await room.acode("evidence", "failures", "--json")).stdout)
    expect(failures.map((row: { id: string }) => row.id)).toEqual([
      result.step_results.at(1)?.execution_id ?? "",
    ])
    expect(await check(room.workspace)).toEqual([])
  })

  const cases: readonly (readonly [string, PlanStepText, string, number])[] = [
    ["a file that should exist", ["file_read", { path: "no" }, { precondition: "file exists" }], "E101", 30],
    ["a symbol", ["file_read", { path: "src/a.txt" }, { precondition: "symbol exists" }], "E104", 30],
    ["a file to read", ["file_read", { path: "no" }], "E301", 30],
    ["a file that is in the way", ["file_create", { path: "src/a.txt", contents: "x" }], "ACODE-FS-008", 30],
    ["a path outside", ["file_read", { path: "../../etc/passwd" }], "ACODE-SEC-005", 32],
    ["a protected path", ["file_write", { path: ".env", contents: "x" }], "ACODE-SEC-003", 32],
    ["the history itself", ["file_write", { path: ".agent/x", contents: "x" }], "ACODE-SEC-003", 32],
    ["what is never allowed", ["run_command", { argv: ["rm", "-rf", "/"] }], "ACODE-EXEC-004", 32],
    ["time", ["run_command", { argv: ["sleep", "60"], timeout_seconds: 0.3 }], "ACODE-EXE-002", 34],
    [
      "somebody to confirm",
      ["file_write", { path: "x", contents: "x" }, { requires_confirmation: true }],
      "E105",
      33,
    ],
  ]
  for (const [missing, step, code, exitCode] of cases)
    test(`without ${missing}: ${code}, exit ${exitCode}`, async () => {
      room.plan([step, ["file_write", { path: "after.txt", contents: "x" }]])
      const { run, result } = await room.approveAndRun()
      expect([run.exitCode, result.exit_code]).toEqual([exitCode, exitCode])
      expect(result.step_results.map(each => each.error_code)).toEqual([code])
      expect(exists("after.txt")).toBe(false)
      expect(await check(room.workspace)).toEqual([])
    })

  test("without an index: E103; where acode may make one, the condition holds", async () => {
    room.plan([["file_read", { path: "src/a.txt" }, { precondition: "codegraph.db exists" }]])
    expect((await room.approveAndRun()).run.exitCode).toBe(0)
    mkdirSync(join(room.workspace.root, ".agent"), { recursive: true })
    writeFileSync(
      join(room.workspace.root, ".agent/config.yml"),
      'schema_version: "1"\ncode:\n  enabled: false\n',
    )
    const { run, result } = await room.approveAndRun()
    expect([run.exitCode, result.step_results.map(step => step.error_code)]).toEqual([30, ["E103"]])
  })

  test("without a project: E102", async () => {
    using bare = planWorkspace()
    bare.plan([["list_directory", { path: "." }, { precondition: "Cargo project exists" }]])
    const { result } = await bare.approveAndRun()
    expect(result.step_results.map(step => step.error_code)).toEqual(["E102"])
  })

  // Root may write everywhere but where nobody may.
  const isRoot = process.getuid?.() === 0
  testWhere(isRoot ? missingProgram("chattr") : null)("without permission to write: E302", async () => {
    const shut = join(room.workspace.root, "shut")
    mkdirSync(shut, { mode: 0o555 })
    const mark = (sign: string) => isRoot && Bun.spawnSync(["chattr", `${sign}i`, shut])
    mark("+")
    try {
      room.plan([["file_write", { path: "shut/x", contents: "x" }]])
      const { result } = await room.approveAndRun()
      expect(result.step_results.map(step => step.error_code)).toEqual(["E302"])
    } finally {
      mark("-")
    }
  })

  test("--yes does not confirm for a person", async () => {
    room.plan([["file_write", { path: "x", contents: "x" }, { requires_confirmation: true }]])
    await room.acode("plan", "approve", room.planFile)
    const run = await room.acode("plan", "run", room.planFile, "--yes=all", "--ack-danger")
    expect([run.exitCode, exists("x")]).toEqual([33, false])
  })

  test("a link that leads out of the workspace is not followed", async () => {
    symlinkSync(room.workspace.outside, join(room.workspace.root, "out"))
    room.plan([["file_write", { path: "out/escaped", contents: "x" }]])
    const { run } = await room.approveAndRun()
    expect([run.exitCode, existsSync(join(room.workspace.outside, "escaped"))]).toEqual([32, false])
  })
})

test("the same plan on two copies of a tree has the same step keys and result digests", async () => {
  using other = planWorkspace({ files: { "src/a.txt": "hello foo\n", "package.json": "{}\n" } })
  const keysOf = async (one: PlanWorkspace) => {
    writeFileSync(one.planFile, planText(threeSteps, "demo"))
    const { result } = await one.approveAndRun()
    return result.step_results.map(step => [step.step_key, step.result_digest])
  }
  const [mine, theirs] = [await keysOf(room), await keysOf(other)]
  expect(mine).toEqual(theirs)
  expect(new Set(mine.flat()).size).toBe(6)
})

testWhere(missingSandbox)(
  "what a command made under a protected name is told where it is moved away",
  async () => {
    room.workspace.write("make.sh", 'v=.vsc; mkdir sub; cd sub; mkdir $v"ode"; echo x > $v"ode"/tasks.json')
    room.plan([["run_command", { argv: ["sh", "make.sh"] }]])
    expect((await room.acode("plan", "approve", room.planFile)).exitCode).toBe(0)
    const run = await room.acode("plan", "run", room.planFile)
    expect(run.stdout).toContain("moved to quarantine, protected: sub/.vscode")
    expect(existsSync(join(room.workspace.root, "sub/.vscode"))).toBe(false)
  },
)
