import { Database } from "bun:sqlite"
import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { existsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { userName } from "../../../src/app/user-name.ts"
import { startAcode } from "../../support/acode.ts"
import { check } from "../../support/checker/checker.ts"
import { eventually } from "../../support/eventually.ts"
import {
  type PlanStepText,
  type PlanWorkspace,
  planText,
  planWorkspace,
} from "../../support/plan/plan-workspace.ts"

let room: PlanWorkspace
beforeEach(() => {
  room = planWorkspace({ files: { "src/a.txt": "one\n" } })
})
afterEach(async () => {
  expect(await check(room.workspace)).toEqual([])
  room[Symbol.dispose]()
})

/** What anybody reads who opens the file with `sqlite3`. */
function rows(sql: string): readonly unknown[] {
  using db = new Database(room.workspace.state("workspace.db"), { readonly: true })
  return db.query(sql).all()
}

async function json(...args: readonly string[]) {
  const { stdout, stderr } = await room.acode(...args, "--json")
  if (stdout === "") throw new Error(stderr)
  return JSON.parse(stdout)
}

/** Writes a flat plan with something else in its head. */
function plan(steps: readonly PlanStepText[], head: object): void {
  writeFileSync(room.planFile, JSON.stringify({ ...JSON.parse(planText(steps, "demo")), ...head }))
}

const reading: PlanStepText = ["file_read", { path: "src/a.txt" }]
const writing: PlanStepText = ["file_write", { path: "src/a.txt", contents: "two\n" }]

describe("a step whose precondition does not hold", () => {
  test("leaves evidence that its tool was not called, and every query finds it", async () => {
    room.plan([reading, ["file_write", { path: "no.txt", contents: "x" }, { precondition: "file exists" }]])
    const { result } = await room.approveAndRun()
    const [, failed] = result.step_results
    const id = failed?.execution_id
    expect(
      rows("SELECT id, tool, status, certainty, error_code, step_id FROM evidence ORDER BY position"),
    ).toEqual([
      expect.objectContaining({ tool: "file_read", status: "succeeded", step_id: "s1" }),
      { id, tool: "file_write", status: "failed", certainty: "notDone", error_code: "E101", step_id: "s2" },
    ])
    expect(
      rows("SELECT json_extract(data, '$.callId') AS id FROM events WHERE type = 'tool_call.started'"),
    ).toEqual([{ id: result.step_results[0]?.execution_id }])
    for (const query of [["failures"], ["failures", "write_file"], ["by-code", "E101"]])
      expect(await json("evidence", ...query)).toMatchObject([{ id, errorCode: "E101" }])
    expect((await room.acode("evidence", "show", id ?? "")).stdout).toMatch(
      /^status +failed, its effect did not take place$/m,
    )
  })
})

describe("why a step was made", () => {
  test("is in the record and in its evidence: what was wanted, with which intent, because of what", async () => {
    room.plan([reading])
    const [first] = (await room.approveAndRun()).result.step_results
    const cited = ["Q8", first?.execution_id.slice(-8) ?? ""]
    plan([writing], { evidence_referenced: cited })
    const shown = await room.acode("plan", "show", room.planFile)
    for (const each of cited) expect(shown.stdout).toContain(`cites   ${each}\n`)
    const [step] = (await room.approveAndRun()).result.step_results
    expect(
      rows(
        `SELECT json_extract(data, '$.intent') AS intent, json_extract(data, '$.evidenceReferenced') AS cited
         FROM events WHERE type = 'session.started' ORDER BY position DESC LIMIT 1`,
      ),
    ).toEqual([{ intent: "MUTATE", cited: JSON.stringify(cited) }])
    const { artifacts } = await json("evidence", "show", step?.execution_id ?? "")
    expect(artifacts.at(-1)).toMatchObject({
      kind: "step_context",
      content: { plan_id: "demo", step_id: "s1", goal: "demo", intent: "MUTATE", evidence_referenced: cited },
    })
  })

  test("cannot be evidence that does not exist", async () => {
    const foreign = "cal_01890000-0000-7000-8000-000000000000"
    plan([reading], { evidence_referenced: ["Q1", "Q9", "", foreign, "README.md"] })
    const places = [1, 2, 3, 4].map(index => `$.evidence_referenced[${index}]`)
    const validated = await json("plan", "validate", room.planFile)
    expect(validated.problems.map(({ path }: { path: string }) => path)).toEqual(places)
    for (const verb of ["validate", "approve", "run"]) {
      const { exitCode, stdout, stderr } = await room.acode("plan", verb, room.planFile)
      expect([verb, exitCode]).toEqual([verb, 1])
      for (const place of places) expect(stdout + stderr).toContain(`${place}: `)
    }
    expect(existsSync(room.workspace.state("workspace.db"))).toBe(false)
  })

  test.each(["READ", "QUERY", "EXPLAIN"])("cannot be %s where files would change", async intent => {
    const task = {
      id: "t1",
      resources: { write: ["src/**"] },
      steps: [{ id: "s1", action: "DELETE_FILE", description: "x" }],
    }
    plan([reading, writing, ["splice_patch", { file: "a.ts", symbol: "a", with: "b.ts" }]], { intent })
    const flat = await json("plan", "validate", room.planFile)
    writeFileSync(room.planFile, JSON.stringify({ goal: "g", intent, tasks: [task] }))
    const full = await json("plan", "validate", room.planFile)
    const places = [flat, full].map(({ problems }) => problems.map((each: { path: string }) => each.path))
    expect(places).toEqual([
      ["$.steps[1].tool", "$.steps[2].tool"],
      ["$.tasks[0].resources.write", "$.tasks[0].steps[0].action"],
    ])
    plan([reading, writing], { intent })
    const { exitCode, stderr } = await room.acode("plan", "approve", room.planFile)
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringContaining(`and the intent of the plan is ${intent} (E001)`),
    ])
    plan([reading], { intent })
    expect((await room.approveAndRun()).run.exitCode).toBe(0)
  })
})

describe("the approval of a plan", () => {
  const approve = async () => (await json("plan", "approve", room.planFile)).id as string

  test("is listed while it holds, newest first, shown by its id, and revoked once", async () => {
    expect(await json("approvals", "list", "--plans")).toEqual([])
    room.plan([reading], "first")
    const first = await approve()
    room.plan([writing, writing], "second")
    const second = await approve()
    const columns = "id, plan_id AS planId, plan_hash AS planHash, approver, step_count AS stepCount"
    const listed = await json("approvals", "list", "--plans")
    expect(listed).toMatchObject(rows(`SELECT ${columns} FROM plan_approvals ORDER BY position DESC`))
    expect(listed.map(({ id, state }: { id: string; state: string }) => [id, state])).toEqual([
      [second, "valid"],
      [first, "valid"],
    ])
    expect((await room.acode("approvals", "list", "--plans", "--limit", "1")).stdout).toMatch(
      /^\S{8} {2}\S+Z {2}valid {4}until \S+Z {2}2 steps {2}second\n$/,
    )
    const revoked = await room.acode("plan", "revoke", second.slice(-8), "--reason", "wrong branch")
    expect(revoked).toMatchObject({
      exitCode: 0,
      stdout: `revoked ${second.slice(-8)}: the approval of second\n`,
    })
    const run = await room.acode("plan", "run", room.planFile)
    expect([run.exitCode, run.stderr]).toEqual([
      33,
      expect.stringContaining(`was revoked by ${userName()} at `),
    ])
    expect(run.stderr).toContain("E002")
    const named = await room.acode("plan", "run", room.planFile, "--approval", second)
    expect(named.exitCode).toBe(33)
    expect(await json("approvals", "list", "--plans")).toMatchObject([{ id: first }])
    expect(await json("approvals", "list", "--plans", "--all")).toMatchObject([
      { id: second, state: "revoked", revoked: { by: userName(), reason: "wrong branch" } },
      { id: first, state: "valid", revoked: null },
    ])
    expect((await room.acode("approvals", "show", second)).stdout).toMatch(
      /^approval \S+ of a plan\n {2}plan {6}second, 2 steps\n(?:.*\n){2} {2}revoked by \S+ at \S+: wrong branch\n$/,
    )
    expect((await room.acode("approvals", "show", first)).stdout).toContain("  valid until ")
    const again = await room.acode("plan", "revoke", second)
    expect([again.exitCode, again.stderr]).toEqual([2, expect.stringContaining("ACODE-APPR-002")])
    const events = "SELECT stream FROM events WHERE type = 'plan.revoked'"
    expect(rows(events)).toEqual([{ stream: second }])
    expect((await room.acode("audit", "verify")).exitCode).toBe(0)
    // A new approval is another one.
    expect((await room.approveAndRun()).run.exitCode).toBe(0)
  })

  test("that nobody gave cannot be revoked", async () => {
    const { exitCode, stderr } = await room.acode("plan", "revoke", "zzzz")
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("ACODE-APPR-001")])
    expect((await room.acode("approvals", "list", "--plans", "--all")).stderr).toBe("no approvals of plans\n")
  })

  test("revoked while its plan runs ends the run before the next step", async () => {
    const waits = "until [ -e go ]; do sleep 0.05; done"
    room.plan([["run_command", { argv: ["sh", "-c", `touch begun; ${waits}`] }], writing])
    const id = await approve()
    const { root, environment: env } = room.workspace
    await using running = startAcode(["plan", "run", room.planFile, "--json"], { cwd: root, env })
    await eventually("the command begins", () => existsSync(join(root, "begun")))
    expect((await room.acode("plan", "revoke", id)).exitCode).toBe(0)
    room.workspace.write("go", "")
    const { exitCode, stdout } = await running.ended
    expect([exitCode, JSON.parse(stdout)]).toEqual([
      33,
      expect.objectContaining({
        status: "Failed",
        step_results: [expect.objectContaining({ step_id: "s1", success: true })],
        error_code: "E002",
        error_message: `the approval of the plan was revoked by ${userName()}`,
      }),
    ])
    expect(await Bun.file(join(root, "src/a.txt")).text()).toBe("one\n")
  })
})

test("evidence fixes means by a code of the plan format what by-code means by it", async () => {
  const missing: PlanStepText = ["file_read", { path: "no.txt" }]
  const listing: PlanStepText = ["list_directory", { path: "no.txt" }]
  const made: PlanStepText = ["file_write", { path: "no.txt", contents: "x" }]
  const ids: string[] = []
  for (const step of [listing, missing, made]) {
    room.plan([step])
    ids.push((await room.approveAndRun()).result.step_results[0]?.execution_id ?? "")
  }
  const [listed, read, fix] = ids
  expect(rows("SELECT call_id, code FROM evidence_diagnostics ORDER BY position")).toEqual([
    { call_id: listed, code: "ACODE-FS-002" },
    { call_id: read, code: "ACODE-FS-002" },
  ])
  expect(await json("evidence", "by-code", "E301")).toMatchObject([{ id: read }])
  expect(await json("evidence", "fixes", "E301")).toMatchObject([
    { diagnosticId: read, fixId: fix, file: "no.txt", tool: "write_file" },
  ])
  expect(await json("evidence", "fixes", "E302")).toEqual([])
  room.plan([["list_directory", { path: "none" }]])
  await room.approveAndRun()
  room.plan([["file_write", { path: "none", contents: "x" }]])
  await room.approveAndRun()
  expect(await json("evidence", "fixes", "E301")).toHaveLength(1)
  expect(await json("evidence", "fixes", "ACODE-FS-002")).toHaveLength(2)
})
