import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { join } from "node:path"
import { acodeProgram, runAcode } from "../../support/acode.ts"
import { type AgentWorkspace, agentWorkspace } from "../../support/agent/agent-workspace.ts"
import { check } from "../../support/checker/checker.ts"
import { contains, greeting, open, reply } from "../../support/script-replies.ts"
import { changeDatabase } from "../../support/workspace/at-the-file.ts"

let room: AgentWorkspace
beforeEach(() => {
  room = agentWorkspace()
})
afterEach(() => room[Symbol.dispose]())

const script = () => ["--script", room.scriptFile]
const statusOf = async () => JSON.parse((await room.acode("status", "--json")).stdout)

describe("run", () => {
  test("with --json is the event stream and nothing else, from the first event to the last", async () => {
    room.script(...greeting())
    const run = await room.run("--yes=plan")
    expect(run.exitCode).toBe(0)
    const lines = run.stdout.trimEnd().split("\n")
    expect(lines).toHaveLength(run.events.length)
    expect(run.events.map(({ seq }) => seq)).toEqual(lines.map((_, index) => index + 1))
    expect(run.events[0]).toMatchObject({ schema: 1, type: "session.started" })
    expect(run.events.at(-1)).toMatchObject({
      type: "session.finished",
      data: { state: "COMPLETED", exitCode: 0, unverified: false },
    })
    for (const event of run.events) {
      const more = event === run.events.at(-1) ? ["changes"] : []
      expect(Object.keys(event)).toEqual(["schema", "seq", "at", "session", "type", "trace", "data", ...more])
      expect(event).toMatchObject({
        session: run.events[0]?.session,
        trace: expect.stringMatching(/^[0-9a-f]{32}$/),
      })
    }
    const logs = await room.acode("session", "logs", "--json")
    const logged = logs.stdout.trimEnd().split("\n")
    // What is counted at the end of a run is beside its last event, not in it.
    const events = lines.map(line => ({ ...JSON.parse(line), changes: undefined }))
    expect(logged.map(line => JSON.parse(line))).toEqual(events)
    expect(await check(room.workspace)).toEqual([])
  })

  test("tells people every stage, and with --quiet only how it ended", async () => {
    room.script(...greeting())
    const told = await room.acode("task", "add a greeting", "--multi-stage", "--yes=plan", ...script())
    expect(told.exitCode).toBe(0)
    for (const part of ["[PLANNER] ", "[EXECUTOR] step 1/1", "[VERIFIER] ✓ a1", "[REVIEWER] approve"])
      expect(told.stdout).toContain(part)
    expect(told.stdout).toContain(
      "  [tool:write_file] greeting.txt\n  [result] succeeded, changed greeting.txt",
    )
    expect(told.stdout).toContain("✓ COMPLETED (exit 0): done and verified")
    expect(told.stdout).toMatch(/next: acode session show \w{8} {2}· {2}acode session undo \w{8}/)
    expect(told.stdout).not.toContain("\u001b")
    await room.acode("session", "undo")
    const quiet = await room.acode("run", "again", "--yes=plan", "--quiet", ...script())
    expect(quiet.stdout.split("\n")[0]).toBe("✓ COMPLETED (exit 0): done and verified")
  })

  test("without an answer to the plan rests with 10; approved elsewhere it goes on", async () => {
    room.script(...greeting())
    const run = await room.run()
    expect(run.exitCode).toBe(10)
    expect(run.events.at(-1)).toMatchObject({
      type: "session.rested",
      data: { state: "AWAITING_APPROVAL", exitCode: 10 },
    })
    const status = await statusOf()
    expect(status).toMatchObject({ state: "AWAITING_APPROVAL", stage: "planner", isDriven: false })
    const [{ approvalId }] = status.waitsFor
    expect((await room.acode("approve", approvalId)).exitCode).toBe(0)
    const answered = await statusOf()
    expect(answered.reason).toMatch(/^answered: granted by \S+; `acode resume \w+ --script FILE` continues$/)
    expect(answered.next[0]).toMatch(/^acode resume /)
    const shown = (await room.acode("session", "show")).stdout
    expect(shown).toContain(answered.reason)
    expect(shown).toMatch(/^\[PLAN 1\] \S+, approved by \S+/m)
    const resumed = await room.resume()
    expect(resumed.exitCode).toBe(0)
    expect(resumed.events[0]).toMatchObject({ type: "session.resumed", session: run.events[0]?.session })
    expect(room.file("greeting.txt")).toBe("hello\n")
    expect((await room.acode("session", "validate")).exitCode).toBe(0)
  })

  test("--approve-plan stops for a person although --yes accepts plans", async () => {
    room.script(...greeting())
    expect((await room.run("--yes=plan", "--approve-plan")).exitCode).toBe(10)
  })

  test("--plan-only ends with 0 and nothing done; resume does it", async () => {
    room.script(...greeting())
    const run = await room.run("--plan-only", "--yes=plan")
    expect(run.exitCode).toBe(0)
    expect(room.file("greeting.txt")).toBeNull()
    expect((await room.resume()).exitCode).toBe(0)
    expect(room.file("greeting.txt")).toBe("hello\n")
    const shown = (await room.acode("session", "show")).stdout
    expect([shown.includes("COMPLETED"), shown.includes("StageFailed")]).toEqual([true, false])
  })

  test("--skip-verify needs a person, or both flags that say so; then the result is unverified", async () => {
    room.script(...greeting())
    const refused = await room.acode("run", "x", "--skip-verify", "--yes=plan", ...script())
    expect(refused.exitCode).toBe(33)
    expect(refused.stderr).toContain("ACODE-EXEC-005")
    expect(await room.acode("session", "list", "--json")).toMatchObject({ stdout: "[]\n" })
    const run = await room.run("--skip-verify", "--yes=all,plan", "--ack-danger")
    expect(run.exitCode).toBe(0)
    expect(run.stderr).toContain("⚠ --skip-verify")
    expect(run.events.at(-1)?.data).toMatchObject({ state: "COMPLETED", unverified: true })
    expect((await room.acode("session", "logs", "--filter", "skip")).stdout).toContain("session.started")
  })

  test("--show-model-progress shows on standard error what the model says", async () => {
    const [plan, write, ...rest] = greeting()
    room.script(plan ?? {}, { ...write, text: "I write it \u001b[2J now" }, ...rest)
    const run = await room.run("--yes=plan", "--show-model-progress")
    expect(run.stderr).toContain("I write it \\x1b[2J now\n")
    expect(run.stdout).not.toContain("\u001b")
  })

  test("what was recorded is replayed without the script, with the same calls", async () => {
    room.script(...greeting())
    const recording = join(room.workspace.outside, "recording.jsonl")
    const first = await room.run("--yes=plan", "--record", recording)
    expect(first.exitCode).toBe(0)
    await room.acode("session", "undo")
    const replay = await room.acode("run", "do what is asked", "--yes=plan", "--replay", recording, "--json")
    expect(replay.exitCode).toBe(0)
    expect(room.file("greeting.txt")).toBe("hello\n")
  })

  test("whose reader goes away rests like after Ctrl-C", async () => {
    room.script(...greeting())
    const line = `"$0" run x --yes=plan --json --script "$1" | head -n 1`
    const child = Bun.spawn(["sh", "-c", line, acodeProgram(), room.scriptFile], {
      cwd: room.workspace.root,
      env: room.environment,
      stdout: "pipe",
    })
    expect((await child.stdout.text()).trimEnd().split("\n")).toHaveLength(1)
    await child.exited
    const status = await statusOf()
    expect([0, 130]).toContain(status.exitCode)
    expect(status.isDriven).toBe(false)
    expect((await room.acode("session", "validate")).exitCode).toBe(0)
  })

  test.each([
    [["run"], "needs GOAL"],
    [["run", " "], "the goal is empty"],
    [["run", "two", "words"], "one argument too many"],
    [["run", "x", "--max-cycles", "11"], "--max-cycles takes a whole number from 0 to 10"],
    [["run", "x", "--disable-path-validation"], "paths are always checked"],
    [["run", "x", "--max-tokens", "0"], "--max-tokens takes a whole number from 1"],
    [["run", "x", "--mode", "cloud"], "is not one of local-only, burst, airgapped"],
    [["run", "x", "--model", "ollama/"], "is not the name of a model"],
    [["resume"], "there is no session to resume in this workspace"],
    [["resume", "nothing"], "no session has the id"],
    [["status", "nothing"], "no session has the id"],
    [["pause", "nothing"], "no session has the id"],
    [["cancel", "nothing"], "no session has the id"],
    [["session", "validate", "nothing"], "no session has the id"],
  ])("%j is a mistake: exit 2, and nothing has begun", async (line, message) => {
    const { exitCode, stderr } = await room.acode(...line)
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(message)])
  })
})

describe("--context-files", () => {
  test("that match nothing are told once, and such as lead outside are refused", async () => {
    room.script(...greeting())
    const outside = await room.run("--yes=plan", "--context-files", "../../etc/passwd")
    expect([outside.exitCode, outside.stdout]).toEqual([2, expect.stringContaining("--context-files: ")])
    expect((await room.acode("session", "list", "--json")).stdout).toBe("[]\n")
    const told = "--context-files nope* matches no file of the workspace"
    const run = await room.run("--yes=plan", "--plan-only", "--context-files", "nope*")
    expect([run.exitCode, run.stderr]).toEqual([0, expect.stringContaining(told)])
    expect((await room.resume()).stderr).not.toContain(told)
  })
})

describe("resume", () => {
  const careful = [
    reply.plan({ steps: [open("s1")], acceptance: [contains("new.txt", "hello")] }),
    reply.calls(["list_directory", { path: "." }]),
    reply.write("new.txt", "hello\n"),
    reply.finish(),
    reply.review("approve"),
  ]

  test("keeps what was recorded, also what --yes answers, and changes what is given", async () => {
    room.script(...careful)
    const run = await room.run("--yes=plan,file_write", "--max-turns", "1", "--max-cycles", "2")
    expect(run.exitCode).toBe(31)
    const resumed = await room.resume("--max-turns", "5")
    expect(resumed.exitCode).toBe(0)
    expect(resumed.events[0]?.data).toMatchObject({
      settings: { yes: "plan,file_write", limits: { turnsMax: 5, cyclesMax: 2 } },
    })
    expect(room.file("new.txt")).toBe("hello\n")
  })

  test("without that answer the write is refused, and the run that cannot go on exits 33", async () => {
    room.script(...careful.slice(0, 3), reply.giveUp("not allowed"))
    const run = await room.acode("run", "x", "--yes=plan", ...script())
    expect(run.exitCode).toBe(33)
    expect(run.stdout).toContain("⚠ refused: [tool:write_file] new.txt — ")
    expect(room.file("new.txt")).toBeNull()
  })

  test("--skip-failed-step goes on without it", async () => {
    const steps = [open("s1"), open("s2")]
    room.script(
      reply.plan({ write: ["a.txt"], steps, acceptance: [contains("a.txt", "a")] }),
      reply.giveUp("cannot"),
      reply.write("a.txt", "a\n"),
      reply.finish(),
      reply.review("approve"),
    )
    const run = await room.run("--yes=plan")
    expect(run.exitCode).toBe(30)
    const resumed = await room.resume("--skip-failed-step")
    expect(resumed.exitCode).toBe(0)
    expect((await room.acode("session", "show")).stdout).toContain("[VERIFIER] ✓ success")
  })

  test("of a session that has ended is refused", async () => {
    room.script(...greeting())
    const { events } = await room.run("--yes=plan")
    const again = await room.acode("resume", events[0]?.session ?? "", ...script())
    expect([again.exitCode, again.stderr]).toEqual([2, expect.stringContaining("the session has ended")])
  })
})

describe("session validate", () => {
  test("names what is wrong with a record that somebody changed, and exits 65", async () => {
    room.script(...greeting())
    await room.run("--yes=plan")
    const valid = await room.acode("session", "validate", "--json")
    expect([valid.exitCode, JSON.parse(valid.stdout)]).toMatchObject([0, { ok: true, problems: [] }])
    changeDatabase(
      room.workspace.state("workspace.db"),
      'UPDATE events SET data = replace(data, \'"to":"verifier"\', \'"to":"reviewer"\')',
    )
    const altered = await room.acode("session", "validate")
    expect(altered.exitCode).toBe(65)
    expect(altered.stdout).toContain("its content does not match its signature")
    expect(altered.stdout).toContain("is not valid")
  })
})

test("the limits of the configuration hold for a session, and flags come before them", async () => {
  room.workspace.write(".agent/config.yml", 'schema_version: "1"\norchestration: { cycle_limit: 1 }\n')
  room.script(...greeting())
  const configured = await room.run("--yes=plan", "--plan-only")
  expect(configured.events[0]?.data).toMatchObject({ agent: { limits: { cyclesMax: 1 } } })
  const given = await runAcode(["run", "x", "--plan-only", "--max-cycles", "4", "--json", ...script()], {
    cwd: room.workspace.root,
    env: room.environment,
  })
  expect(JSON.parse(given.stdout.split("\n")[0] ?? "")).toMatchObject({
    data: { agent: { limits: { cyclesMax: 4 } } },
  })
})
