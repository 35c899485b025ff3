import { afterAll, describe, expect, test } from "bun:test"
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Command, type ExecutionOptions, unlimited } from "../../src/domain/command.ts"
import { Failure } from "../../src/domain/failure.ts"
import { commandOf, testRunner } from "./support/test-runner.ts"

const runner = testRunner()
afterAll(() => runner[Symbol.dispose]())
const { root, outside } = runner.workspace
mkdirSync(join(root, "sub"))
writeFileSync(join(root, "file"), "")
symlinkSync("/etc", join(root, "out"))
symlinkSync("sub", join(root, "inside"))

async function refusal(command: Command, options: ExecutionOptions = {}) {
  try {
    await runner.runner.execute(command, options)
    return null
  } catch (error) {
    if (error instanceof Failure) return error.report
    throw error
  }
}

describe("what is wrong with a command is thrown, and nothing is written down", () => {
  const limits = (more: object) => ({ resourceLimits: { ...unlimited, ...more } })
  for (const [what, command, options, code, property] of [
    ["no program", commandOf([""]), {}, "ACODE-EXE-007", "executable"],
    ["a blank program", commandOf([" \t"]), {}, "ACODE-EXE-007", "executable"],
    ["a NUL byte in the program", commandOf(["a\0b"]), {}, "ACODE-EXE-007", "executable"],
    ["a NUL byte in an argument", commandOf(["ls", "a\0b"]), {}, "ACODE-EXE-007", "arguments[0]"],
    ["no command at all", null as unknown as Command, {}, "ACODE-EXE-007", "command"],
    ["a timeout of zero", commandOf(["ls"], { timeoutMs: 0 }), {}, "ACODE-EXE-007", "timeoutMs"],
    ["a negative timeout", commandOf(["ls"], { timeoutMs: -5 }), {}, "ACODE-EXE-007", "timeoutMs"],
    ["a timeout of zero by option", commandOf(["ls"]), { timeoutMs: 0 }, "ACODE-EXE-007", "timeoutMs"],
    ["an output limit of zero", commandOf(["ls"]), { outputBytesMax: 0 }, "ACODE-EXE-007", "outputBytesMax"],
    [
      "a bad variable name",
      commandOf(["ls"], { environment: { "1A": "x" } }),
      {},
      "ACODE-EXE-007",
      "environment",
    ],
    [
      "too little memory",
      commandOf(["ls"], limits({ memoryBytesMax: 1 })),
      {},
      "ACODE-EXE-007",
      "memoryBytesMax",
    ],
    ["no processes", commandOf(["ls"], limits({ processesMax: 0 })), {}, "ACODE-EXE-007", "processesMax"],
    [
      "a writable path through a file",
      commandOf(["ls"]),
      { writable: ["file/x"] },
      "ACODE-EXE-007",
      "writable",
    ],
    [
      "a missing directory",
      commandOf(["ls"], { workingDirectory: "missing" }),
      {},
      "ACODE-EXE-006",
      "missing",
    ],
    ["a file as directory", commandOf(["ls"], { workingDirectory: "file" }), {}, "ACODE-EXE-006", "file"],
    ["a directory outside", commandOf(["ls"], { workingDirectory: ".." }), {}, "ACODE-SEC-005", ".."],
    [
      "an absolute directory outside",
      commandOf(["ls"], { workingDirectory: outside }),
      {},
      "ACODE-SEC-005",
      outside,
    ],
    ["a link to outside", commandOf(["ls"], { workingDirectory: "out" }), {}, "ACODE-SEC-005", "out"],
  ] as const)
    test(what, async () => {
      const report = await refusal(command, options)
      expect(report?.code).toBe(code)
      expect(report?.where).toContain(property)
      expect(runner.recorder.intents).toEqual([])
    })

  test("all of it at once, of the command and of the options", async () => {
    const report = await refusal(commandOf([""], { timeoutMs: -1 }), { outputBytesMax: -1 })
    expect(report?.where).toBe("executable, timeoutMs, outputBytesMax")
  })
})

describe("defaults come from the settings, and options win over the command", () => {
  test("for the time it may take", async () => {
    const recorded = async (timeoutMs: number | null, options: ExecutionOptions) =>
      (await runner.run(["true"], { timeoutMs }, options)).command.timeoutMs
    expect(await recorded(null, {})).toBe(20_000)
    expect(await recorded(7000, {})).toBe(7000)
    expect(await recorded(7000, { timeoutMs: 9000 })).toBe(9000)
  })

  test("for the shell and the environment", async () => {
    expect((await runner.run(["true"])).command).toMatchObject({ shell: false, environmentMode: "inherit" })
    const changed = await runner.run(["true"], {}, { useShell: true, environmentMode: "replace" })
    expect(changed.command).toMatchObject({ shell: true, environmentMode: "replace" })
  })
})

describe("the directory of a command", () => {
  test("is the root unless it says otherwise, and is written down relative to it", async () => {
    const record = await runner.run(["pwd"])
    expect([record.command.workingDirectory, record.result.stdout]).toEqual([".", `${root}\n`])
  })

  test("may be relative, absolute or a link that stays inside", async () => {
    for (const typed of ["sub", "./sub/", join(root, "sub"), "inside"]) {
      const record = await runner.run(["pwd", "-P"], { workingDirectory: typed })
      expect([record.command.workingDirectory, record.result.stdout]).toEqual(["sub", `${root}/sub\n`])
    }
  })
})

test("correlation ids are those of the run, with what the caller adds", async () => {
  const given = { sessionId: "ses_1", toolCallId: "cal_1" }
  const { correlationIds } = await runner.run(["true"], {}, {}, { correlationIds: given })
  expect(correlationIds).toEqual({
    runId: "run_test",
    sessionId: "ses_1",
    taskId: null,
    stepId: null,
    toolCallId: "cal_1",
    worktreeId: null,
    repoSha: null,
  })
  expect(Object.keys(correlationIds)[0]).toBe("runId")
})
