import { afterEach, beforeEach, describe, expect } from "bun:test"
import { closeSync, openSync } from "node:fs"
import { join } from "node:path"
import { acodeProgram } from "../support/acode.ts"
import { type AgentWorkspace, agentWorkspace } from "../support/agent-workspace.ts"
import { check } from "../support/checker.ts"
import { eventually } from "../support/eventually.ts"
import { missingProgram, testWhere } from "../support/requirement.ts"
import { contains, open, reply } from "../support/script-replies.ts"

const confinedTest = testWhere(missingProgram("bwrap"))

const argv = ["sh", "-c", "echo spoiled > a.txt; echo made > made.txt; exec sleep 2"]

let room: AgentWorkspace
beforeEach(() => {
  room = agentWorkspace({ files: { "a.txt": "precious\n" } })
  room.script(
    reply.plan({
      write: ["*.txt"],
      commands: [argv],
      steps: [open("s1"), open("s2", "RUN_COMMAND", { depends_on: ["s1"] })],
      acceptance: [contains("made.txt", "made")],
    }),
    reply.write("first.txt", "first\n"),
    reply.finish(),
    reply.calls(["run_command", { argv }]),
    reply.finish(),
    reply.review("approve"),
  )
})
afterEach(() => room[Symbol.dispose]())

/** A session that is killed while its command runs. */
async function killed(): Promise<void> {
  const { root } = room.workspace
  const output = openSync(join(room.workspace.outside, "out.txt"), "w")
  const run = Bun.spawn([acodeProgram(), "run", "x", "--yes=plan", "--script", room.scriptFile], {
    cwd: root,
    env: { ...room.environment },
    stdio: ["ignore", output, output],
  })
  closeSync(output)
  await eventually("the command has begun", () => room.file("made.txt"))
  run.kill("SIGKILL")
  await run.exited
}

const files = () => ["a.txt", "made.txt", "first.txt"].map(room.file)

describe("session undo of a session that was killed in the middle of a command", () => {
  confinedTest("is refused until somebody has said what is to become of the command", async () => {
    await killed()
    for (const flags of [["--preview"], []]) {
      const { exitCode, stderr } = await room.acode("session", "undo", ...flags)
      expect([exitCode, stderr]).toEqual([1, expect.stringContaining("ACODE-UNDO-003")])
      expect(stderr).toContain("`acode cancel` ends it")
    }
    expect(files()).toEqual(["spoiled\n", "made\n", "first\n"])
    expect((await room.acode("cancel")).exitCode).toBe(0)
    expect((await room.acode("session", "undo")).exitCode).toBe(0)
    expect(files()).toEqual(["precious\n", null, null])
    expect(await check(room.workspace)).toEqual([])
  })
})
