import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { runAcode } from "../../support/acode.ts"
import { check } from "../../support/checker/checker.ts"
import { seeded, seedSession } from "../../support/crash/seeded-session.ts"
import { planWorkspace } from "../../support/plan/plan-workspace.ts"
import { type TempWorkspace, tempWorkspace } from "../../support/workspace/temp-workspace.ts"

let workspace: TempWorkspace
beforeAll(() => {
  workspace = tempWorkspace()
  seedSession(workspace)
})
afterAll(() => workspace[Symbol.dispose]())

function acode(...args: readonly string[]) {
  return runAcode(["evidence", ...args], { cwd: workspace.root, env: workspace.environment })
}

async function json(...args: readonly string[]) {
  return JSON.parse((await acode(...args, "--json")).stdout)
}

async function ids(...args: readonly string[]): Promise<readonly string[]> {
  return (await json(...args)).map((row: { id: string }) => row.id)
}

test("a call that changed more than stands in its event is found by each file", async () => {
  using room = planWorkspace()
  room.plan([["run_command", { argv: ["sh", "-c", "mkdir d; for i in $(seq 101); do echo x > d/$i; done"] }]])
  expect((await room.approveAndRun()).run.exitCode).toBe(0)
  for (const verb of ["by-file", "latest"])
    expect(JSON.parse((await room.acode("evidence", verb, "d/101", "--json")).stdout)).toHaveLength(1)
  expect(await check(room.workspace)).toEqual([])
})

describe("evidence", () => {
  test("is found by tool in either spelling, and says the name as it was written", async () => {
    for (const name of ["file_write", "write_file"])
      expect(await json("by-tool", name)).toMatchObject([{ id: seeded.writing, tool: "file_write" }])
    expect(await ids("by-tool", "read_file")).toEqual([seeded.reading])
  })

  test("of failures is found with and without a tool", async () => {
    expect(await json("failures")).toMatchObject([
      { id: seeded.failing, status: "failed", exitCode: 2, errorCode: "ACODE-EXE-003", stepId: "s2" },
    ])
    expect(await ids("failures", "run_command")).toEqual([seeded.failing])
    expect(await ids("failures", "read_file")).toEqual([])
  })

  test("is found by code and by file, newest first", async () => {
    expect(await ids("by-code", "TS2322")).toEqual([seeded.failing])
    const newestFirst = [seeded.writing, seeded.failing, seeded.reading]
    for (const path of ["src/a.ts", "./src/../src/a.ts", join(workspace.root, "src/a.ts")])
      expect(await ids("by-file", path)).toEqual(newestFirst)
  })

  test("latest is the last call that concerned a path", async () => {
    expect(await ids("latest", "src/a.ts")).toEqual([seeded.writing])
    expect(await ids("latest", "src/none.ts")).toEqual([])
  })

  test("recurring counts what came back", async () => {
    const [row, ...others] = await json("recurring", "--threshold", "1")
    expect(row).toMatchObject({ id: "TS2322", code: "TS2322", ids: [seeded.failing] })
    expect(others).toEqual([])
    expect(await json("recurring", "--threshold", "100")).toEqual([])
  })

  test("fixes are the changes that came after", async () => {
    expect(await json("fixes", "TS2322")).toMatchObject([
      { id: seeded.writing, diagnosticId: seeded.failing, fixId: seeded.writing, file: "src/a.ts" },
    ])
  })

  test("show has arguments and everything it gave back, by the end of the id", async () => {
    const shown = await json("show", seeded.writing.slice(-8))
    expect(shown).toMatchObject({
      id: seeded.writing,
      sessionId: seeded.session,
      planId: "plan-1",
      arguments: { path: "a.txt" },
      paths: ["src/a.ts"],
    })
    expect(shown.artifacts.map((artifact: { kind: string }) => artifact.kind)).toContain("result")
  })

  test("can be narrowed: since is inclusive, until exclusive, limit bounds", async () => {
    const [{ at }] = await json("by-tool", "read_file")
    expect(await ids("by-tool", "read_file", "--since", at)).toEqual([seeded.reading])
    expect(await ids("by-tool", "read_file", "--until", at)).toEqual([])
    expect(await ids("by-file", "src/a.ts", "--limit", "2")).toHaveLength(2)
  })

  test.each([
    "by-tool write_file",
    "failures",
    "by-code TS2322",
    "by-file src/a.ts",
    "recurring --threshold 1",
    "fixes TS2322",
  ])("%s can be narrowed by each flag", async line => {
    const query = line.split(" ")
    const found = await json(...query)
    expect(found.length).toBeGreaterThan(0)
    expect(await json(...query, "--since", "1h", "--until", "2100-01-01")).toEqual(found)
    expect(await json(...query, "--until", "2000-01-01")).toEqual([])
    expect(await json(...query, "--limit", "1")).toEqual(found.slice(0, 1))
  })

  test.each([
    ["--limit", "0"],
    ["--since", "yesterday"],
  ])("%s %s is refused", async (flag, value) => {
    const run = await acode("failures", flag, value)
    expect(run.exitCode).toBe(2)
    expect(run.stderr).toContain("ACODE-CLI-002")
  })
})

describe("for people", () => {
  test("each row is a line that a terminal does not act on", async () => {
    const { stdout } = await acode("failures")
    expect(stdout).toMatch(
      /^✗ 0000bbb2 {2}\S+Z {2}run_command +failed +4 ms {2}step s2 {2}ACODE-EXE-003: tsc \\x1b\[31mfailed\n$/,
    )
    expect((await acode("by-file", "src/a.ts")).stdout.split("\n")).toHaveLength(4)
    expect((await acode("recurring", "--threshold", "1")).stdout).toMatch(/^ +\d × TS2322 {2}\S+Z to \S+Z\n$/)
    expect((await acode("fixes", "TS2322")).stdout).toMatch(
      /^0000bbb2 → 0000bbb3 {2}after \d+ ms {2}write_file {2}src\/a\.ts\n$/,
    )
  })

  test("one row is told field by field", async () => {
    const { stdout } = await acode("show", "0000bbb2")
    expect(stdout).toMatch(/^status +failed, its effect took place$/m)
    expect(stdout).toMatch(/^error +ACODE-EXE-003: tsc \\x1b\[31mfailed$/m)
    expect(stdout).toMatch(/^diagnostics +\[/m)
  })

  test("no rows is no error, and says so beside the answer", async () => {
    const run = await acode("by-code", "TS9999")
    expect(run).toMatchObject({ exitCode: 0, stdout: "", stderr: "nothing found\n" })
    expect(await acode("by-code", "TS9999", "--json")).toMatchObject({ exitCode: 0, stdout: "[]\n" })
  })

  test("an unknown id exits 2", async () => {
    const run = await acode("show", "zzzz")
    expect(run.exitCode).toBe(2)
    expect(run.stderr).toContain("ACODE-CLI-004")
  })
})

test("a code that a plan run printed finds its call, and no call that the plan format does not mean", async () => {
  using room = planWorkspace()
  const failed: (string | null | undefined)[] = []
  for (const path of ["no", "nor-this"]) {
    room.plan([["file_read", { path }]])
    const [step] = (await room.approveAndRun()).result.step_results
    expect(step?.error_code).toBe("E301")
    failed.unshift(step?.execution_id)
  }
  room.plan([["list_directory", { path: "no" }]])
  await room.approveAndRun()
  const found = async (...flags: string[]) => {
    const { stdout } = await room.acode("evidence", "by-code", "E301", "--json", ...flags)
    return JSON.parse(stdout).map((row: { id: string }) => row.id)
  }
  expect(await found()).toEqual(failed)
  expect(await found("--limit", "1")).toEqual(failed.slice(0, 1))
})

test("a workspace without history has none and is left alone", async () => {
  using other = tempWorkspace()
  for (const query of [
    ["by-tool", "glob"],
    ["failures"],
    ["latest", "a"],
    ["recurring"],
    ["fixes", "E301"],
  ]) {
    const run = await runAcode(["evidence", ...query, "--json"], { cwd: other.root, env: other.environment })
    expect(run).toMatchObject({ exitCode: 0, stdout: "[]\n" })
  }
  expect(existsSync(join(other.root, ".agent"))).toBe(false)
})
