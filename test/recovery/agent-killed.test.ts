import { afterEach, beforeEach, describe, expect } from "bun:test"
import { closeSync, openSync } from "node:fs"
import { join } from "node:path"
import { acodeProgram } from "../support/acode.ts"
import { type AgentWorkspace, agentWorkspace } from "../support/agent/agent-workspace.ts"
import { check } from "../support/checker/checker.ts"
import { eventually } from "../support/eventually.ts"
import { missingSandbox, testWhere } from "../support/requirement.ts"
import { contains, open, reply } from "../support/script-replies.ts"

const confinedTest = testWhere(missingSandbox)

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

/** A session that is killed while its command runs, and what it printed to a file of the workspace. */
async function killed(): Promise<string> {
  const { root } = room.workspace
  const output = openSync(join(root, "run.log"), "w")
  const run = Bun.spawn([acodeProgram(), "run", "x", "--yes=plan", "--script", room.scriptFile], {
    cwd: root,
    env: { ...room.environment },
    stdio: ["ignore", output, output],
  })
  closeSync(output)
  await eventually("the command has begun", () => room.file("made.txt"))
  run.kill("SIGKILL")
  await run.exited
  return room.file("run.log") ?? ""
}

const files = () => ["a.txt", "made.txt", "first.txt"].map(room.file)

describe("what a session printed into the workspace before it was killed", () => {
  confinedTest("is left there by a resume that restores what its command changed", async () => {
    const printed = await killed()
    expect(printed).toContain("first.txt")
    const asked = await room.resume("--yes=plan")
    expect([asked.exitCode, asked.stderr + asked.stdout]).toEqual([
      60,
      expect.not.stringContaining("run.log"),
    ])
    const { exitCode, data } = await room.resume("--yes=plan", "--redo-command")
    expect(exitCode).toBe(0)
    const [interrupted] = data("tool_call.settled")
    expect(interrupted).toMatchObject({ outcome: "interrupted", certainty: "notDone" })
    expect(JSON.stringify(interrupted)).not.toContain("run.log")
    expect(room.file("run.log")).toBe(printed)
  })

  confinedTest("is left there by cancel and undo", async () => {
    const printed = await killed()
    expect((await room.acode("cancel")).exitCode).toBe(0)
    const undone = await room.acode("session", "undo", "--commands", "--json")
    expect(JSON.parse(undone.stdout)).toMatchObject({ removed: ["first.txt", "made.txt"] })
    expect(room.file("run.log")).toBe(printed)
  })
})

describe("session undo of a session that was killed in the middle of a command", () => {
  confinedTest("is refused until somebody has said what is to become of the command", async () => {
    await killed()
    for (const flags of [["--preview"], []]) {
      const { exitCode, stderr } = await room.acode("session", "undo", ...flags)
      expect([exitCode, stderr]).toEqual([1, expect.stringContaining("ACODE-UNDO-003")])
      expect(stderr).toMatch(/`acode cancel \w{8}` ends it/)
    }
    expect(files()).toEqual(["spoiled\n", "made\n", "first\n"])
    expect((await room.acode("cancel")).exitCode).toBe(0)
    expect((await room.acode("session", "undo", "--commands")).exitCode).toBe(0)
    expect(files()).toEqual(["precious\n", null, null])
    expect(await check(room.workspace)).toEqual([])
  })
})
