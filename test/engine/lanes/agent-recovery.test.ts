import { afterEach, describe, expect, test } from "bun:test"
import { readdirSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { type AgentRoom, agentRoom } from "../../support/agent/agent-room.ts"
import { check } from "../../support/checker/checker.ts"
import { planText } from "../../support/plan/plan-workspace.ts"
import { missingProgram, missingSandbox, testWhere } from "../../support/requirement.ts"
import { contains, open, reply } from "../../support/script-replies.ts"

const confinedTest = testWhere(missingSandbox)
const gitTest = testWhere(missingSandbox ?? missingProgram("git"))

let room: AgentRoom | null = null
afterEach(() => {
  room?.[Symbol.dispose]()
  room = null
})

const steps = [open("s1"), open("s2", "RUN_COMMAND", { depends_on: ["s1"] })]
const replies = [
  reply.plan({
    write: ["*.txt"],
    commands: [["sh", "-c"]],
    steps,
    acceptance: [contains("greeting.txt", "hello"), contains("built.txt", "once", "a2")],
  }),
  reply.calls(
    ["write_file", { path: "greeting.txt", content: "hello\n" }],
    ["write_file", { path: "other.txt", content: "x\n" }],
  ),
  reply.finish(),
  reply.calls(["run_command", { argv: ["sh", "-c", "echo once > built.txt"] }]),
  reply.finish(),
  reply.review("approve"),
]

class Died extends Error {}

/** Ends the process, as far as the session can tell, at the n-th of these points. */
function dyingAt(points: readonly string[], count: number) {
  let reached = 0
  return {
    reach: (point: string) => {
      if (points.includes(point) && ++reached === count) throw new Died()
    },
  }
}

const points = ["agent.asked", "agent.performed", "agent.checked"]

describe("a session whose process died", () => {
  test.each([3, 8, 12, 16, 20, 24, 28])("after point %i ends with the same files", async count => {
    room = await agentRoom(replies)
    await expect(room.drive({ faults: dyingAt(points, count) })).rejects.toThrow(Died)
    expect(await room.drive()).toMatchObject({ state: "COMPLETED", exitCode: 0 })
    expect(["greeting.txt", "other.txt", "built.txt"].map(room.file)).toEqual(["hello\n", "x\n", "once\n"])
    expect(await check(room.workspace)).toEqual([])
  })

  test("cannot make a call whose arguments held a secret; the model is told and asks again", async () => {
    const secret = "ghp_0123456789abcdefghijABCDEFGHIJ456789"
    const write = reply.write("keys.txt", `token: ${secret}\n`)
    const plan = reply.plan({ write: ["keys.txt"], acceptance: [contains("keys.txt", "token")] })
    room = await agentRoom([plan, write, write, reply.finish(), reply.review("approve")])
    const dies = { call: () => Promise.reject(new Died()) }
    await expect(room.drive({ gate: dies })).rejects.toThrow(Died)
    expect(await room.drive()).toMatchObject({ state: "COMPLETED", exitCode: 0 })
    const errors = room.data("tool_call.settled").map(({ error }) => error)
    expect(errors).toMatchObject([{ code: "ACODE-EXEC-007" }, null])
    expect(room.data("tool_call.requested").map(({ tool }) => tool)).toEqual(["write_file", "write_file"])
    expect(room.file("keys.txt")).toBe(`token: ${secret}\n`)
    const found = await check(room.workspace, { secrets: [secret] })
    expect(found.filter(line => !line.includes("/checkpoints/"))).toEqual([])
  })

  test("asks for the reply again that was not recorded, and for no other", async () => {
    room = await agentRoom(replies)
    await expect(room.drive({ faults: dyingAt(["agent.asked"], 2) })).rejects.toThrow(Died)
    await room.drive()
    expect(room.requests.map(({ replyIndex }) => replyIndex)).toEqual([0, 1, 2, 3, 4, 5])
  })

  test("does what was not done, and never twice what was", async () => {
    room = await agentRoom(replies)
    await expect(room.drive({ faults: dyingAt(["agent.performed"], 9) })).rejects.toThrow(Died)
    const before = room.data("tool_call.settled").length
    expect(await room.drive()).toMatchObject({ exitCode: 0 })
    expect(before).toBeGreaterThan(0)
    expect(room.data("tool_call.settled")).toHaveLength(3)
    expect(room.data("session.resumed")).toHaveLength(1)
  })
})

/** What a command did is done, and is not written down. */
const unrecorded = ["gate.done", "append.begun"]

/** Ends the process, as far as the session can tell, at `unrecorded` and then once more where it is told to. */
function dyingUnrecorded(again: string | null, reached: string[]) {
  const path = [...unrecorded, again]
  let at = 0
  return {
    reach: (point: string) => {
      reached.push(point)
      if (point !== path[at]) return
      at += 1
      if (at >= unrecorded.length) throw new Died()
    },
  }
}

/** A session whose command has changed files, and died before that was written down. */
async function diedInCommand(
  again: string | null = null,
  reached: string[] = [],
  git = false,
): Promise<AgentRoom> {
  const argv = ["sh", "-c", "echo made > made.txt; echo spoiled > a.txt"]
  const died = await agentRoom(
    [
      reply.plan({
        write: ["*.txt"],
        commands: [argv],
        steps: [open("s1", "RUN_COMMAND")],
        acceptance: [contains("made.txt", "made")],
      }),
      reply.calls(["run_command", { argv }]),
      reply.finish(),
      reply.review("approve"),
    ],
    {
      files: { "a.txt": "precious\n", ...(git ? { ".gitignore": "*.log\n" } : {}) },
      git,
      faults: dyingUnrecorded(again, reached),
    },
  )
  await expect(died.drive()).rejects.toThrow(Died)
  expect([died.file("made.txt"), died.file("a.txt")]).toEqual(["made\n", "spoiled\n"])
  return died
}

const firstError = () => {
  const [settled] = room?.data("tool_call.settled") ?? []
  return (settled?.["error"] as { readonly message: string } | undefined)?.message // as: of this event's schema
}

/** The paths of the copies that were kept before recovery, oldest first. */
function keptCopies(): readonly (readonly string[])[] {
  const directory = room?.workspace.state("checkpoints/manifests") ?? ""
  const kept = readdirSync(directory).filter(name => name.startsWith("chk_"))
  return kept.sort().map(name => {
    const { entries } = JSON.parse(readFileSync(join(directory, name), "utf8"))
    return entries.map((row: readonly string[]) => row[1])
  })
}

describe("a command that was cut off", () => {
  const restsWith = (room: AgentRoom) => String(room.data("session.rested").at(-1)?.["reason"])
  const redo = { redoesCommand: true }

  confinedTest("stays as it is until a person decides; what changed is named", async () => {
    room = await diedInCommand()
    room.workspace.write("mine.txt", "my own work\n")
    expect(await room.drive()).toMatchObject({ state: "PAUSED", exitCode: 60 })
    expect(["made.txt", "a.txt", "mine.txt"].map(room.file)).toEqual(["made\n", "spoiled\n", "my own work\n"])
    expect(restsWith(room)).toContain("and were not touched: made.txt, mine.txt, a.txt; `acode resume")
    expect([room.data("tool_call.settled"), keptCopies()]).toEqual([[], []])
    expect(await check(room.workspace)).toEqual([])
  })

  confinedTest("goes on with what is there when it is resumed once more", async () => {
    room = await diedInCommand()
    expect(await room.drive()).toMatchObject({ exitCode: 60 })
    expect(await room.drive()).toMatchObject({ exitCode: 0 })
    expect(room.data("tool_call.settled")).toMatchObject([
      { outcome: "interrupted", certainty: "unknown", executionId: expect.stringContaining("exe_") },
    ])
    expect(firstError()).toContain("these changes stay, as a person decided")
    expect(["made.txt", "a.txt"].map(room.file)).toEqual(["made\n", "spoiled\n"])
    expect(keptCopies()).toEqual([])
    expect(await check(room.workspace)).toEqual([])
  })

  confinedTest("is not taken as decided by a resume that died before it did anything", async () => {
    room = await diedInCommand("agent.restored")
    expect(await room.drive()).toMatchObject({ exitCode: 60 })
    await expect(room.drive()).rejects.toThrow(Died)
    expect(await room.drive()).toMatchObject({ exitCode: 60 })
    expect(["made.txt", "a.txt"].map(room.file)).toEqual(["made\n", "spoiled\n"])
    expect(await room.drive()).toMatchObject({ exitCode: 0 })
    expect(await check(room.workspace)).toEqual([])
  })

  confinedTest("is put back and done again if a person says so; what was there is kept", async () => {
    room = await diedInCommand()
    room.workspace.write("mine.txt", "my own work\n")
    expect(await room.drive()).toMatchObject({ exitCode: 60 })
    expect(await room.drive({}, {}, redo)).toMatchObject({ exitCode: 0 })
    expect(room.data("tool_call.settled")).toMatchObject([
      { outcome: "interrupted", certainty: "notDone" },
      { outcome: "succeeded", certainty: "done" },
    ])
    expect(firstError()).toContain("by another process: made.txt, mine.txt, a.txt; these changes were undone")
    expect(firstError()).toMatch(/the files from before are kept: `acode checkpoint restore chk_/)
    expect(keptCopies()).toEqual([["a.txt", "made.txt", "mine.txt"]])
    expect(await check(room.workspace)).toEqual([])
  })

  confinedTest(
    "is put back by a second process, which asks again and keeps the copy of the first",
    async () => {
      room = await diedInCommand("restore.removed")
      room.workspace.write("aaa.txt", "my own work\n")
      await expect(room.drive({}, {}, redo)).rejects.toThrow(Died)
      expect(room.file("aaa.txt")).toBeNull()
      expect(await room.drive()).toMatchObject({ exitCode: 60 })
      expect(await room.drive({}, {}, redo)).toMatchObject({ exitCode: 0 })
      expect(keptCopies()).toEqual([
        ["a.txt", "aaa.txt", "made.txt"],
        ["a.txt", "made.txt"],
      ])
      expect(await check(room.workspace)).toEqual([])
    },
  )

  confinedTest("is put back file by file, each while nobody can take the workspace", async () => {
    const reached: string[] = []
    room = await diedInCommand(null, reached)
    reached.length = 0
    expect(await room.drive({}, {}, redo)).toMatchObject({ exitCode: 0 })
    const changes = reached.filter(point => /^(held\.committed|restore\.(removed|written))$/.test(point))
    const first = changes.indexOf("restore.removed") - 1
    expect(changes.slice(first, first + 4)).toEqual([
      "held.committed",
      "restore.removed",
      "held.committed",
      "restore.written",
    ])
  })

  gitTest("is left as it is where a commit was made since, whatever a person says", async () => {
    room = await diedInCommand(null, [], true)
    const { root } = room.workspace
    room.workspace.write("a.txt", "committed\n")
    const identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.invalid"]
    Bun.spawnSync(["git", "add", "-A"], { cwd: root })
    expect(Bun.spawnSync(["git", ...identity, "commit", "-qm", "mine"], { cwd: root }).exitCode).toBe(0)
    expect(await room.drive()).toMatchObject({ exitCode: 60 })
    expect(restsWith(room)).toContain("a.txt (git has another commit or branch checked out since it began)")
    expect(restsWith(room)).toMatch(/; `acode resume` continues with the present files/)
    expect(restsWith(room)).not.toContain("--redo-command")
    expect(await room.drive({}, {}, redo)).toMatchObject({ exitCode: 60 })
    expect(firstError()).toMatch(/; none of these changes was undone: /)
    expect(["made.txt", "a.txt"].map(room.file)).toEqual(["made\n", "committed\n"])
    expect(room.data("tool_call.settled")).toMatchObject([{ outcome: "interrupted", certainty: "unknown" }])
    expect(keptCopies()).toEqual([])
    expect(await check(room.workspace)).toEqual([])
  })

  gitTest("names what git ignores before a person decides, and promises to run nothing again", async () => {
    room = await diedInCommand(null, [], true)
    room.workspace.write("new.log", "ignored\n")
    expect(await room.drive()).toMatchObject({ exitCode: 60 })
    expect(restsWith(room)).toMatch(/; without a copy, so not restorable: new\.log \(git ignores it, /)
    expect(restsWith(room)).toMatch(
      /restores them except those without a copy .* cannot run the command again/,
    )
    expect(await room.drive({}, {}, redo)).toMatchObject({ exitCode: 60 })
    expect(firstError()).toMatch(/; these changes were undone except new\.log \(git ignores it, /)
    expect(["made.txt", "a.txt", "new.log"].map(room.file)).toEqual([null, "precious\n", "ignored\n"])
    expect(room.data("command.started")).toHaveLength(1)
    expect(await check(room.workspace)).toEqual([])
  })

  confinedTest("says so where nobody knows how long its process lived", async () => {
    room = await diedInCommand()
    rmSync(room.workspace.state("checkpoints/alive"))
    expect(await room.drive()).toMatchObject({ exitCode: 60 })
    expect(restsWith(room)).toContain("made.txt (the time at which acode ended is unknown")
    expect(await room.drive({}, {}, redo)).toMatchObject({ exitCode: 60 })
    expect(["made.txt", "a.txt"].map(room.file)).toEqual(["made\n", "spoiled\n"])
  })

  confinedTest("leaves alone what a later session wrote, and restores the rest", async () => {
    room = await diedInCommand()
    room.workspace.write(
      "plan.json",
      planText([["file_write", { path: "a.txt", contents: "later\n" }]], "later"),
    )
    expect((await room.acode("plan", "approve", "plan.json")).exitCode).toBe(0)
    expect((await room.acode("plan", "run", "plan.json")).exitCode).toBe(0)
    rmSync(join(room.workspace.root, "plan.json"))
    expect(await room.drive()).toMatchObject({ exitCode: 60 })
    expect(restsWith(room)).toMatch(/restores the files without a reason .* cannot run the command again/)
    expect(await room.drive({}, {}, redo)).toMatchObject({ exitCode: 60 })
    expect(["made.txt", "a.txt"].map(room.file)).toEqual([null, "later\n"])
    expect(firstError()).toMatch(/a\.txt \(session ses_\S+ wrote it later\)/)
    expect(keptCopies()).toEqual([["made.txt"]])
    const undone = await room.acode("session", "undo", room.sessionId, "--json")
    expect([undone.exitCode, JSON.parse(undone.stdout).foreign]).toEqual([60, ["a.txt"]])
    expect(room.file("a.txt")).toBe("later\n")
  })
})
