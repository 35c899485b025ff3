import { Database } from "bun:sqlite"
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { copyFileSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { runAcode, startAcode } from "../../support/acode.ts"
import { agentWorkspace } from "../../support/agent/agent-workspace.ts"
import { eventually } from "../../support/eventually.ts"
import { planWorkspace } from "../../support/plan/plan-workspace.ts"
import { missingProgram } from "../../support/requirement.ts"
import { contains, open, reply } from "../../support/script-replies.ts"
import { changeDatabase } from "../../support/workspace/at-the-file.ts"
import { type TempWorkspace, tempWorkspace } from "../../support/workspace/temp-workspace.ts"

let workspace: TempWorkspace

beforeAll(async () => {
  workspace = tempWorkspace({ git: true })
  for (const line of [["true"], ["sh", "-c", "echo out; echo err >&2; exit 3"], ["sh", "-c", "seq 1 400000"]])
    await acode("exec", "--", ...line)
})
afterAll(() => workspace[Symbol.dispose]())

function acode(...args: string[]) {
  return runAcode(args, { cwd: workspace.root, env: workspace.environment })
}

async function json(...args: string[]) {
  const result = await acode("--json", ...args)
  return JSON.parse(result.stdout)
}

describe("runs list", () => {
  test("shows every execution, newest first", async () => {
    const listed = await json("runs", "list")
    expect(listed.map((row: { commandLine: string }) => row.commandLine)).toEqual([
      "sh -c 'seq 1 400000'",
      "sh -c 'echo out; echo err >&2; exit 3'",
      "true",
    ])
  })

  test("--failed shows those that did not succeed", async () => {
    const listed = await json("runs", "list", "--failed")
    expect(listed).toHaveLength(1)
    expect(listed[0]).toMatchObject({ ending: "exited", exitCode: 3, success: false })
  })

  test("--command, --limit, --since and --until narrow it down", async () => {
    expect(await json("runs", "list", "--command", "sh *")).toHaveLength(2)
    expect(await json("runs", "list", "--limit", "1")).toHaveLength(1)
    expect(await json("runs", "list", "--since", "1h")).toHaveLength(3)
    expect(await json("runs", "list", "--until", "2020-01-01")).toEqual([])
  })

  test("a time that is none is refused with what is allowed", async () => {
    const result = await acode("runs", "list", "--since", "yesterday")
    expect(result.exitCode).toBe(2)
    expect(result.stderr).toContain("2026-01-15T00:00:00Z")
  })

  test("a workspace without history lists nothing and is left alone", async () => {
    using other = tempWorkspace()
    const result = await runAcode(["runs", "list", "--json"], { cwd: other.root, env: other.environment })
    expect(result).toMatchObject({ exitCode: 0, stdout: "[]\n" })
    expect([readdirSync(other.root), readdirSync(other.stateHome)]).toEqual([[], []])
  })
})

describe("runs show", () => {
  test("gives what exec --json gave", async () => {
    const given = await json("exec", "--", "sh", "-c", "echo same")
    expect(await json("runs", "show", given.id)).toEqual(given)
    expect(await json("runs", "show", given.id.slice(-8))).toEqual(given)
  })

  test("a long output is bounded in the record and whole with --full-output", async () => {
    const [latest] = await json("runs", "list", "--command", "*seq*")
    const record = await json("runs", "show", latest.id)
    expect(record.result.truncation.stdout).toMatchObject({ originalBytes: 2_688_895 })
    expect(record.result.stdout.length).toBeLessThan(1_100_000)
    const full = await acode("runs", "show", latest.id, "--full-output")
    expect(full.stdout.length).toBe(2_688_895)
    expect(full.stdout.endsWith("\n400000\n")).toBe(true)
  })

  test("names no output that is not kept, and neither does exec", async () => {
    using other = tempWorkspace()
    mkdirSync(join(other.configHome, "acode"))
    const settings = 'schema_version: "1"\nexecution: { audit: { include_output: false } }\n'
    writeFileSync(join(other.configHome, "acode", "config.yml"), settings)
    const options = { cwd: other.root, env: other.environment }
    const given = await runAcode(["exec", "--json", "--", "seq", "1", "400000"], options)
    const { id, result } = JSON.parse(given.stdout)
    expect(result.truncation.stdout).toMatchObject({ originalBytes: 2_688_895, artifact: null })
    expect(result.artifacts).toEqual({ stdout: null, stderr: null })
    const shown = await runAcode(["runs", "show", id, "--json"], options)
    expect(JSON.parse(shown.stdout).result).toEqual({ ...result, stdout: "", stderr: "" })
    expect((await runAcode(["audit", "verify"], options)).exitCode).toBe(0)
  })

  test("--context shows what it belongs to", async () => {
    const [latest] = await json("runs", "list")
    const shown = await acode("runs", "show", latest.id, "--context")
    expect(shown.stdout).toMatch(/^runId +run_/m)
    // Without git the test's workspace has no commit.
    expect(shown.stdout).toMatch(
      missingProgram("git") === null ? /^repoSha +[0-9a-f]{40}$/m : /^repoSha +-$/m,
    )
  })

  test("a command that still runs has no result, and that is said", async () => {
    using other = tempWorkspace()
    const options = { cwd: other.root, env: other.environment }
    await using running = startAcode(["exec", "--", "sleep", "60"], options)
    const row = await eventually("the command has begun", async () => {
      const listed = JSON.parse((await runAcode(["runs", "list", "--json"], options)).stdout)
      return listed[0] as { readonly id: string } | undefined
    })
    const shown = await runAcode(["runs", "show", row.id], options)
    expect([shown.exitCode, shown.stdout]).toEqual([1, ""])
    expect(shown.stderr).toContain(`error ACODE-EXE-014: the command is still running`)
    running.kill("SIGINT")
    expect((await running.ended).exitCode).toBe(130)
    expect((await runAcode(["runs", "show", row.id], options)).exitCode).toBe(0)
  })

  test("an unknown id exits 2, an ambiguous one too", async () => {
    expect(await acode("runs", "show", "zzzz")).toMatchObject({ exitCode: 2 })
    const ambiguous = await acode("runs", "show", "exe_")
    expect(ambiguous.exitCode).toBe(2)
    expect(ambiguous.stderr).toContain("ACODE-CLI-005")
  })
})

test("runs stats counts them", async () => {
  const stats = await json("runs", "stats")
  expect(stats.executions).toBeGreaterThanOrEqual(3)
  expect(stats.failed).toBe(1)
  expect(stats.databaseBytes).toBeGreaterThan(0)
})

test("audit verify is content with an honest history", async () => {
  const result = await acode("audit", "verify")
  expect(result.exitCode).toBe(0)
  expect(result.stdout).toMatch(/^ok: \d+ events in \d+ streams, anchored up to \d+\n$/)
})

describe("what was changed behind acode's back is found", () => {
  function tampered(sql: string): TempWorkspace {
    const copy = tempWorkspace()
    mkdirSync(copy.state(), { recursive: true, mode: 0o700 })
    for (const [from, to] of [
      [workspace.state(), copy.state()],
      [workspace.dataHome, copy.dataHome],
    ] as const)
      expect(Bun.spawnSync(["cp", "-a", `${from}/.`, to]).exitCode).toBe(0)
    changeDatabase(copy.state("workspace.db"), sql)
    return copy
  }

  for (const [what, sql] of [
    ["an edited event", "UPDATE events SET data = replace(data, 'exit 3', 'exit 0') WHERE position = 3"],
    ["a deleted event", "DELETE FROM events WHERE position = 4"],
    ["a deleted stream", "DELETE FROM events WHERE stream = (SELECT stream FROM events WHERE position = 3)"],
    ["a cut-off end", "DELETE FROM events WHERE position > 2"],
  ] as const)
    test(what, async () => {
      using copy = tampered(sql)
      const result = await runAcode(["audit", "verify"], { cwd: copy.root, env: copy.environment })
      expect(result.exitCode).toBe(65)
      expect(result.stderr).toContain("ACODE-SEC-004")
      expect(result.stderr).toMatch(/exe_|position \d+/)
    })

  test("a database restored from before", async () => {
    using copy = tempWorkspace()
    const acodeThere = (...args: string[]) => runAcode(args, { cwd: copy.root, env: copy.environment })
    await acodeThere("exec", "--", "true")
    const database = copy.state("workspace.db")
    const saved = join(copy.outside, "saved.db")
    new Database(database).run(`VACUUM INTO '${saved}'`)
    await acodeThere("exec", "--", "false")
    for (const name of readdirSync(copy.state()))
      if (name.startsWith("workspace.db")) rmSync(copy.state(name))
    copyFileSync(saved, database)
    expect((await acodeThere("audit", "verify")).exitCode).toBe(65)
  })
})

test("audit verify of a command that a session ran looks at the session", async () => {
  using room = planWorkspace()
  room.plan([["run_command", { argv: ["seq", "1", "5000"] }]])
  expect((await room.approveAndRun()).run.exitCode).toBe(0)
  const [{ id }] = JSON.parse((await room.acode("runs", "list", "--json")).stdout)
  const verified = await room.acode("audit", "verify", id, "--json")
  expect([verified.exitCode, JSON.parse(verified.stdout).events > 5]).toEqual([0, true])
  const database = new Database(room.workspace.state("workspace.db"))
  database.run("UPDATE executions SET exit_code = 1")
  database.close()
  expect((await room.acode("audit", "verify", id)).exitCode).toBe(65)
})

test("prune removes executions and the history still verifies", async () => {
  using own = tempWorkspace()
  const there = (...args: string[]) => runAcode(args, { cwd: own.root, env: own.environment })
  await there("exec", "--", "seq", "1", "100000")
  await there("exec", "--", "true")
  expect((await there("runs", "prune", "--older-than", "0s", "--json")).exitCode).toBe(0)
  expect((await there("runs", "list", "--json")).stdout).toBe("[]\n")
  expect((await there("exec", "--", "true")).exitCode).toBe(0)
  expect((await there("audit", "verify")).exitCode).toBe(0)
  expect(JSON.parse((await there("runs", "stats", "--json")).stdout)).toMatchObject({
    executions: 1,
    artifactCount: 0,
  })
})

test("prune leaves a session everything it needs to go on, however long its texts are", async () => {
  using agent = agentWorkspace()
  const long = "a line of a long text\n".repeat(1_000)
  agent.workspace.write("long.txt", long)
  const steps = [open("s1", "GENERATE_CODE", { title: "t".repeat(200) }), open("s2", "GENERATE_CODE")]
  const description = "d".repeat(20_000)
  const plan = { write: ["**"], acceptance: [contains("last.txt", "x")], steps, more: { description } }
  const begun = [
    reply.plan(plan),
    reply.calls(["read_file", { path: "long.txt" }]),
    reply.write("copy.txt", long),
  ]
  agent.script(...begun)
  expect((await agent.run("--yes=plan")).exitCode).toBe(4)
  const artifacts = agent.workspace.state("artifacts")
  const files = readdirSync(artifacts, { recursive: true, withFileTypes: true }).filter(each => each.isFile())
  for (const { parentPath, name } of files) utimesSync(join(parentPath, name), 1, 1)
  expect(files.length).toBeGreaterThan(3)
  expect((await agent.acode("runs", "prune", "--older-than", "0s")).exitCode).toBe(0)
  expect((await agent.acode("audit", "verify")).exitCode).toBe(0)
  agent.script(
    ...begun,
    reply.finish(),
    reply.write("last.txt", "x\n"),
    reply.finish(),
    reply.review("approve"),
  )
  const resumed = await agent.resume("--yes=plan")
  expect(resumed.stderr).toBe("")
  expect(resumed.exitCode).toBe(0)
  expect(agent.file("copy.txt")).toBe(long)
  expect((await agent.acode("audit", "verify")).exitCode).toBe(0)
})
