import { describe, expect, test } from "bun:test"
import { chmodSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { runAcode, startAcode } from "../support/acode.ts"
import { agentWorkspace } from "../support/agent/agent-workspace.ts"
import { check } from "../support/checker/checker.ts"
import { eventually } from "../support/eventually.ts"
import { planWorkspace } from "../support/plan/plan-workspace.ts"
import { missingSandbox, testWhere } from "../support/requirement.ts"
import { reply } from "../support/script-replies.ts"
import { type TempWorkspace, tempWorkspace } from "../support/workspace/temp-workspace.ts"

const started = (workspace: TempWorkspace, ...args: readonly string[]) =>
  runAcode(args, { cwd: workspace.root, env: workspace.environment })

const codeOf = async (workspace: TempWorkspace, ...command: readonly string[]) =>
  JSON.parse((await started(workspace, "exec", "--json", "--", ...command)).stdout).result.error?.code

describe("why a command did not run is told by its code", () => {
  test("ACODE-EXE-001, 005 and 006: no such program, not executable, no such directory", async () => {
    using workspace = tempWorkspace({ files: { "plain.txt": "text\n" } })
    expect(await codeOf(workspace, "no-such-program-anywhere")).toBe("ACODE-EXE-001")
    expect(await codeOf(workspace, "./plain.txt")).toBe("ACODE-EXE-005")
    const lost = await started(workspace, "exec", "--cwd", "nowhere", "--", "true")
    expect([lost.exitCode, lost.stderr]).toEqual([125, expect.stringContaining("ACODE-EXE-006")])
  })

  testWhere(missingSandbox)("ACODE-EXE-011: it is there, and not inside the sandbox", async () => {
    using workspace = tempWorkspace()
    const program = join(workspace.outside, "tool")
    writeFileSync(program, "#!/bin/sh\necho hello\n")
    chmodSync(program, 0o755)
    expect(await codeOf(workspace, program)).toBe("ACODE-EXE-011")
  })

  test("ACODE-EXE-009 and 013: somebody stopped it, and acode was killed while it ran", async () => {
    using workspace = tempWorkspace()
    const where = { cwd: workspace.root, env: workspace.environment }
    for (const [signal, code] of [
      ["SIGINT", "ACODE-EXE-009"],
      ["SIGKILL", "ACODE-EXE-013"],
    ] as const) {
      await using running = startAcode(["exec", "--", "sh", "-c", "echo ready > ready; sleep 60"], where)
      await eventually("it runs", () => Bun.file(join(workspace.root, "ready")).exists())
      await started(workspace, "exec", "--", "rm", "ready")
      running.kill(signal)
      await running.ended
      const all = JSON.parse((await started(workspace, "runs", "list", "--json")).stdout)
      const slept = all.find(({ commandLine }: { commandLine: string }) => commandLine.includes("sleep"))
      const shown = await eventually("it has a result", async () => {
        const { exitCode, stdout } = await started(workspace, "runs", "show", slept.id, "--json")
        return exitCode === 0 ? JSON.parse(stdout) : null
      })
      expect(shown.result.error.code).toBe(code)
    }
  })
})

describe("why a patch does not fit is told by its code", () => {
  const head = "--- a/a.txt\n+++ b/a.txt\n"
  test.each([
    ["ACODE-PAT-001", { path: "a.txt", patch: "no patch at all" }],
    ["ACODE-PAT-002", { path: "a.txt", patch: `${head}@@ -1 +1 @@\n-three\n+four\n` }],
    [
      "ACODE-PAT-003",
      { path: "a.txt", patch: "diff --git a/a.txt b/b.txt\nrename from a.txt\nrename to b.txt\n" },
    ],
    ["ACODE-PAT-004", { path: "a.txt", edits: [{ search: "two", replace: "three" }] }],
    ["ACODE-PAT-005", { path: "b.txt", patch: "--- /dev/null\n+++ b/b.txt\n@@ -0,0 +1 @@\n+new\n" }],
  ])("%s, and the file is as it was", async (code, args) => {
    using room = planWorkspace({ files: { "a.txt": "one\ntwo\ntwo\n", "b.txt": "there\n" } })
    room.plan([["modify_file", args]])
    const { run, result } = await room.approveAndRun()
    expect([run.exitCode, result.step_results[0]?.error_code]).toEqual([30, code])
    const file = (name: string) => Bun.file(join(room.workspace.root, name)).text()
    expect([await file("a.txt"), await file("b.txt")]).toEqual(["one\ntwo\ntwo\n", "there\n"])
    expect(await check(room.workspace)).toEqual([])
  })
})

test("ACODE-EXEC-007: a model that gives a tool something else than it takes is told so", async () => {
  using room = agentWorkspace()
  room.script(
    reply.plan({ write: ["a.txt"] }),
    reply.calls(["read_file", { path: "a.txt", from_line: "first" }]),
    reply.giveUp("it does not work"),
  )
  const run = await room.run("--yes=plan")
  expect([run.exitCode, run.data("tool_call.settled")]).toMatchObject([
    30,
    [{ outcome: "failed", error: { code: "ACODE-EXEC-007" } }],
  ])
})

test.each([
  ["ACODE-CFG-002", "schema_version: [\n"],
  ["ACODE-CFG-003", 'schema_version: "1"\nexecution: { max_concurrent: 17 }\n'],
  ["ACODE-CFG-004", `schema_version: "1"\n# ${"x".repeat(1_100_000)}\n`],
])("%s: nothing runs under a configuration that cannot be used", async (code, text) => {
  using workspace = tempWorkspace({ files: { ".agent/config.yml": text } })
  const run = await started(workspace, "session", "prune")
  expect([run.exitCode, run.stderr]).toEqual([3, expect.stringContaining(`error ${code}: `)])
})

test("checkpoint.restored is in the log when a person brings back what undo removed", async () => {
  using room = planWorkspace()
  room.plan([["write_file", { path: "a.txt", content: "one\n" }]])
  expect((await room.approveAndRun()).run.exitCode).toBe(0)
  expect((await room.acode("session", "undo", "--yes")).exitCode).toBe(0)
  const [kept] = JSON.parse((await room.acode("checkpoint", "list", "--json")).stdout)
  expect((await room.acode("checkpoint", "restore", kept.id, "--yes")).exitCode).toBe(0)
  expect(await Bun.file(join(room.workspace.root, "a.txt")).text()).toBe("one\n")
  expect(await check(room.workspace)).toEqual([])
})
