import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { runAcode } from "../../support/acode.ts"
import { seeded, seedSession } from "../../support/crash/seeded-session.ts"
import { type TempWorkspace, tempWorkspace } from "../../support/workspace/temp-workspace.ts"

let workspace: TempWorkspace
beforeAll(async () => {
  workspace = tempWorkspace()
  seedSession(workspace)
  await acode("approve", "0000cccc")
})
afterAll(() => workspace[Symbol.dispose]())

function acode(...args: readonly string[]) {
  return runAcode(args, { cwd: workspace.root, env: workspace.environment })
}

async function lines(...args: readonly string[]) {
  const { stdout } = await acode("session", "logs", "--json", ...args)
  return stdout
    .split("\n")
    .filter(line => line !== "")
    .map(line => JSON.parse(line))
}

describe("session list", () => {
  test("shows what runs and how far it is", async () => {
    const { stdout } = await acode("session", "list")
    expect(stdout).toMatch(/^… 0000aaaa {2}\S+Z {2}EXECUTING +2\/4 {2}fix a\.ts\n$/)
    const { stdout: listed } = await acode("session", "list", "--json")
    expect(JSON.parse(listed)).toMatchObject([
      { id: seeded.session, lane: "plan", state: "EXECUTING", stepsDone: 2, exitCode: null },
    ])
  })

  test("of a workspace without history is empty", async () => {
    using other = tempWorkspace()
    const run = await runAcode(["session", "list", "--json"], { cwd: other.root, env: other.environment })
    expect(run).toMatchObject({ exitCode: 0, stdout: "[]\n" })
    const shown = await runAcode(["session", "show"], { cwd: other.root, env: other.environment })
    expect(shown.exitCode).toBe(2)
    expect(shown.stderr).toContain("there is no session in this workspace yet")
  })
})

describe("session show", () => {
  test("is the same for the latest, by argument and by flag", async () => {
    const forms = [
      [],
      ["0000aaaa"],
      ["--session-id", seeded.session],
      ["0000aaaa", "--session-id", seeded.session],
    ]
    const shown = await Promise.all(forms.map(form => acode("session", "show", "--json", ...form)))
    for (const { stdout, exitCode } of shown) {
      expect(exitCode).toBe(0)
      expect(stdout).toBe(shown[0]?.stdout ?? "")
    }
  })

  test("has steps with outcome and evidence, calls and approvals with their answers", async () => {
    const view = JSON.parse((await acode("session", "show", "--json")).stdout)
    expect(view).toMatchObject({
      id: seeded.session,
      lane: "plan",
      goal: "fix a.ts",
      state: "EXECUTING",
      reason: null,
      exitCode: null,
      planId: "plan-1",
      endedAt: null,
      undoneAt: null,
      partlyUndoneAt: null,
    })
    expect(view.steps).toMatchObject([
      { id: "s1", outcome: "succeeded", evidenceId: seeded.reading },
      { id: "s2", outcome: "failed", evidenceId: seeded.failing, code: "ACODE-EXE-003" },
      { id: "s3", outcome: "succeeded", evidenceId: seeded.writing },
      { id: "s4", outcome: "open", evidenceId: seeded.waiting },
    ])
    expect(view.calls).toMatchObject([
      { id: seeded.reading, outcome: "succeeded" },
      { id: seeded.failing, outcome: "failed", exitCode: 2 },
      { id: seeded.writing, changes: [{ path: "src/a.ts" }] },
      { id: seeded.waiting, outcome: "open", certainty: null },
    ])
    expect(view.approvals).toMatchObject([{ id: seeded.approval, callId: seeded.waiting, answer: "granted" }])
  })

  test("reads well", async () => {
    const { stdout } = await acode("session", "show")
    expect(stdout).toContain(`[SESSION] ${seeded.session} (plan)\n`)
    expect(stdout).toContain("[STEP 2/4] ✗ s2: check — failed (1 ms)\n")
    expect(stdout).toContain("  ✗ ACODE-EXE-003: tsc \\x1b[31mfailed\n")
    expect(stdout).toMatch(
      /\[STEP 4\/4\] … s4: tidy — open\n {2}\[tool:delete_file\][^\n]+\n {2}\[approval\] 0000cccc level 3, granted by /,
    )
  })

  test("of an unknown id exits 2", async () => {
    const run = await acode("session", "show", "zzzz")
    expect(run.exitCode).toBe(2)
    expect(run.stderr).toContain("ACODE-CLI-004")
  })
})

describe("session logs", () => {
  test("--json is one event a line, numbered without a gap, the answer from elsewhere among them", async () => {
    const events = await lines()
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1))
    expect(events[0]).toEqual({
      schema: 1,
      seq: 1,
      at: expect.stringMatching(/Z$/),
      session: seeded.session,
      type: "session.started",
      trace: "01890000000070008000 00000000aaaa".replace(" ", ""),
      data: expect.objectContaining({ goal: "fix a.ts" }),
    })
    expect(events.at(-1)).toMatchObject({
      type: "approval.answered",
      data: { answer: "granted", via: "command" },
    })
  })

  test("--filter and --tail choose, and the numbers stay", async () => {
    const finished = await lines("--filter", "step.finished|approval.answered")
    expect(finished.map(({ type }) => type)).toEqual([
      "step.finished",
      "step.finished",
      "step.finished",
      "approval.answered",
    ])
    const [last, ...others] = await lines(
      "--filter",
      "step_complete",
      "--tail",
      "1",
      "--session-id",
      "0000aaaa",
    )
    expect(others).toEqual([])
    expect(last).toMatchObject({ type: "step.finished", seq: finished[2]?.seq })
    expect(await lines("--tail", "3")).toHaveLength(3)
  })

  test("for people is one line an event that a terminal does not act on", async () => {
    const { stdout } = await acode("session", "logs", "--tail", "2")
    expect(stdout.split("\n")).toHaveLength(3)
    expect(stdout).toMatch(/^\S+Z {2}approval\.requested {4}\{/m)
    expect(stdout).not.toContain("\u202e")
  })

  test.each([
    ["--filter", "step.begun"],
    ["--tail", "0"],
  ])("%s %s is refused", async (flag, value) => {
    const run = await acode("session", "logs", flag, value)
    expect(run.exitCode).toBe(2)
    expect(run.stderr).toContain("ACODE-CLI-002")
  })

  test("what does not occur is no error", async () => {
    const run = await acode("session", "logs", "--filter", "session.undone")
    expect(run).toMatchObject({ exitCode: 0, stdout: "", stderr: "nothing found\n" })
  })
})
