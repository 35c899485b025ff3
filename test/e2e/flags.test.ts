import { describe, expect, test } from "bun:test"
import { runAcode } from "../support/acode.ts"
import { type AgentWorkspace, agentWorkspace } from "../support/agent/agent-workspace.ts"
import { check } from "../support/checker/checker.ts"
import { planWorkspace } from "../support/plan/plan-workspace.ts"
import { missingProgram, planAndCommands, testWhere } from "../support/requirement.ts"
import { concrete, contains, reply } from "../support/script-replies.ts"
import { tempWorkspace } from "../support/workspace/temp-workspace.ts"

/** Two sessions that did something and rest at their review; gives their ids, the older first. */
async function twoSessions(room: AgentWorkspace): Promise<readonly [string, string]> {
  const ids: string[] = []
  for (const name of ["one.txt", "two.txt"]) {
    room.script(
      reply.plan({ write: [name], acceptance: [contains(name, "hello")] }),
      ...[reply.write(name, "hello\n"), reply.finish(), reply.review("approve")],
    )
    const run = await room.run("--yes=plan", "--require-review-approval")
    expect(run.exitCode).toBe(10)
    ids.push(run.events[0]?.session ?? "")
  }
  const [first = "", second = ""] = ids
  return [first, second]
}

describe("--session-id says the same as the argument", () => {
  test.each(["status", "session show", "session logs", "session validate", "session undo --preview"])(
    "of %s",
    async line => {
      using room = agentWorkspace()
      const [first] = await twoSessions(room)
      const verb = line.split(" ")
      const [named, flagged, latest] = [
        await room.acode(...verb, first),
        await room.acode(...verb, "--session-id", first),
        await room.acode(...verb),
      ]
      expect(flagged).toEqual(named)
      expect(latest.stdout).not.toBe(flagged.stdout)
    },
  )

  test("of pause and cancel, which leave every other session alone", async () => {
    using room = agentWorkspace()
    const [first, second] = await twoSessions(room)
    const states = async () =>
      JSON.parse((await room.acode("session", "list", "--json")).stdout).map(
        ({ id, state }: { id: string; state: string }) => [id, state],
      )
    const paused = await room.acode("pause", "--session-id", first, "--reason", "later")
    expect(paused).toEqual(await room.acode("pause", first, "--reason", "later"))
    expect((await room.acode("cancel", "--session-id", first, "--reason", "enough")).exitCode).toBe(0)
    expect(await states()).toEqual([
      [second, "AWAITING_APPROVAL"],
      [first, "CANCELLED"],
    ])
    expect(await check(room.workspace)).toEqual([])
  })
})

describe("--limit bounds every listing, from the newest on", () => {
  test.each(["session list", "checkpoint list", "approvals list --all"])("%s", async line => {
    using room = agentWorkspace()
    await twoSessions(room)
    const listed = async (...more: readonly string[]) =>
      JSON.parse((await room.acode(...line.split(" "), ...more, "--json")).stdout)
    const all = await listed()
    expect(all.length).toBeGreaterThan(1)
    expect(await listed("--limit", "1")).toEqual(all.slice(0, 1))
  })
})

test.each([
  ["all", "out\n", "err\n"],
  ["stdout", "out\n", ""],
  ["stderr", "", "err\n"],
  ["none", "", ""],
])("exec --capture %s", async (mode, stdout, stderr) => {
  using workspace = tempWorkspace()
  const line = ["exec", "--capture", mode, "--json", "--", "sh", "-c", "echo out; echo err >&2"]
  const run = await runAcode(line, { cwd: workspace.root, env: workspace.environment })
  expect([run.exitCode, JSON.parse(run.stdout).result]).toMatchObject([0, { stdout, stderr }])
})

test("--verbose says how a command ended, and config show --key shows one section", async () => {
  using workspace = tempWorkspace()
  const acode = (...args: readonly string[]) =>
    runAcode(args, { cwd: workspace.root, env: workspace.environment })
  const plain = await acode("exec", "--", "echo", "hi")
  const verbose = await acode("--verbose", "exec", "--", "echo", "hi")
  expect([plain.stdout, verbose.stdout]).toEqual(["hi\n", "hi\n"])
  expect(plain.stderr).not.toContain("exited exit=0")
  expect(verbose.stderr).toMatch(/^acode: exe_\S+ exited exit=0 in /m)
  const section = JSON.parse((await acode("config", "show", "--key", "execution.audit", "--json")).stdout)
  expect(Object.keys(section)).toEqual(["enabled", "retention_days", "include_output", "max_output_bytes"])
})

describe("executions are found by what they belong to", () => {
  test("runs list --task-id and --run-id, and runs prune --run-id", async () => {
    using room = agentWorkspace()
    const command = (id: string) => concrete(id, "run_command", { argv: ["echo", id] })
    room.script(
      reply.plan({ id: "t1", steps: [command("a")] }, { id: "t2", steps: [command("b"), command("c")] }),
      reply.review("approve"),
    )
    expect((await room.run(`--yes=${planAndCommands}`)).exitCode).toBe(41)
    await room.acode("exec", "--", "echo", "d")
    const listed = async (...more: readonly string[]): Promise<readonly string[]> =>
      JSON.parse((await room.acode("runs", "list", ...more, "--json")).stdout).map(
        ({ commandLine }: { commandLine: string }) => commandLine,
      )
    expect(await listed()).toEqual(["echo d", "echo c", "echo b", "echo a"])
    expect(await listed("--task-id", "t2")).toEqual(["echo c", "echo b"])
    const [newest] = JSON.parse((await room.acode("runs", "list", "--limit", "1", "--json")).stdout)
    const shown = JSON.parse((await room.acode("runs", "show", newest.id, "--json")).stdout)
    const { runId } = shown.correlationIds
    expect(await listed("--run-id", runId)).toEqual(["echo d"])
    expect((await room.acode("runs", "prune", "--run-id", runId)).exitCode).toBe(0)
    expect(await listed()).toEqual(["echo c", "echo b", "echo a"])
    expect(await check(room.workspace)).toEqual([])
  })
})

describe("at a terminal", () => {
  const ofTerminal = testWhere(missingProgram("/usr/bin/python3"))
  const python = "import os,pty,sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))"
  const through = ["/usr/bin/python3", "-c", python]

  ofTerminal("--no-color leaves colours out", async () => {
    using workspace = tempWorkspace()
    const where = { cwd: workspace.root, env: workspace.environment, through }
    expect((await runAcode(["runs", "list"], where)).stdout).toContain("\u001b[2mno executions")
    expect((await runAcode(["runs", "list", "--no-color"], where)).stdout).toBe("no executions\r\n")
  })

  ofTerminal("--non-interactive asks nobody: a step that wants to be confirmed is refused", async () => {
    using room = planWorkspace()
    room.plan([["write_file", { path: "a", content: "a" }, { requires_confirmation: true }]])
    expect((await room.acode("plan", "approve", room.planFile)).exitCode).toBe(0)
    const where = { cwd: room.workspace.root, env: room.workspace.environment, through }
    const run = await runAcode(["plan", "run", room.planFile, "--non-interactive"], where)
    expect([run.exitCode, run.stdout]).toEqual([33, expect.stringContaining("E105")])
  })
})
