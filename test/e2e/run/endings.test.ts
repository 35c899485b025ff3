import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { rmSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { type AgentWorkspace, agentWorkspace } from "../../support/agent/agent-workspace.ts"
import { check } from "../../support/checker/checker.ts"
import { contains, greeting, open, reply } from "../../support/script-replies.ts"

let room: AgentWorkspace
beforeEach(() => {
  room = agentWorkspace({ files: { "notes.txt": "the word is swordfish\n" } })
})
afterEach(() => room[Symbol.dispose]())

const script = () => ["--script", room.scriptFile]
/** Runs as a person does, without `--json`. */
const told = (...args: readonly string[]) => room.acode("run", "do what is asked", ...args, ...script())

describe("finished, but not verified: exit 41", () => {
  const write = [reply.write("a.txt", "a\n"), reply.finish(), reply.review("approve", "fine")]

  test("where the plan has no criterion and the project no tests", async () => {
    room.script(reply.plan({ write: ["a.txt"] }), ...write)
    const run = await told("--yes=plan")
    expect([run.exitCode, room.file("a.txt")]).toEqual([41, "a\n"])
    expect(run.stdout).toMatch(
      /^⚠ COMPLETED \(exit 41\): finished, but not verified: the plan has no criterion/m,
    )
    expect(run.stdout).not.toMatch(/done and verified/)
    const finished = (await room.acode("session", "logs", "--json")).stdout.trimEnd().split("\n").at(-1) ?? ""
    expect(JSON.parse(finished)).toMatchObject({
      type: "session.finished",
      data: { state: "COMPLETED", exitCode: 41, unverified: true },
    })
    expect((await room.acode("session", "list")).stdout).toMatch(/^⚠ .* exit 41/)
    expect((await room.acode("session", "validate")).exitCode).toBe(0)
    expect(await check(room.workspace)).toEqual([])
  })

  test("where only a model has judged it", async () => {
    const acceptance = [{ id: "a1", kind: "judgement", text: "it is clear" }]
    const [first, second, review] = write
    room.script(
      reply.plan({ write: ["a.txt"], acceptance }),
      first ?? {},
      second ?? {},
      reply.judge("a1", "passed"),
      review ?? {},
    )
    const run = await room.run("--yes=plan")
    expect([run.exitCode, run.data("session.finished")]).toMatchObject([41, [{ unverified: true }]])
    expect(run.data("check.finished")).toMatchObject([{ verdict: "passed" }])
    expect(await check(room.workspace)).toEqual([])
  })

  test("but 0 where the project's own tests ran and passed", async () => {
    room.workspace.write("Makefile", "test:\n\ttrue\n")
    room.script(reply.plan({ write: ["a.txt"] }), ...write)
    const run = await room.run("--yes=plan,terminal")
    expect([run.exitCode, run.data("session.finished")]).toMatchObject([0, [{ unverified: false }]])
  })

  test("where every step was skipped, although what was checked held before", async () => {
    room.script(
      reply.plan({ write: ["a.txt"], acceptance: [contains("notes.txt", "swordfish")] }),
      reply.giveUp("cannot"),
      reply.review("approve"),
    )
    expect((await room.run("--yes=plan")).exitCode).toBe(30)
    const resumed = await room.resume("--skip-failed-step")
    expect([resumed.exitCode, resumed.data("session.finished")]).toMatchObject([
      41,
      [{ unverified: true, reason: "finished, but not verified: every step was skipped" }],
    ])
    expect(resumed.data("stage.finished")).toMatchObject([
      { stage: "executor", message: "0 of 1 steps are done, 1 skipped" },
      { stage: "verifier" },
      { stage: "reviewer" },
    ])
    expect(await check(room.workspace)).toEqual([])
  })

  test("also with --skip-verify, which grants that nothing is checked and not that nothing is done", async () => {
    room.script(reply.plan({ write: ["a.txt"] }), reply.giveUp("cannot"), reply.review("approve"))
    expect((await room.run("--yes=plan,skip_verify", "--skip-verify")).exitCode).toBe(30)
    expect((await room.resume("--skip-failed-step")).exitCode).toBe(41)
  })

  test("where no check could be run, and `acode resume` checks again", async () => {
    const acceptance = [{ id: "a1", kind: "diagnostics", path: ".", max_errors: 0 }]
    room.script(reply.plan({ write: ["a.txt"], acceptance }), ...write)
    const run = await room.run("--yes=plan")
    expect([run.exitCode, run.data("session.rested")]).toMatchObject([41, [{ unverified: true }]])
    room.workspace.write(".agent/config.yml", 'schema_version: "1"\ncommands: { lint: ["true"] }\n')
    await room.acode("config", "trust")
    expect((await room.resume("--yes=plan,terminal")).exitCode).toBe(0)
  })

  test("where a check takes away what another one found, or changes files every time", async () => {
    const command = (id: string, text: string) => ({
      id,
      kind: "command",
      command: ["sh", "-c", text],
      expect_exit: 0,
    })
    const wanting = (...acceptance: readonly object[]) => {
      room.script(reply.plan({ write: ["a.txt"], acceptance: [...acceptance] as never }), ...write)
      return told("--yes=plan,terminal", "--max-cycles", "0")
    }
    const removed = await wanting(command("there", "test -e a.txt"), command("clean", "rm -f a.txt"))
    expect([removed.exitCode, removed.stdout]).toEqual([40, expect.stringContaining("there: exit code 1")])
    const looked = await wanting(
      { id: "a1", kind: "file_exists", path: "a.txt" },
      command("clean", "rm a.txt"),
    )
    expect([looked.exitCode, looked.stdout]).toEqual([40, expect.stringContaining("a.txt does not exist")])
    const settled = await wanting(
      command("there", "test -e a.txt"),
      command("report", "date > report; : > report"),
    )
    expect([settled.exitCode, settled.stdout]).toEqual([0, expect.stringContaining("done and verified")])
    rmSync(join(room.workspace.root, "a.txt"))
    const stamped = await wanting(command("there", "test -e a.txt"), command("stamp", "date +%N >> stamps"))
    expect(stamped.exitCode).toBe(41)
    expect(stamped.stdout).toMatch(/finished, but not verified: .* changed again while t1\/stamp ran/)
    for (const run of [removed, looked, stamped]) expect(run.stdout).not.toMatch(/done and verified/)
    expect(await check(room.workspace)).toEqual([])
  })

  test("where what was checked held before the work, which changed nothing of it", async () => {
    room.script(reply.plan({ write: ["a.txt"], acceptance: [contains("notes.txt", "swordfish")] }), ...write)
    const run = await told("--yes=plan")
    expect([run.exitCode, run.stdout]).toEqual([
      41,
      expect.stringContaining(
        "finished, but not verified: the steps changed nothing that a1 covers, so it proves nothing about the work",
      ),
    ])
    expect(await check(room.workspace)).toEqual([])
  })

  test("but 0 where it looks at what was changed under another name", async () => {
    symlinkSync(".", join(room.workspace.root, "alias"))
    for (const path of ["./a.txt", "alias/a.txt"]) {
      rmSync(join(room.workspace.root, "a.txt"), { force: true })
      room.script(reply.plan({ write: ["a.txt"], acceptance: [contains(path, "a")] }), ...write)
      const run = await room.run("--yes=plan")
      expect([path, run.exitCode]).toEqual([path, 0])
    }
  })

  test("is never said of a plan run: it is completed, and says that nothing checked it", async () => {
    const steps = [{ step_id: "s1", tool: "file_write", arguments: { path: "b.txt", contents: "b\n" } }]
    const plan = JSON.stringify({ plan_id: "p1", intent: "MUTATE", steps, evidence_referenced: [] })
    const file = room.workspace.write("plan.json", plan)
    await room.acode("plan", "approve", file)
    const run = await room.acode("plan", "run", file)
    const shown = (await room.acode("session", "show")).stdout
    expect([run.exitCode, run.stdout]).toEqual([0, expect.stringContaining("completed: 1 of 1 steps")])
    expect(`${run.stdout}${shown}`).not.toMatch(/(?<!not )verified/)
    expect(shown).toContain("nothing checked the result")
    const logs = (await room.acode("session", "logs", "--json")).stdout
    expect(JSON.parse(logs.trimEnd().split("\n").at(-1) ?? "").data).toMatchObject({
      exitCode: 0,
      unverified: true,
    })
  })
})

describe("a step that its model calls done", () => {
  test("although its command failed is told so once, and then no check makes it 0 but one of its task", async () => {
    const plan = (acceptance: readonly object[]) =>
      reply.plan({
        write: ["out.txt"],
        commands: [["sh", "-c"]],
        steps: [open("s1", "RUN_COMMAND")],
        acceptance: [...acceptance] as never,
      })
    const failing = [
      reply.run("sh", "-c", "echo log > out.txt; exit 1"),
      reply.finish("works"),
      reply.finish("it works, I say"),
    ]
    room.script(plan([]), ...failing, reply.review("approve"))
    const run = await room.run("--yes=plan,terminal")
    expect(run.data("step.refused")).toMatchObject([{ reason: expect.stringContaining("exit code 1") }])
    expect([run.exitCode, run.data("session.finished")]).toMatchObject([41, [{ unverified: true }]])
    expect(run.data("step.finished")).toMatchObject([
      { success: true, message: expect.stringContaining("its last command did not succeed") },
    ])
    expect((await room.acode("session", "show")).stdout).toContain("⚠ its last command did not succeed")
    room.script(plan([contains("notes.txt", "swordfish")]), ...failing, reply.review("approve"))
    expect((await room.run("--yes=plan,terminal")).exitCode).toBe(41)
    rmSync(join(room.workspace.root, "out.txt"))
    room.script(plan([contains("out.txt", "log")]), ...failing, reply.review("approve"))
    expect((await room.run("--yes=plan,terminal")).exitCode).toBe(0)
  })

  test("although another task's check is all that passed ends with 41", async () => {
    room.script(
      reply.plan(
        { commands: [["sh", "-c"]], steps: [open("s1", "RUN_COMMAND")] },
        { write: ["b.txt"], acceptance: [contains("b.txt", "b")] },
      ),
      ...[reply.run("sh", "-c", "exit 1"), reply.finish(), reply.finish()],
      ...[reply.write("b.txt", "b\n"), reply.finish(), reply.review("approve")],
    )
    const run = await room.run("--yes=plan,terminal")
    expect([run.exitCode, run.data("session.finished")]).toMatchObject([
      41,
      [{ reason: expect.stringContaining("the last command of step s1 failed") }],
    ])
  })

  test("is believed once the command was run again and succeeded", async () => {
    room.script(
      reply.plan({
        commands: [["sh", "-c"]],
        write: ["a.txt"],
        steps: [open("s1")],
        acceptance: [contains("a.txt", "a")],
      }),
      ...[reply.run("sh", "-c", "test -f a.txt"), reply.write("a.txt", "a\n"), reply.finish("done")],
      ...[reply.run("sh", "-c", "test -f a.txt"), reply.finish("done now"), reply.review("approve")],
    )
    const run = await room.run("--yes=plan,terminal")
    expect([run.exitCode, run.data("step.refused").length]).toEqual([0, 1])
    expect(run.data("step.finished")).toMatchObject([{ success: true, message: null }])
  })

  test("although all of its calls failed is not, however often it says so", async () => {
    room.script(
      reply.plan({ steps: [open("s1", "READ_FILE")], acceptance: [contains("notes.txt", "swordfish")] }),
      reply.calls(["read_file", { path: "missing.txt" }]),
      ...[reply.finish("read"), reply.finish("read"), reply.finish("read")],
    )
    const run = await room.run("--yes=plan")
    expect(run.exitCode).toBe(22)
    expect(run.data("step.refused")[0]).toMatchObject({
      reason: expect.stringContaining("every call of this step failed"),
    })
    expect(run.data("session.rested")).toMatchObject([{ unverified: true }])
  })
})

describe("resume --skip-failed-step", () => {
  const both = { write: ["*.txt"], steps: [open("s1"), open("s2")], acceptance: [contains("b.txt", "b")] }
  const second = [reply.write("b.txt", "b\n"), reply.finish(), reply.review("approve")]

  test.each([
    ["the turn limit", [reply.calls(["list_directory", { path: "." }])], ["--max-turns", "1"], 31],
    ["no progress", Array.from({ length: 3 }, () => reply.finish("so")), [], 22],
    ["a model that does not answer", [reply.fault("executor", "disconnect")], [], 4],
  ] as const)("goes on without a step that is stuck: %s", async (_, stuck, flags, exitCode) => {
    const retries = 'schema_version: "1"\nmodel: { retry_count: 0 }\n'
    room.workspace.write(".agent/config.yml", retries)
    room.script(reply.plan(both), ...stuck, ...second)
    const run = await room.run("--yes=plan", ...flags)
    expect(run.exitCode).toBe(exitCode)
    const resumed = await room.resume("--skip-failed-step", "--max-turns", "5")
    expect([resumed.exitCode, room.file("b.txt")]).toEqual([0, "b\n"])
    expect(resumed.data("step.started")).toMatchObject([{ stepId: "s2" }])
    expect(resumed.data("session.finished")).toMatchObject([{ reason: "done and verified; skipped: s1" }])
    expect((await room.acode("session", "show")).stdout).toMatch(/^\[STEP 1\/2\] ⚠ s1 — skipped/m)
    expect(await check(room.workspace)).toEqual([])
  })

  test("is refused where no step has failed or is stuck", async () => {
    room.script(...greeting())
    await room.run("--plan-only")
    const { exitCode, stdout } = await room.resume("--skip-failed-step", "--yes=plan")
    expect([exitCode, stdout]).toEqual([2, expect.stringContaining("there is none to skip")])
  })
})

describe("a session that does not reach its goal says why by its code, in the log and to a person", () => {
  const plan = reply.plan({ write: ["a.txt"], acceptance: [contains("a.txt", "never")] })
  const attempt = (text: string) => [reply.write("a.txt", text), reply.finish()]
  const slow = { fault: { kind: "slow", after_ms: 60_000 } }

  test.each([
    ["a stage that takes too long", 20, "ORCH-002", ["--planner-timeout", "0.2"], [{ ...plan, ...slow }]],
    [
      "cycles that are spent",
      21,
      "ORCH-003",
      ["--max-cycles", "1"],
      [plan, ...attempt("a"), ...attempt("b")],
    ],
    ["a review that wants more", 50, "ORCH-001", ["--max-cycles", "0"], [...greeting(reply.review("fix"))]],
    ["no valid plan", 22, "ORCH-004", [], Array.from({ length: 3 }, () => reply.plan())],
    ["what does not fit", 22, "ORCH-005", ["--max-context-tokens", "256"], [plan]],
    ["a step that gives up", 30, "EXEC-001", [], [plan, reply.giveUp("cannot")]],
    ["turns that are spent", 31, "EXEC-003", ["--max-turns", "1"], [plan, reply.write("a.txt", "a")]],
    ["a path outside", 32, "EXEC-004", [], [plan, reply.write("../x", "x"), reply.giveUp("not allowed")]],
    [
      "a step that takes too long",
      34,
      "EXEC-006",
      ["--executor-step-timeout", "0.2"],
      [plan, { ...attempt("a")[0], ...slow }],
    ],
    ["a script that does not fit", 4, "MODEL-002", [], [reply.review("approve")]],
  ])("%s: exit %d, ACODE-%s", async (_, exitCode, code, flags, replies) => {
    room.script(...replies)
    const run = await told("--yes=plan", ...flags)
    expect([run.exitCode, run.stdout]).toEqual([exitCode, expect.stringContaining(` (ACODE-${code})\n`)])
    const last = (await room.acode("session", "logs", "--json")).stdout.trimEnd().split("\n").at(-1) ?? ""
    expect(JSON.parse(last)).toMatchObject({ data: { exitCode, code: `ACODE-${code}` } })
    expect(await check(room.workspace)).toEqual([])
  })

  test("and one that a person ended: exit 23, ACODE-ORCH-007", async () => {
    room.script(...greeting())
    await room.run("--yes=plan", "--plan-only")
    await room.acode("cancel", "--reason", "enough")
    const last = (await room.acode("session", "logs", "--json")).stdout.trimEnd().split("\n").at(-1) ?? ""
    expect(JSON.parse(last)).toMatchObject({
      type: "session.finished",
      data: { exitCode: 23, code: "ACODE-ORCH-007" },
    })
  })
})
