import { describe, expect, test } from "bun:test"
import { existsSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type AcodeRun, type RunningAcode, startAcode } from "../../support/acode.ts"
import { agentWorkspace } from "../../support/agent/agent-workspace.ts"
import { check } from "../../support/checker/checker.ts"
import { eventually } from "../../support/eventually.ts"
import { planWorkspace } from "../../support/plan/plan-workspace.ts"
import { untilNoProcessWith } from "../../support/processes.ts"
import { missingSandbox, planAndCommands, testWhere } from "../../support/requirement.ts"
import { contains, open, reply } from "../../support/script-replies.ts"
import type { TempWorkspace } from "../../support/workspace/temp-workspace.ts"

const confinedTest = testWhere(missingSandbox)

/** With what a sandbox would hold the place of, so that the tree has nothing of acode in it. */
const files = { "x.txt": "x\n", "z.txt": "z\n", "c.txt": "c\n", ".vscode/settings.json": "{}\n" }

/** What a person did while the command ran, what the command did, and what the person did after the kill. */
const changed = ["x.txt", "y.txt", "z.txt", "c.txt", "made.txt", "late.txt"]

/** Every file and directory with its mode, content and inode, by programs that are not acode. */
function manifest({ root }: TempWorkspace): string {
  const script =
    "find . -path ./.git -prune -o -printf '%p %y %m %i %T@\\n' | sort; find . -path ./.git -prune -o -type f -print | sort | xargs sha256sum"
  return Bun.spawnSync(["sh", "-c", script], { cwd: root }).stdout.toString()
}

/** Changes files and then waits for a file, though not for ever: what a run advises is typed once more elsewhere. */
function waiting(marker: string): readonly string[] {
  return [
    "sh",
    "-c",
    `: ${marker}; echo half > c.txt; echo half > made.txt; for i in $(seq 120); do [ -e go ] && exit; sleep 0.05; done`,
  ]
}

/** A person saves, makes and deletes files while the command runs; acode is killed; the person saves once more. */
async function editAndKill(workspace: TempWorkspace, running: RunningAcode, marker: string): Promise<void> {
  const at = (name: string) => join(workspace.root, name)
  await eventually("the command has begun", () => existsSync(at("made.txt")), { timeoutMs: 30_000 })
  writeFileSync(at("x.txt"), "saved by a person\n")
  writeFileSync(at("y.txt"), "made by a person\n")
  rmSync(at("z.txt"))
  running.kill("SIGKILL")
  await running.ended
  await untilNoProcessWith(marker)
  writeFileSync(at("late.txt"), "saved after the kill\n")
}

const namedIn = (text: string) => changed.filter(name => text.includes(name))
const wholeText = ({ stdout, stderr }: AcodeRun) => stdout + stderr

async function killedPlan() {
  const room = planWorkspace({ git: true, files })
  const marker = `plan-${crypto.randomUUID()}`
  room.plan([["run_command", { argv: waiting(marker) }]])
  const approved = await room.acode("plan", "approve", room.planFile)
  expect(approved.exitCode).toBe(0)
  const { root, environment } = room.workspace
  const running = startAcode(["plan", "run", room.planFile, "--yes=terminal"], {
    cwd: root,
    env: environment,
  })
  await editAndKill(room.workspace, running, marker)
  return room
}

describe("kill -9 of a plan run while its command runs and a person edits", () => {
  test("nothing in the tree is touched until the person decides, and every path is named", async () => {
    using room = await killedPlan()
    const left = manifest(room.workspace)
    const list = await room.acode("session", "list", "--json")
    expect(JSON.parse(list.stdout)).toMatchObject([{ state: "FAILED", exitCode: 60 }])
    const shown = await room.acode("session", "show")
    expect(namedIn(shown.stdout)).toEqual(changed)
    await room.acode("status")
    const resumed = await room.acode("resume")
    expect([resumed.exitCode, namedIn(resumed.stderr)]).toEqual([2, changed])
    const undone = await room.acode("session", "undo")
    expect([undone.exitCode, namedIn(undone.stdout)]).toEqual([60, changed])
    expect(manifest(room.workspace)).toBe(left)
    expect(await check(room.workspace)).toEqual([])
  })
})

async function killedTask() {
  const room = agentWorkspace({ git: true, files })
  const marker = `task-${crypto.randomUUID()}`
  const argv = waiting(marker)
  room.script(
    reply.plan({
      write: ["*.txt"],
      commands: [argv],
      steps: [open("s1", "RUN_COMMAND")],
      acceptance: [contains("made.txt", "half")],
    }),
    reply.calls(["run_command", { argv }]),
    reply.finish(),
    reply.review("approve"),
  )
  const running = room.start("run", "what is asked", `--yes=${planAndCommands}`, "--script", room.scriptFile)
  await editAndKill(room.workspace, running, marker)
  return room
}

describe("kill -9 of a session while its command runs and a person edits", () => {
  test("reading verbs and resume touch nothing; resume names every path and rests", async () => {
    using room = await killedTask()
    const left = manifest(room.workspace)
    for (const verb of [["session", "list"], ["session", "show"], ["status"], ["checkpoint", "list"]])
      await room.acode(...verb)
    expect(manifest(room.workspace)).toBe(left)
    const resumed = await room.acode("resume", "--script", room.scriptFile)
    expect([resumed.exitCode, namedIn(wholeText(resumed))]).toEqual([60, changed])
    expect(manifest(room.workspace)).toBe(left)
    const shown = await room.acode("session", "show")
    expect(namedIn(shown.stdout)).toEqual(changed)
    expect(await check(room.workspace)).toEqual([])
  })

  test("another resume continues with what is there", async () => {
    using room = await killedTask()
    const left = manifest(room.workspace)
    expect((await room.resume()).exitCode).toBe(60)
    const resumed = await room.resume()
    expect(resumed.exitCode).toBe(0)
    const settled = resumed.data("tool_call.settled")
    // Without a sandbox the command could reach more, and was settled as unknown by the first resume.
    if (missingSandbox === null)
      expect(settled).toMatchObject([{ outcome: "interrupted", certainty: "unknown" }])
    expect(manifest(room.workspace)).toBe(left)
    expect(await check(room.workspace)).toEqual([])
  })

  confinedTest("--redo-command restores what changed, with a copy, and runs the command again", async () => {
    using room = await killedTask()
    expect((await room.resume()).exitCode).toBe(60)
    const redone = room.start("resume", "--redo-command", "--script", room.scriptFile)
    await eventually(
      "the command runs again",
      () => room.file("made.txt") !== null && room.file("z.txt") === "z\n",
      {
        timeoutMs: 30_000,
      },
    )
    room.workspace.write("go", "")
    await redone.ended
    expect([room.file("x.txt"), room.file("y.txt")]).toEqual(["x\n", null])
    const shown = await room.acode("session", "show")
    const [, keptId = ""] = /acode checkpoint restore (chk_[0-9a-f-]+)/.exec(shown.stdout) ?? []
    await room.acode("checkpoint", "restore", keptId)
    expect([room.file("x.txt"), room.file("y.txt")]).toEqual(["saved by a person\n", "made by a person\n"])
  })

  confinedTest("cancel ends it without touching a file, and then it can be undone", async () => {
    using room = await killedTask()
    const left = manifest(room.workspace)
    expect((await room.resume()).exitCode).toBe(60)
    expect((await room.acode("cancel")).exitCode).toBe(0)
    expect(manifest(room.workspace)).toBe(left)
    const undone = await room.acode("session", "undo")
    expect([undone.exitCode, namedIn(undone.stdout)]).toEqual([60, changed])
    expect(manifest(room.workspace)).toBe(left)
  })

  test("--redo-command is refused where no command was interrupted", async () => {
    using room = agentWorkspace({ git: true, files })
    room.script(
      reply.plan({ write: ["a.txt"], acceptance: [contains("a.txt", "x")] }),
      reply.write("a.txt", "x\n"),
      reply.giveUp("cannot"),
    )
    expect((await room.run("--yes=plan")).exitCode).toBe(30)
    const resumed = await room.resume("--redo-command")
    expect([resumed.exitCode, resumed.stderr]).toEqual([2, expect.stringContaining("ACODE-CLI-003")])
  })
})
