import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { acodeProgram } from "../../support/acode.ts"
import { type AgentWorkspace, agentWorkspace, type ReplyText } from "../../support/agent/agent-workspace.ts"
import { check } from "../../support/checker/checker.ts"
import { missingProgram, testWhere } from "../../support/requirement.ts"
import { contains, greeting, open, reply } from "../../support/script-replies.ts"
import { openTerminal } from "../../support/terminal/terminal.ts"

let room: AgentWorkspace
beforeEach(() => {
  room = agentWorkspace({ files: { "notes.txt": "the word is swordfish\n" } })
})
afterEach(() => room[Symbol.dispose]())

const script = () => ["--script", room.scriptFile]
/** Runs as a person does, without `--json`. */
const told = (...args: readonly string[]) => room.acode("run", "do what is asked", ...args, ...script())

describe("--max-tokens", () => {
  /** Each reply of the greeting takes what is listed. */
  const taking = (...inputs: readonly number[]) =>
    greeting().map((each, index) => ({ ...each, usage: { input: inputs[index] ?? 0, output: 100 } }))

  test("that a reply goes beyond ends the session, although its work is done and approved", async () => {
    room.script(...taking(3_000, 3_000, 3_000, 2_500))
    const run = await room.run("--yes=plan", "--max-tokens", "11000")
    const reason = String(run.data("session.rested")[0]?.["reason"])
    expect([run.exitCode, reason]).toEqual([22, expect.stringContaining("than the 11000 allowed")])
    expect(run.data("escalation.raised")).toMatchObject([{ level: "BudgetLimit", exitCode: 22 }])
    expect(run.data("session.finished")).toEqual([])
    // What was paid for is not asked again: the same replies are enough.
    const more = /--max-tokens (\d+)/.exec(reason)?.[1] ?? ""
    const resumed = await room.resume("--max-tokens", more)
    expect([resumed.exitCode, room.file("greeting.txt")]).toEqual([0, "hello\n"])
    expect(run.data("turn.finished").length + resumed.data("turn.finished").length).toBe(4)
    expect(await check(room.workspace)).toEqual([])
  })

  test("stops before a request that would go beyond it", async () => {
    room.script(...taking(5_000, 5_000, 5_000, 5_000))
    const run = await room.run("--yes=plan", "--max-tokens", "11000")
    expect([run.exitCode, run.data("model.requested").length]).toEqual([22, 2])
    expect(run.data("session.rested")).toMatchObject([
      { reason: expect.stringMatching(/would take about \d+ tokens, and 800 of the 11000 allowed are left/) },
    ])
  })

  test("that is enough changes nothing", async () => {
    room.script(...taking(1_000, 1_000, 1_000, 1_000))
    expect((await room.run("--yes=plan", "--max-tokens", "11000")).exitCode).toBe(0)
  })
})

describe("approvals.timeout_seconds", () => {
  const tty = testWhere(missingProgram("tmux"))
  const atTerminal = (...args: readonly string[]) =>
    openTerminal({
      argv: [acodeProgram(), ...args],
      cwd: room.workspace.root,
      env: room.environment,
      rows: 60,
      columns: 160,
    })
  const configure = async (more = "") => {
    const text = `schema_version: "1"\napprovals: { timeout_seconds: 1${more} }\n`
    room.workspace.write(".agent/config.yml", text)
    expect((await room.acode("config", "trust")).exitCode).toBe(0)
  }

  tty("lets the session rest with 10 when nobody answers about the plan, who may do so later", async () => {
    await configure()
    room.script(...greeting())
    using terminal = atTerminal("run", "greet", ...script())
    await terminal.see(/a approve/)
    expect(await terminal.exitStatus()).toBe(10)
    const screen = await terminal.see(/AWAITING_APPROVAL \(exit 10\): no answer within 1 s/)
    const approve = /next: acode (approve \w+)/.exec(screen)?.[1] ?? ""
    expect((await room.acode(...approve.split(" "))).exitCode).toBe(0)
    expect((await room.resume()).exitCode).toBe(0)
    expect(await check(room.workspace)).toEqual([])
  })

  const asking = [
    reply.plan({ acceptance: [contains("a.txt", "a")] }),
    ...[reply.write("a.txt", "a\n"), reply.giveUp("not allowed")],
  ]

  tty("refuses an action that nobody answers about, tells the model, and is on record", async () => {
    await configure()
    room.script(...asking)
    using terminal = atTerminal("run", "write", "--yes=plan", ...script())
    expect(await terminal.exitStatus()).toBe(33)
    await terminal.see(/not approved: no answer within 1 s: write a.txt/)
    const logs = (await room.acode("session", "logs", "--json")).stdout
    const answers = logs.split("\n").filter(line => line.includes('"approval.answered"'))
    expect(JSON.parse(answers.at(-1) ?? "").data).toMatchObject({
      answer: "refused",
      by: "nobody",
      via: "nobody",
      reason: "no answer within 1 s",
    })
    expect(room.file("a.txt")).toBeNull()
    expect(await check(room.workspace)).toEqual([])
  })

  tty("leaves it open and rests with 10 where the configuration says so", async () => {
    await configure(", non_interactive: rest")
    room.script(...asking.slice(0, 2), reply.finish(), reply.review("approve"))
    using terminal = atTerminal("run", "write", "--yes=plan", ...script())
    expect(await terminal.exitStatus()).toBe(10)
    const [{ id }] = JSON.parse((await room.acode("approvals", "list", "--json")).stdout)
    expect((await room.acode("approve", id)).exitCode).toBe(0)
    expect([(await room.resume()).exitCode, room.file("a.txt")]).toEqual([0, "a\n"])
    expect(await check(room.workspace)).toEqual([])
  })
})

describe("--yes=all --ack-danger", () => {
  test("accepts the plan as well", async () => {
    room.script(...greeting())
    const run = await room.run("--yes=all", "--ack-danger")
    expect([run.exitCode, room.file("greeting.txt")]).toEqual([0, "hello\n"])
  })

  test("still stops at the plan with --approve-plan", async () => {
    room.script(...greeting())
    expect((await room.run("--yes=all", "--ack-danger", "--approve-plan")).exitCode).toBe(10)
  })
})

test("each stage reports its own tokens, and together they are those of the session", async () => {
  const used = [100, 20, 30, 400].map(input => ({ usage: { input, output: 5 } }))
  room.script(...greeting().map((each, index) => ({ ...each, ...used[index] })))
  const run = await room.run("--yes=plan")
  const perStage = (run.data("stage.finished") as { stage: string; tokens: number }[]).map(
    ({ stage, tokens }) => [stage, tokens],
  )
  expect(perStage).toEqual([
    ["planner", 105],
    ["executor", 60],
    ["verifier", 0],
    ["reviewer", 405],
  ])
  expect(run.data("stage.transitioned").map(({ tokensUsed }) => tokensUsed)).toEqual([105, 60, 0, 405])
})

test("what a failed check printed never makes a line with an escaped line break in it", async () => {
  const noisy = ["sh", "-c", "echo one; echo two; exit 3"]
  const acceptance = [{ id: "a1", kind: "command", command: noisy }]
  room.script(
    reply.plan({ write: ["a.txt"], commands: [["sh", "-c"]], acceptance }),
    reply.write("a.txt", "a\n"),
    reply.finish("all\nis well"),
  )
  const run = await told("--yes=plan,terminal", "--max-cycles", "0")
  expect([run.exitCode, run.stdout]).toEqual([40, expect.stringContaining("    one\n    two\n")])
  for (const line of ["status", "session show", "session list"]) {
    const { stdout } = await room.acode(...line.split(" "))
    expect(`${run.stdout}${stdout}`.split("\n").filter(each => each.includes("\\n"))).toEqual([])
  }
  expect(run.stdout).toMatch(
    /^⚠ PAUSED \(exit 40\): verification failed: a1: exit code 3 … \(ACODE-ORCH-001\)\n→ fix it by hand/m,
  )
})

describe("resume without an id", () => {
  /** Rests with a step that failed, and its first step is undone. */
  async function undone(): Promise<string> {
    const steps = [open("s1"), open("s2")]
    const acceptance = [contains("b.txt", "b")]
    room.script(
      reply.plan({ write: ["*.txt"], steps, acceptance }),
      ...[reply.write("a.txt", "a\n"), reply.finish(), reply.giveUp("cannot")],
      ...[reply.write("b.txt", "b\n"), reply.finish(), reply.review("approve")],
    )
    const run = await room.run("--yes=plan")
    expect(run.exitCode).toBe(30)
    expect((await room.acode("session", "undo", "--yes")).exitCode).toBe(0)
    return run.events[0]?.session ?? ""
  }

  test("refuses a cancelled one, and does not take up an older one instead that was undone", async () => {
    const older = await undone()
    expect((await room.run("--plan-only")).exitCode).toBe(0)
    expect((await room.acode("cancel", "--reason", "no need")).exitCode).toBe(0)
    const { exitCode, stderr } = await room.acode("resume", ...script())
    expect([exitCode, stderr]).toEqual([2, expect.stringMatching(/has ended \(CANCELLED\):.*no need/)])
    const events = (await room.acode("session", "logs", older, "--json")).stdout
    expect([events.includes("session.resumed"), room.file("b.txt")]).toEqual([false, null])
  })

  test("refuses one that was undone, and takes it up when it is named", async () => {
    const id = await undone()
    const { exitCode, stderr } = await room.acode("resume", ...script())
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("was undone at")])
    const named = await room.acode("resume", id, ...script())
    expect([named.exitCode, room.file("b.txt")]).toEqual([0, "b\n"])
  })

  test("names an earlier session that waits, in a command that resumes it", async () => {
    room.script(...greeting())
    expect((await room.run("--plan-only")).exitCode).toBe(0)
    const [waiting] = JSON.parse((await room.acode("session", "list", "--json")).stdout)
    expect((await room.run("--plan-only")).exitCode).toBe(0)
    await room.acode("cancel")
    const refused = await room.acode("resume", ...script())
    const command = /`acode (resume \w+)/.exec(refused.stderr)?.[1] ?? ""
    expect([refused.exitCode, command]).toEqual([2, `resume ${waiting.id.slice(-8)}`])
    expect((await room.acode(...command.split(" "), "--yes=plan", ...script())).exitCode).toBe(0)
    expect(await check(room.workspace)).toEqual([])
  })
})

describe("steps", () => {
  const listed = async () => {
    const [session] = JSON.parse((await room.acode("session", "list", "--json")).stdout)
    return [session.stepsDone, session.stepCount]
  }

  test("that fix something count among all steps, and none counts twice", async () => {
    const fixed = (content: string) => [reply.write("a.txt", content), reply.finish()]
    room.script(
      reply.plan({ write: ["a.txt"], acceptance: [contains("a.txt", "right")] }),
      ...[...fixed("wrong\n"), ...fixed("still wrong\n"), ...fixed("right\n"), reply.review("approve")],
    )
    expect((await room.run("--yes=plan")).exitCode).toBe(0)
    expect(await listed()).toEqual([3, 3])
    expect((await room.acode("session", "list")).stdout).toContain(" 3/3  do what is asked")
    expect((await room.acode("session", "show")).stdout).toContain("[STEP 3/3] ✓ t1.fix2")
  })

  test("of a plan that was replaced are told as such, and those it keeps stay done", async () => {
    const step = (id: string) => open(id)
    const plan = (...ids: readonly string[]) =>
      reply.plan({ write: ["*.txt"], steps: ids.map(step), acceptance: [contains("c.txt", "c")] })
    const write = (name: string) => [reply.write(`${name}.txt`, `${name}\n`), reply.finish()]
    room.script(
      ...[plan("s1", "s2", "s3"), ...write("a"), ...write("b"), ...write("c"), reply.review("replan")],
      ...[plan("s1", "s4"), ...write("d"), reply.review("approve")],
    )
    expect((await room.run("--yes=plan")).exitCode).toBe(0)
    expect(await listed()).toEqual([2, 2])
    const shown = (await room.acode("session", "show")).stdout
    expect([...(shown.match(/^\[(?:PLAN \d )?STEP .*\]/gm) ?? [])]).toEqual([
      ...["[PLAN 1 STEP 1/3]", "[PLAN 1 STEP 2/3]", "[PLAN 1 STEP 3/3]", "[STEP 2/2]"],
    ])
    expect((await room.acode("audit", "verify")).exitCode).toBe(0)
  })
})

/** Sessions that end in different ways, each made anew for every command that it advises. */
const endings: [string, readonly ReplyText[], readonly string[]][] = [
  ["done and verified", greeting(), ["--yes=plan"]],
  [
    "a question that was answered",
    [
      reply.plan({ intent: "READ", steps: [open("s1", "READ_FILE")] }),
      reply.calls(["read_file", { path: "notes.txt" }]),
      ...[reply.finish("swordfish"), reply.review("approve")],
    ],
    ["--yes=plan"],
  ],
  ["a plan that waits for its approval", greeting(), []],
  ["only a plan", greeting(), ["--plan-only"]],
  [
    "a step that failed",
    [...greeting().slice(0, 1), reply.giveUp("no"), ...greeting().slice(1)],
    ["--yes=plan"],
  ],
  ["the turn limit", greeting(), ["--yes=plan", "--max-turns", "1"]],
  ["a budget that is too small", greeting(), ["--yes=plan", "--max-tokens", "3000"]],
]

describe("every command that the end of a run advises is accepted as printed", () => {
  test.each(endings)("%s", async (_, replies, flags) => {
    const commands: string[][] = []
    for (let at = 0; at === 0 || at < commands.length; at++) {
      using made = agentWorkspace({ files: { "notes.txt": "the word is swordfish\n" } })
      made.script(...replies)
      const { stdout } = await made.acode("run", "do it", ...flags, "--script", made.scriptFile)
      const advised = commandsIn(stdout)
      if (at === 0) commands.push(...advised)
      const { exitCode, stderr } = await made.acode(...(advised[at] ?? []))
      expect([advised[at], exitCode === 2, stderr]).toEqual([
        advised[at],
        false,
        expect.not.stringContaining("error "),
      ])
    }
    expect(commands.length).toBeGreaterThan(0)
  })

  /** What stands behind `next:`, and each `acode …` of the line that says what to do. */
  function commandsIn(told: string): string[][] {
    const lines = told.split("\n")
    const next =
      lines
        .find(line => line.startsWith("next: "))
        ?.slice("next: ".length)
        .split("  ·  ") ?? []
    const advice = lines.find(line => line.startsWith("→ ")) ?? ""
    const inAdvice = [...advice.matchAll(/acode [a-z][^`;,]*/g)].map(([command]) => command.trim())
    return [...next, ...inAdvice].map(command => command.split(" ").slice(1))
  }
})
