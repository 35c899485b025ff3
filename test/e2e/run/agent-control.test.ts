import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { acodeProgram, type RunningAcode } from "../../support/acode.ts"
import { type AgentWorkspace, agentWorkspace } from "../../support/agent/agent-workspace.ts"
import { check } from "../../support/checker/checker.ts"
import { eventually } from "../../support/eventually.ts"
import { contains, greeting, reply } from "../../support/script-replies.ts"

let room: AgentWorkspace
beforeEach(() => {
  room = agentWorkspace()
})
afterEach(() => room[Symbol.dispose]())

const slow = (answer: Readonly<Record<string, unknown>>, afterMs: number) => ({
  ...answer,
  fault: { kind: "slow", after_ms: afterMs },
})

/** A file is written at once; what the model says next takes its time. */
function slowSession(afterMs: number) {
  room.script(
    reply.plan({ write: ["a.txt", "b.txt"], acceptance: [contains("b.txt", "b")] }),
    reply.write("a.txt", "a\n"),
    slow(reply.write("b.txt", "b\n"), afterMs),
    reply.finish(),
    reply.review("approve"),
  )
}

/** `run` in the background, once it has done its first call and waits for the model. */
async function working(...flags: readonly string[]): Promise<RunningAcode> {
  const running = room.start("run", "x", "--yes=plan", "--json", "--script", room.scriptFile, ...flags)
  await eventually("the first file is there", () => room.file("a.txt"))
  await eventually("the model is asked what comes after it", async () => {
    const logs = await room.acode("session", "logs", "--filter", "model.requested", "--json")
    return logs.stdout.trimEnd().split("\n").length === 3
  })
  return running
}

const lastOf = (stdout: string) => JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "")

describe("Ctrl-C", () => {
  test.each([
    ["SIGINT", "paused by the person at the terminal: interrupted"],
    ["SIGTERM", "paused by SIGTERM: its process received a signal to end"],
  ] as const)(
    "once (%s) lets the reply come to its end and rests with 130; resume goes on",
    async (signal, reason) => {
      slowSession(2500)
      await using running = await working()
      running.kill(signal)
      const { exitCode, stdout, stderr } = await running.ended
      expect(exitCode).toBe(130)
      expect(stderr).toContain("Ctrl-C again stops it at once")
      expect(lastOf(stdout)).toMatchObject({
        type: "session.rested",
        data: { state: "PAUSED", exitCode: 130, reason },
      })
      expect(stdout.split("\n").filter(line => line.includes('"turn.finished"'))).toHaveLength(3)
      expect(room.file("b.txt")).toBeNull()
      const resumed = await room.resume()
      expect(resumed.exitCode).toBe(0)
      expect(room.file("b.txt")).toBe("b\n")
      expect(await check(room.workspace)).toEqual([])
    },
  )

  test("twice stops what is being done at once", async () => {
    slowSession(60_000)
    await using running = await working()
    running.kill("SIGINT")
    // The second one comes when the first has been heard.
    const again = setInterval(() => running.kill("SIGINT"), 200)
    try {
      const { exitCode, stdout } = await running.ended
      expect(exitCode).toBe(130)
      expect(lastOf(stdout).type).toBe("session.rested")
      expect(stdout.split("\n").filter(line => line.includes('"turn.finished"'))).toHaveLength(2)
    } finally {
      clearInterval(again)
    }
    expect((await room.acode("session", "validate")).exitCode).toBe(0)
  })
})

test("a reader that has gone is told as that, and as nobody at a terminal", async () => {
  slowSession(500)
  const line = `"$0" run x --yes=plan --script "$1" | head -n 1; exit "\${PIPESTATUS[0]}"`
  const shell = Bun.spawn(["bash", "-c", line, acodeProgram(), room.scriptFile], {
    cwd: room.workspace.root,
    env: room.environment,
    stdout: "ignore",
    stderr: "ignore",
  })
  expect(await shell.exited).toBe(130)
  expect(JSON.parse((await room.acode("status", "--json")).stdout)).toMatchObject({
    state: "PAUSED",
    exitCode: 130,
    reason: "paused by a closed pipe: the reader of its output is gone",
  })
})

describe("another terminal", () => {
  test("sees what works, pauses it, and takes it up again", async () => {
    slowSession(4000)
    await using running = await working()
    const status = JSON.parse((await room.acode("status", "--json")).stdout)
    expect(status).toMatchObject({
      isDriven: true,
      stage: "executor",
      step: "s1",
      stepsDone: 0,
      stepCount: 1,
    })
    const paused = await room.acode("pause", "--reason", "lunch")
    expect([paused.exitCode, paused.stdout]).toEqual([
      0,
      expect.stringContaining("its process pauses it after the current"),
    ])
    const { exitCode, stdout } = await running.ended
    expect(exitCode).toBe(22)
    expect(lastOf(stdout).data.reason).toContain("lunch")
    const again = await room.acode("pause")
    expect([again.exitCode, again.stderr]).toEqual([
      2,
      expect.stringContaining("no process works on the session"),
    ])
    expect((await room.resume()).exitCode).toBe(0)
  })

  test("cancels it, for good", async () => {
    slowSession(4000)
    await using running = await working()
    const told = await room.acode("cancel", "--reason", "no longer wanted", "--json")
    expect(JSON.parse(told.stdout)).toMatchObject({ control: "cancel", outcome: "told" })
    const { exitCode, stdout } = await running.ended
    expect(exitCode).toBe(23)
    expect(lastOf(stdout)).toMatchObject({
      type: "session.finished",
      data: { state: "CANCELLED", exitCode: 23 },
    })
    const resumed = await room.acode("resume", "--script", room.scriptFile)
    expect(resumed.exitCode).toBe(2)
    const again = await room.acode("cancel")
    expect([again.exitCode, again.stderr]).toEqual([2, expect.stringContaining("the session has ended")])
    expect(again.stderr).toContain("shows how; `acode session undo ")
    expect(await check(room.workspace)).toEqual([])
  })

  test("cancels what rests, itself", async () => {
    room.script(...greeting())
    expect((await room.run()).exitCode).toBe(10)
    const cancelled = await room.acode("cancel")
    expect([cancelled.exitCode, cancelled.stdout]).toEqual([0, expect.stringMatching(/^cancelled \w{8}\n$/)])
    expect(JSON.parse((await room.acode("status", "--json")).stdout)).toMatchObject({
      state: "CANCELLED",
      exitCode: 23,
      waitsFor: [],
    })
    expect((await room.acode("session", "validate")).exitCode).toBe(0)
  })

  test("cannot start a second session meanwhile, unless it waits for the first one", async () => {
    slowSession(4000)
    await using running = await working()
    const refused = await room.acode("run", "y", "--yes=plan", "--script", room.scriptFile)
    expect(refused.exitCode).toBe(1)
    expect(refused.stderr).toMatch(/session ses_\S+ works in this workspace \(process \d+\)/)
    await using waiting = room.start("run", "y", "--plan-only", "--wait", "--script", room.scriptFile)
    const [first, second] = await Promise.all([running.ended, waiting.ended])
    expect([first.exitCode, second.exitCode]).toEqual([0, 0])
  })

  test("that waits is let go by Ctrl-C", async () => {
    slowSession(4000)
    await using running = await working()
    await using waiting = room.start("run", "y", "--wait", "--script", room.scriptFile)
    const again = setInterval(() => waiting.kill("SIGINT"), 300)
    try {
      const { exitCode, signal } = await waiting.ended
      // Before it listens the signal ends it as it ends every program.
      expect(exitCode === 130 || signal === "SIGINT").toBe(true)
    } finally {
      clearInterval(again)
    }
    expect((await running.ended).exitCode).toBe(0)
  })
})

test("a plan run is a session that nobody resumes or controls from elsewhere", async () => {
  const planFile = room.workspace.write(
    "plan.json",
    JSON.stringify({
      plan_id: "p",
      intent: "READ",
      evidence_referenced: [],
      steps: [
        {
          step_id: "s1",
          tool: "file_read",
          arguments: { path: "plan.json" },
          precondition: "none",
          requires_confirmation: false,
        },
      ],
    }),
  )
  const approved = await room.acode("plan", "approve", planFile)
  expect([approved.exitCode, approved.stderr]).toEqual([0, ""])
  expect((await room.acode("plan", "run", planFile)).exitCode).toBe(0)
  const [{ id }] = JSON.parse((await room.acode("session", "list", "--json")).stdout)
  for (const verb of ["resume", "pause", "cancel"]) {
    const { exitCode, stderr } = await room.acode(verb, id)
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("this plan run has ended")])
    expect(stderr).toContain("`acode plan run FILE` runs the plan again")
  }
  expect((await room.acode("session", "validate", id)).exitCode).toBe(0)
  expect((await room.acode("status", id)).stdout).toContain("(plan)")
})
