import { Database } from "bun:sqlite"
import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { type AgentWorkspace, agentWorkspace } from "../../support/agent/agent-workspace.ts"
import { check } from "../../support/checker/checker.ts"
import { eventually } from "../../support/eventually.ts"
import { planAndCommands } from "../../support/requirement.ts"
import { contains, greeting, open, reply } from "../../support/script-replies.ts"

let room: AgentWorkspace
beforeEach(() => {
  room = agentWorkspace({ files: { "notes.txt": "one\n" } })
})
afterEach(() => room[Symbol.dispose]())

const plan = reply.plan({ write: ["greeting.txt"], acceptance: [contains("greeting.txt", "hello")] })
const attempt = (text: string) => [reply.write("greeting.txt", text), reply.finish()]
const session = async () => JSON.parse((await room.acode("session", "list", "--json")).stdout)[0]

describe("user verification scenarios of the pipeline", () => {
  test("UVS-11 all four stages one after the other, and what was asked for is there", async () => {
    room.script(...greeting())
    const run = await room.run("--yes=plan")
    expect([run.exitCode, room.file("greeting.txt")]).toEqual([0, "hello\n"])
    expect(run.data("stage.finished").map(({ stage, status }) => [stage, status])).toEqual([
      ["planner", "success"],
      ["executor", "success"],
      ["verifier", "success"],
      ["reviewer", "success"],
    ])
    expect(await check(room.workspace)).toEqual([])
    expect((await room.acode("audit", "verify")).exitCode).toBe(0)
  })

  test("UVS-12 a verification that fails sends the work back, with what failed, until it holds", async () => {
    room.script(
      plan,
      ...attempt("hallo\n"),
      ...attempt("hullo\n"),
      ...attempt("hello\n"),
      reply.review("approve"),
    )
    const run = await room.run("--yes=plan")
    expect(run.exitCode).toBe(0)
    expect(run.data("cycle.started").map(({ count, limit }) => [count, limit])).toEqual([
      [1, 3],
      [2, 3],
    ])
    expect(run.data("step.started").map(({ stepId }) => stepId)).toEqual(["s1", "t1.fix1", "t1.fix2"])
    const [, again] = run.data("stage.entered").filter(({ stage }) => stage === "executor")
    expect(again).toMatchObject({ feedback: [expect.stringContaining("no line of greeting.txt matches")] })
    expect(await check(room.workspace)).toEqual([])
  })

  test("UVS-13 a review that wants another plan gets one, and what is done stays done", async () => {
    room.script(
      ...greeting(
        reply.review("replan", "a farewell is missing"),
        reply.plan(
          { write: ["greeting.txt"], acceptance: [contains("greeting.txt", "hello")] },
          { write: ["bye.txt"], acceptance: [contains("bye.txt", "bye")] },
        ),
        reply.write("bye.txt", "bye\n"),
        reply.finish(),
        reply.review("approve"),
      ),
    )
    const run = await room.run("--yes=plan")
    expect([run.exitCode, room.file("bye.txt")]).toEqual([0, "bye\n"])
    expect(run.data("plan.proposed").map(({ version }) => version)).toEqual([1, 2])
    expect(run.data("cycle.started")).toMatchObject([{ from: "reviewer", to: "planner", count: 1 }])
    expect(run.data("step.started").map(({ taskId }) => taskId)).toEqual(["t1", "t2"])
    expect(await check(room.workspace)).toEqual([])
  })

  test("UVS-14 what never holds rests with exit 21, says what to do, and goes on once it is mended", async () => {
    room.script(plan, ...["a", "b", "c", "d"].flatMap(text => attempt(`${text}\n`)), reply.review("approve"))
    const run = await room.run("--yes=plan")
    expect([run.exitCode, run.data("escalation.raised")]).toMatchObject([21, [{ level: "CycleLimit" }]])
    expect(await session()).toMatchObject({ state: "PAUSED", exitCode: 21 })
    expect(run.data("session.rested")).toMatchObject([{ reason: expect.stringContaining("--max-cycles 6") }])
    room.workspace.write("greeting.txt", "hello by hand\n")
    expect((await room.resume()).exitCode).toBe(0)
    expect(await check(room.workspace)).toEqual([])
  })

  test("UVS-14 with --max-cycles 0 a failed verification is exit 40 at once", async () => {
    room.script(plan, ...attempt("hallo\n"))
    expect((await room.run("--yes=plan", "--max-cycles", "0")).exitCode).toBe(40)
  })

  test("UVS-15 interrupted while it executes it rests with exit 130, and goes on there", async () => {
    const steps = [open("s1"), open("s2")]
    const task = { write: ["*.txt"], acceptance: [contains("greeting.txt", "hello")], steps }
    const slow = { ...reply.write("other.txt", "x\n"), fault: { kind: "slow", after_ms: 1_500 } }
    room.script(reply.plan(task), ...attempt("hello\n"), slow, reply.finish(), reply.review("approve"))
    {
      await using running = room.start("run", "greet", "--script", room.scriptFile, "--yes=plan")
      await eventually("the first step is done", async () => (await session())?.stepsDone === 1)
      running.kill("SIGINT")
      expect((await running.ended).exitCode).toBe(130)
    }
    expect(await session()).toMatchObject({ state: "PAUSED", exitCode: 130 })
    const resumed = await room.resume()
    expect(resumed.exitCode).toBe(0)
    expect(resumed.data("stage.entered").map(({ stage }) => stage)).toEqual(["verifier", "reviewer"])
    expect(resumed.data("step.finished")).toMatchObject([{ stepId: "s2", success: true }])
    expect(await check(room.workspace)).toEqual([])
  })

  test("UVS-16 a stage that takes too long is ended cleanly with exit 20, and gets more time on request", async () => {
    room.script({ ...plan, fault: { kind: "slow", after_ms: 60_000 } }, ...attempt("hello\n"))
    const run = await room.run("--yes=plan", "--planner-timeout", "0.2")
    expect([run.exitCode, run.data("stage.finished")]).toMatchObject([20, [{ status: "timeout" }]])
    expect(run.data("session.rested")).toMatchObject([
      { reason: expect.stringContaining("--planner-timeout") },
    ])
    room.script(...greeting())
    expect((await room.resume("--planner-timeout", "30")).exitCode).toBe(0)
    expect(await check(room.workspace)).toEqual([])
  })

  test("UVS-16 a command that outlives its step is killed with everything it started, exit 34", async () => {
    const steps = [open("s1", "RUN_COMMAND")]
    room.script(
      reply.plan({ commands: [["sleep"]], steps }),
      reply.calls(["run_command", { argv: ["sleep", "1973"] }]),
    )
    const run = await room.run(`--yes=${planAndCommands}`, "--executor-step-timeout", "0.5")
    expect([run.exitCode, run.data("command.finished").length]).toEqual([34, 1])
    expect(await check(room.workspace)).toEqual([])
  })

  test("UVS-17 every stage and every step is told when it begins and when it ends", async () => {
    room.script(...greeting())
    const { exitCode, stdout } = await room.acode("run", "greet", "--script", room.scriptFile, "--yes=plan")
    expect(exitCode).toBe(0)
    for (const stage of ["PLANNER", "EXECUTOR", "VERIFIER", "REVIEWER"])
      expect(stdout.match(new RegExp(`^\\[${stage}\\]`, "gm"))?.length).toBeGreaterThanOrEqual(2)
    expect(stdout).toContain("step 1/1 s1")
    const status = await room.acode("status")
    expect([status.exitCode, status.stdout]).toEqual([0, expect.stringContaining("COMPLETED")])
  })

  test("UVS-18 what a tool gives is cut to its limit, and that it was cut is on record", async () => {
    const large = `${"x".repeat(99)}\n`.repeat(5_000)
    room.workspace.write("large.txt", large)
    room.script(
      plan,
      reply.calls(["read_file", { path: "large.txt" }]),
      ...attempt("hello\n"),
      reply.review("approve"),
    )
    const run = await room.run("--yes=plan")
    expect(run.exitCode).toBe(0)
    const [read] = shownTexts(run.events.at(0)?.session ?? "")
    expect(read?.length).toBeLessThan(70_000)
    expect(read).toMatch(/truncated|omitted|not shown|more|of 5000 lines/i)
  })
})

describe("UVS-18 a tight budget", () => {
  test("UVS-18 is kept by leaving out older results, and that is on record", async () => {
    for (const name of ["one.txt", "two.txt"]) room.workspace.write(name, `${"x".repeat(99)}\n`.repeat(200))
    room.script(
      plan,
      reply.calls(["read_file", { path: "one.txt" }]),
      reply.calls(["read_file", { path: "two.txt" }]),
      ...attempt("hello\n"),
      reply.review("approve"),
    )
    const run = await room.run("--yes=plan", "--max-context-tokens", "8000")
    expect(run.exitCode).toBe(0)
    const trimmed = run.events.filter(({ type }) => type === "context.trimmed").map(({ data }) => data)
    expect(trimmed[0]).toMatchObject({ stage: "executor", tokensMax: 8000, shortenedCount: 1 })
    for (const { tokensBefore, tokensAfter } of trimmed as { tokensBefore: number; tokensAfter: number }[]) {
      expect(tokensBefore).toBeGreaterThan(8000)
      expect(tokensAfter).toBeLessThanOrEqual(8000)
    }
  })

  test("UVS-18 that nothing fits into stops the session with what to do, exit 22", async () => {
    room.script(plan, reply.review("approve"))
    const run = await room.run("--yes=plan", "--max-context-tokens", "256")
    expect(run.exitCode).toBe(22)
    expect(run.events.at(-1)).toMatchObject({ type: "session.rested" })
    expect(JSON.stringify(run.events.at(-1))).toContain("--max-context-tokens")
  })
})

/** What the model was shown of each call, also where it is kept as an artifact. */
function shownTexts(id: string): readonly string[] {
  const agent = room.workspace.state()
  using database = new Database(join(agent, "workspace.db"), { readonly: true })
  const kept = (ref: string) => {
    const hash = ref.replace("sha256:", "")
    return readFileSync(join(agent, "artifacts", hash.slice(0, 2), hash.slice(2)), "utf8")
  }
  return database
    .query<{ data: string }, [string]>(
      "SELECT data FROM events WHERE stream = ? AND type = 'tool_call.settled' ORDER BY seq",
    )
    .all(id)
    .map(({ data }) => JSON.parse(data).text)
    .map(({ kind, text, ref }) => (kind === "inline" ? String(text) : kept(ref)))
}
