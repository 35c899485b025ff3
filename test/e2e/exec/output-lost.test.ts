import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { acodeProgram, runAcode } from "../../support/acode.ts"
import { agentWorkspace } from "../../support/agent/agent-workspace.ts"
import { greeting } from "../../support/script-replies.ts"
import { type TempWorkspace, tempWorkspace } from "../../support/workspace/temp-workspace.ts"

let workspace: TempWorkspace

beforeAll(() => {
  workspace = tempWorkspace({ git: true })
})
afterAll(() => workspace[Symbol.dispose]())

/** Runs it with its standard output on a disk that is full. */
async function onFullDisk(args: readonly string[], place: TempWorkspace = workspace) {
  const through = ["sh", "-c", '"$0" "$@" > /dev/full']
  const run = await runAcode(args, { cwd: place.root, env: place.environment, through })
  const lines = run.stderr.trimEnd().split("\n")
  // An error is a line, where it is and what to do; anything else would be a stack trace.
  return { exitCode: run.exitCode, told: lines.filter(line => !/^ {2}(at|→) |^no sandbox: /.test(line)) }
}

const lost = [expect.stringMatching(/^error ACODE-CLI-007: the output cannot be written: ENOSPC/)]

describe("a command whose output cannot be passed on", () => {
  for (const line of [
    ["echo", "x"],
    ["seq", "1000000"],
  ])
    test(`${line.join(" ")} is recorded, and acode says that its output is lost`, async () => {
      expect(await onFullDisk(["exec", "--", ...line])).toEqual({ exitCode: 125, told: lost })
      const { stdout } = await runAcode(["runs", "list", "--json"], {
        cwd: workspace.root,
        env: workspace.environment,
      })
      expect(JSON.parse(stdout)[0]).toMatchObject({ commandLine: line.join(" ") })
    })
})

describe("an answer that cannot be written is one error and no mistake of acode", () => {
  for (const [line, exitCode] of [
    [["exec", "--json", "--", "echo", "x"], 125],
    [["exec", "--help"], 125],
    [["runs", "list"], 1],
    [["runs", "list", "--json"], 1],
    [["schema", "plan"], 1],
    [["--version"], 1],
    [["--help"], 1],
  ] as const)
    test(line.join(" "), async () => {
      expect(await onFullDisk(line)).toEqual({ exitCode, told: lost })
    })

  test("a failure that has nowhere to go as JSON is still told to a person, with its own code", async () => {
    expect(await onFullDisk(["runs", "show", "nothing", "--json"])).toEqual({
      exitCode: 2,
      told: [expect.stringContaining("error ACODE-CLI-004: ")],
    })
  })

  test("where nobody can be told, the exit code still says it", () => {
    const run = Bun.spawnSync(["sh", "-c", '"$0" runs list > /dev/full 2>&1', acodeProgram()], {
      cwd: workspace.root,
      env: { ...workspace.environment },
    })
    expect(run.exitCode).toBe(1)
  })
})

describe("a session whose events cannot be written comes to rest in the log", () => {
  for (const flags of [["--json"], []])
    test(flags.join(" ") || "for a person", async () => {
      using room = agentWorkspace()
      room.script(...greeting())
      const line = ["run", "add a greeting", "--yes=plan", ...flags, "--script", room.scriptFile]
      expect(await onFullDisk(line, room.workspace)).toEqual({ exitCode: 1, told: lost })
      const { stdout } = await room.acode("session", "logs", "--json")
      expect(stdout.trimEnd().split("\n").at(-1)).toContain('"type":"session.rested"')
    })
})
