import { describe, expect, test } from "bun:test"
import type { Json } from "../../../src/base/canonical.ts"
import { checksFor, type Project } from "../../../src/engine/checks/project.ts"
import { type FinishedCheck, runCheck } from "../../../src/engine/checks/run-check.ts"
import type { CallRequest } from "../../../src/gate/contract.ts"
import { checksAt } from "../../../src/tools/code/project-checks.ts"
import { type GateRoom, gateRoom } from "../../support/plan/gate-room.ts"
import { planVersion, smallPlan, smallTask, stateOf } from "../stages/support.ts"

const unknownProject: Project = { test: null, check: null, checksOf: () => ({ commands: [], missing: [] }) }

interface Given {
  readonly project?: Project
  readonly call?: Partial<CallRequest>
}

/** Checks one criterion with a real gate; what it runs is granted unless a test says otherwise. */
async function checked(room: GateRoom, criterion: Json | null, given: Given = {}): Promise<FinishedCheck> {
  const { project = unknownProject, call = { isGrantedAsWritten: true } } = given
  const acceptance = criterion === null ? [] : [criterion]
  const state = stateOf({ plans: [planVersion({ ...smallPlan, tasks: [{ ...smallTask, acceptance }] })] })
  const [check] = checksFor(state, project)
  if (check === undefined) throw new Error("there is nothing to check")
  return runCheck(
    {
      state,
      project,
      workspace: room.workspace,
      runCommand: argv => room.call("run_command", { argv: [...argv] }, call),
      runChecker: (path, { checker }) => room.call("lsp_check", { path, checker }, call),
    },
    check,
  )
}

const command = (...argv: readonly string[]) => ({ id: "a1", kind: "command", command: argv })
const shell = (script: string) => command("sh", "-c", script)

describe("a command that is to succeed", () => {
  test("passes with its argv, exit code, output and the tree it ran on", async () => {
    using room = gateRoom({ files: { "a.txt": "x" } })
    const finished = await checked(room, shell("echo fine"))
    expect(finished).toEqual({
      criterionId: "a1",
      taskId: "t1",
      kind: "command",
      verdict: "passed",
      reason: "exit code 0",
      argv: ["sh", "-c", "echo fine"],
      exitCode: 0,
      outputHash: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      executionId: expect.stringMatching(/^exe_/),
      treeDigest: (await room.workspace.tree()).digest,
    })
    const again = await checked(room, shell("echo fine"))
    expect([again.outputHash, again.executionId === finished.executionId]).toEqual([
      finished.outputHash,
      false,
    ])
    expect((await checked(room, shell("echo other"))).outputHash).not.toBe(finished.outputHash)
  })

  test("fails with the end of what it wrote", async () => {
    using room = gateRoom()
    const finished = await checked(room, shell("echo on stdout; echo on stderr >&2; exit 3"))
    expect(finished).toMatchObject({
      verdict: "failed",
      exitCode: 3,
      reason: "exit code 3\non stdout\non stderr",
    })
  })

  test("may be expected to fail", async () => {
    using room = gateRoom()
    const failing = { ...shell("exit 3"), expect_exit: 3 }
    expect(await checked(room, failing)).toMatchObject({ verdict: "passed", reason: "exit code 3" })
    const wrong = { ...shell("exit 1"), expect_exit: 3 }
    expect((await checked(room, wrong)).reason).toStartWith("exit code 1, expected 3\n")
  })

  test("tells at most 2 KB of what it wrote, and that from the end", async () => {
    using room = gateRoom()
    const { reason } = await checked(room, shell("seq 1 5000; echo 'the last line' >&2; exit 1"))
    expect(Buffer.byteLength(reason)).toBeLessThan(2_200)
    expect(reason).toEndWith("\n4999\n5000\nthe last line")
  })

  test("decides nothing when it is not allowed to run, or is not there", async () => {
    using room = gateRoom()
    const refused = await checked(room, shell("echo x"), { call: {} })
    expect(refused).toMatchObject({ verdict: "inconclusive", exitCode: null, outputHash: null })
    expect(refused.reason).toStartWith("it was not run: ")
    const missing = await checked(room, command("no-such-program-here"))
    expect(missing).toMatchObject({ verdict: "inconclusive", exitCode: null })
  })

  test("fails when it does not end in time or is killed", async () => {
    using room = gateRoom({ limits: { commandTimeoutMs: 200 } })
    const late = await checked(room, shell("echo begun; sleep 60"))
    expect(late).toMatchObject({ verdict: "failed", exitCode: null })
    expect(late.reason).toStartWith("it timed out\nbegun")
    const killed = await checked(room, shell("kill -9 $$"))
    expect(killed).toMatchObject({ verdict: "failed", exitCode: null })
  })

  test("that changes the tree is bound to the tree it was run on, and says which one it left", async () => {
    using room = gateRoom({ files: { "a.txt": "x" } })
    const before = (await room.workspace.tree()).digest
    const finished = await checked(room, shell("echo y > report.txt"))
    expect(finished.treeDigest).toBe(before)
    expect(finished.treeAfter).not.toBe(before)
    expect(finished.treeAfter).toBe((await room.workspace.tree()).digest)
    expect(finished).toMatchObject({
      verdict: "passed",
      reason: "exit code 0\n(files of the workspace were changed while it ran)",
    })
  })
})

describe("a file that is to exist", () => {
  const exists = (path: string) => ({ id: "a1", kind: "file_exists", path })

  test("is looked for and nothing is run", async () => {
    using room = gateRoom({ files: { "src/a.ts": "" } })
    expect(await checked(room, exists("src/a.ts"))).toEqual({
      criterionId: "a1",
      taskId: "t1",
      kind: "file_exists",
      verdict: "passed",
      reason: "src/a.ts exists",
      argv: null,
      exitCode: null,
      outputHash: null,
      executionId: null,
      treeDigest: (await room.workspace.tree()).digest,
      paths: ["src/a.ts"],
    })
    expect(await checked(room, exists("src"))).toMatchObject({ verdict: "passed" })
    expect(await checked(room, exists("src/b.ts"))).toMatchObject({
      verdict: "failed",
      reason: "src/b.ts does not exist",
    })
  })

  test("is undecided outside of the workspace", async () => {
    using room = gateRoom()
    expect(await checked(room, exists("../outside"))).toMatchObject({ verdict: "inconclusive" })
  })
})

describe("a file that is to contain something", () => {
  const contains = (path: string, pattern: string) => ({ id: "a1", kind: "file_contains", path, pattern })
  const files = { "src/a.ts": "const a = 1\nexport const b = 2\n", ".env": "KEY=1\n" }

  test.each([
    ["src/a.ts", "^export const \\w+", "passed", "line 2 of src/a.ts matches"],
    ["src/a.ts", "class", "failed", "no line of src/a.ts matches class"],
    ["src/b.ts", "x", "failed", "src/b.ts does not exist"],
    ["src/a.ts", "(", "inconclusive", "src/a.ts cannot be checked: "],
    ["src/a.ts", "x".repeat(1001), "inconclusive", "the pattern is longer than 1000 characters"],
    [".env", "KEY", "inconclusive", ".env cannot be checked: "],
    ["../a", "x", "inconclusive", "../a cannot be checked: "],
  ])("%s: %s is %s", async (path, pattern, verdict, reason) => {
    using room = gateRoom({ files })
    const finished = await checked(room, contains(path, pattern))
    expect([finished.verdict, finished.reason.startsWith(reason) ? reason : finished.reason]).toEqual([
      verdict,
      reason,
    ])
  })

  test("cannot make it run for ever by its pattern", async () => {
    using room = gateRoom({ files: { "a.txt": `${"a".repeat(50_000)}!\n` } })
    expect((await checked(room, contains("a.txt", "^(a+)+$"))).verdict).toBe("failed")
  })
})

describe("diagnostics", () => {
  const criterion = (errorsMax = 0) => ({ id: "a1", kind: "diagnostics", path: ".", max_errors: errorsMax })
  const project = (script: string): Project => ({ ...unknownProject, check: ["sh", "-c", script] })

  test("are undecided where no check is configured, never passed", async () => {
    using room = gateRoom()
    expect(await checked(room, criterion())).toMatchObject({
      verdict: "inconclusive",
      reason: "no checker fits it, and no check is configured: set commands.lint or commands.build",
      argv: null,
    })
  })

  test("are what the configured check says", async () => {
    using room = gateRoom()
    expect(await checked(room, criterion(), { project: project("exit 0") })).toMatchObject({
      verdict: "passed",
    })
    expect(await checked(room, criterion(), { project: project("echo a.ts:1 bad; exit 1") })).toMatchObject({
      verdict: "failed",
      reason: "exit code 1\na.ts:1 bad",
      argv: ["sh", "-c", "echo a.ts:1 bad; exit 1"],
    })
  })

  test("are undecided when some errors are allowed and nobody counts them", async () => {
    using room = gateRoom()
    const finished = await checked(room, criterion(5), { project: project("echo bad; exit 1") })
    expect(finished).toMatchObject({
      verdict: "inconclusive",
      reason: "there are problems, possibly more than 5\nexit code 1\nbad",
    })
    expect((await checked(room, criterion(5), { project: project("exit 0") })).verdict).toBe("passed")
  })
})

describe("diagnostics without a configured check", () => {
  const errors = "if true; then\n"
  const criterion = (path: string, errorsMax = 0) => ({
    id: "a1",
    kind: "diagnostics",
    path,
    max_errors: errorsMax,
  })
  const found = (
    room: GateRoom,
    installed: (name: string) => boolean = name => name === "bash",
  ): Project => ({
    ...unknownProject,
    checksOf: path => {
      const { relative, kind } = room.workspace.locate(path)
      const { checks } = room.parts.room
      const settings = { configured: new Map(), hasProgram: installed }
      return checksAt(room.workspace, { ...checks, settings }, relative, kind === "directory")
    },
  })

  test("are what the checker of the path finds, on exactly this tree", async () => {
    using room = gateRoom({ files: { "good.sh": "true\n", "bad.sh": errors } })
    const treeDigest = (await room.workspace.tree()).digest
    const project = found(room)
    expect(await checked(room, criterion("good.sh"), { project })).toMatchObject({
      verdict: "passed",
      argv: ["bash", "-n", "./good.sh"],
      exitCode: 0,
      treeDigest,
      reason: "bash: 0 errors, 0 warnings",
      executionId: expect.stringMatching(/^exe_/),
    })
    expect(await checked(room, criterion("bad.sh"), { project })).toMatchObject({
      verdict: "failed",
      exitCode: 2,
      reason: expect.stringContaining("bad.sh:2: error: syntax error"),
    })
    expect((await checked(room, criterion("bad.sh", 1), { project })).verdict).toBe("passed")
  })

  test("are undecided where the checker is missing, refused or does not fit", async () => {
    using room = gateRoom({ files: { "good.sh": "true\n", "a.txt": "" } })
    const verdict = async (path: string, given: Given) => {
      const { verdict, reason } = await checked(room, criterion(path), given)
      expect(verdict).toBe("inconclusive")
      return reason
    }
    const project = found(room)
    expect(await verdict("good.sh", { project: found(room, () => false) })).toContain("bash is not installed")
    expect(await verdict("good.sh", { project, call: {} })).toContain("bash did not check")
    expect(await verdict("a.txt", { project })).toContain("no checker fits it")
    expect(await verdict("../outside", { project })).toContain("not checked")
  })
})

describe("what is not acode's to decide", () => {
  test("is a judgement, which stays undecided here", async () => {
    using room = gateRoom()
    expect(await checked(room, { id: "a1", kind: "judgement", text: "nice" })).toMatchObject({
      verdict: "inconclusive",
      reason: "only a model can judge this",
    })
  })

  test("is a criterion that the newest plan does not have", async () => {
    using room = gateRoom()
    const state = stateOf({ plans: [planVersion(smallPlan)] })
    const run = () => Promise.reject(new Error("nothing is to be run"))
    const parts = {
      state,
      workspace: room.workspace,
      project: unknownProject,
      runCommand: run,
      runChecker: run,
    }
    for (const check of [
      { id: "a9", kind: "command", taskId: "t1" },
      { id: "project-tests", kind: "command", taskId: null },
    ])
      expect(await runCheck(parts, check)).toMatchObject({
        verdict: "inconclusive",
        reason: "the plan does not contain this criterion any more",
      })
  })
})

test("the project's own tests are run as they are configured or found", async () => {
  using room = gateRoom()
  const project = { ...unknownProject, test: ["sh", "-c", "echo 2 failed; exit 1"] }
  expect(await checked(room, null, { project })).toMatchObject({
    criterionId: "project-tests",
    taskId: null,
    verdict: "failed",
    reason: "exit code 1\n2 failed",
  })
})
