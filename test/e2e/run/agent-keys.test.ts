import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type AgentWorkspace, agentWorkspace, type ReplyText } from "../../support/agent/agent-workspace.ts"
import { check } from "../../support/checker/checker.ts"
import { planAndCommands } from "../../support/requirement.ts"
import { contains, greeting, reply } from "../../support/script-replies.ts"

let room: AgentWorkspace
beforeEach(() => {
  room = agentWorkspace({ files: { "notes.txt": "notes\n", "more.txt": "more\n" } })
})
afterEach(() => room[Symbol.dispose]())

/** Writes the user's own file. */
function configure(sections: Readonly<Record<string, unknown>>): void {
  const directory = join(room.workspace.configHome, "acode")
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  writeFileSync(join(directory, "config.yml"), JSON.stringify({ schema_version: "1", ...sections }))
}

const slow = (text: ReplyText | undefined): ReplyText => ({
  ...text,
  fault: { kind: "slow", after_ms: 60_000 },
})
const judged = reply.plan({ write: ["a.txt"], acceptance: [{ id: "a1", kind: "judgement", text: "clear" }] })
const plan = reply.plan({ write: ["a.txt"], acceptance: [contains("a.txt", "hello")] })
const attempt = (text: string) => [reply.write("a.txt", text), reply.finish()]

/** What a session does until the model is slow at this stage. */
const slowAt = {
  planner: [slow(plan)],
  executor: [plan, slow(reply.finish())],
  verifier: [judged, ...attempt("hello\n"), slow(reply.judge("a1", "passed"))],
  reviewer: [plan, ...attempt("hello\n"), slow(reply.review("approve"))],
} as const

describe("a stage has the time that is configured, and another one on the command line", () => {
  test.each(["planner", "executor", "verifier", "reviewer"] as const)("the %s", async stage => {
    configure({ orchestration: { [`${stage}_timeout_seconds`]: 0.4 } })
    room.script(...slowAt[stage])
    const late = await room.run("--yes=plan")
    const said = (seconds: number) => [{ reason: `the ${stage} did not finish within ${seconds} s` }]
    expect([late.exitCode, late.data("escalation.raised")]).toMatchObject([20, said(0.4)])
    const again = await room.resume(`--${stage}-timeout`, "0.6")
    expect([again.exitCode, again.data("escalation.raised")]).toMatchObject([20, said(0.6)])
    // A step that writes what is there already would rightly not be done.
    rmSync(join(room.workspace.root, "a.txt"), { force: true })
    const other = await room.run("--yes=plan", `--${stage}-timeout`, "0.5")
    expect([other.exitCode, other.data("escalation.raised")]).toMatchObject([20, said(0.5)])
    expect(await check(room.workspace)).toEqual([])
  })
})

describe("what bounds a session is configured", () => {
  test.each([
    ["executor", "max_turns_per_step", 1, 31, [plan, reply.write("a.txt", "hello\n")]],
    ["executor", "step_timeout_seconds", 0.3, 34, slowAt.executor],
    ["orchestration", "cycle_limit", 0, 40, [plan, ...attempt("bye\n")]],
    ["orchestration", "stage_retry_limit", 0, 22, [reply.plan(), reply.plan()]],
    ["model", "retry_count", 0, 4, [reply.fault("planner", "overloaded"), plan]],
  ] as const)("%s.%s: %p ends it with exit %d", async (section, key, value, exitCode, replies) => {
    configure({ [section]: { [key]: value } })
    room.script(...replies)
    const run = await room.run("--yes=plan")
    expect([run.exitCode, run.data("session.rested")]).toMatchObject([exitCode, [{ exitCode }]])
    expect(await check(room.workspace)).toEqual([])
  })
})

test.each(["test", "build", "lint"])("commands.%s decides whether the work is right", async name => {
  const diagnostics = { id: "a1", kind: "diagnostics", path: ".", max_errors: 0 }
  for (const [program, exitCode] of [
    ["true", 0],
    ["false", 40],
  ] as const) {
    configure({ commands: { [name]: [program] } })
    const acceptance = name === "test" ? [] : [diagnostics]
    room.script(reply.plan({ write: ["a.txt"], acceptance }), ...attempt(program), reply.review("approve"))
    const run = await room.run(`--yes=${planAndCommands}`, "--max-cycles", "0")
    expect([program, run.exitCode]).toEqual([program, exitCode])
  }
  expect(await check(room.workspace)).toEqual([])
})

test("mode.default is the mode of a session that names none", async () => {
  configure({ mode: { default: "airgapped" } })
  room.script(...greeting())
  const run = await room.run("--plan-only")
  expect([run.exitCode, run.data("session.started")]).toMatchObject([0, [{ agent: { mode: "airgapped" } }]])
})

/** Every flag that is recorded with a session, and what is recorded. */
function flagsOf(seconds: number, file: string) {
  const ms = (more: number) => (seconds + more) * 1000
  const flags = [
    ...["--planner-timeout", `${seconds}`, "--executor-timeout", `${seconds + 1}`],
    ...["--verifier-timeout", `${seconds + 2}`, "--reviewer-timeout", `${seconds + 3}`],
    ...["--executor-step-timeout", `${seconds + 4}`, "--max-cycles", "1", "--max-turns", `${seconds}`],
    ...["--max-context-tokens", `${seconds}000`, "--max-tokens", `${seconds}0000`, "--context-files", file],
    ...["--plan-only", "--approve-plan", "--skip-verify", "--require-review-approval", "--wait", "--follow"],
    ...["--show-model-progress", "--mode", "airgapped", "--model", `m${seconds}`, "--yes=plan,skip_verify"],
  ]
  const recorded = {
    limits: {
      stageTimeoutMs: { planner: ms(0), executor: ms(1), verifier: ms(2), reviewer: ms(3) },
      stepTimeoutMs: ms(4),
      cyclesMax: 1,
      turnsMax: seconds,
      contextTokensMax: seconds * 1000,
      tokensMax: seconds * 10_000,
    },
    planOnly: true,
    approvePlan: true,
    skipVerify: true,
    requireReviewApproval: true,
    model: `m${seconds}`,
    mode: "airgapped",
    yes: "plan,skip_verify",
    contextFiles: expect.arrayContaining([file]),
  }
  return { flags, recorded }
}

describe("every flag of a session is recorded with it", () => {
  const always = ["--require-all-stages", "--verify-before-commit"]

  test.each([
    ["run", always],
    ["task", [...always, "--multi-stage"]],
  ])("by %s, changed by resume, and its replies can be recorded and replayed", async (verb, more) => {
    const { flags, recorded } = flagsOf(31, "notes.txt")
    const recording = join(room.workspace.outside, "recording.jsonl")
    const events = (stdout: string) =>
      stdout.split("\n").flatMap(line => (line.startsWith('{"schema"') ? [JSON.parse(line)] : []))
    room.script(...greeting())
    const begun = await room.acode(
      ...[verb, "greet", "--script", room.scriptFile, "--record", recording, "--json", ...flags, ...more],
    )
    expect([begun.exitCode, events(begun.stdout)[0]]).toMatchObject([
      0,
      { type: "session.started", data: { agent: recorded } },
    ])
    const id: string = events(begun.stdout)[0].session
    const other = flagsOf(61, "more.txt")
    const resumed = await room.acode(
      ...["resume", "--session-id", id, "--script", room.scriptFile, "--record", `${recording}.2`, "--json"],
      ...other.flags,
    )
    expect([resumed.exitCode, events(resumed.stdout)[0]]).toMatchObject([
      0,
      { type: "session.resumed", data: { settings: other.recorded } },
    ])
    const replayed = await room.acode(verb, "greet", "--replay", recording, "--json", ...flags)
    expect([replayed.exitCode, events(replayed.stdout).map(({ type }) => type)]).toEqual([
      0,
      expect.arrayContaining(["plan.proposed"]),
    ])
    const again = await room.acode("resume", "--replay", recording, "--plan-only", "--json")
    expect([again.exitCode, events(again.stdout)[0]]).toMatchObject([0, { type: "session.resumed" }])
  })
})
