import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { existsSync, readFileSync, renameSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { acodeProgram } from "../support/acode.ts"
import { check } from "../support/checker.ts"
import { eventually } from "../support/eventually.ts"
import { type PlanWorkspace, planWorkspace } from "../support/plan-workspace.ts"
import { missingProgram, testWhere } from "../support/requirement.ts"
import { openTerminal } from "../support/terminal.ts"

const gitTest = testWhere(missingProgram("git"))

let room: PlanWorkspace
beforeEach(() => {
  room = planWorkspace({ git: true, files: { "a.txt": "a\n", "b.txt": "b\n" } })
})
afterEach(() => room[Symbol.dispose]())

const path = (name: string) => join(room.workspace.root, name)
const read = (name: string) => (existsSync(path(name)) ? readFileSync(path(name), "utf8") : null)
const sh = (script: string) => ["run_command", { argv: ["sh", "-c", script] }] as const

function git(...args: readonly string[]): void {
  const identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.invalid"]
  const { exitCode, stderr } = Bun.spawnSync(["git", ...identity, ...args], { cwd: room.workspace.root })
  if (exitCode !== 0) throw new Error(stderr.toString())
}

async function ran(...steps: Parameters<PlanWorkspace["plan"]>[0]): Promise<string> {
  room.plan(steps)
  return (await room.approveAndRun()).result.session_id
}

async function undo(...flags: readonly string[]) {
  const run = await room.acode("session", "undo", ...flags, "--json")
  return { exitCode: run.exitCode, stderr: run.stderr, ...JSON.parse(run.stdout) }
}

describe("a path is left alone where somebody else's hand may be in it", () => {
  const writes = () =>
    ran(["file_write", { path: "a.txt", contents: "A\n" }], sh("echo B > b.txt; echo n > new.txt"))
  const reasonOf = (undone: { doubts: readonly { reason: string }[] }) => [
    ...new Set(undone.doubts.map(({ reason }) => reason)),
  ]

  gitTest("because it was committed", async () => {
    await writes()
    git("add", "-A")
    git("commit", "-qm", "mine")
    const undone = await undo()
    expect(undone).toMatchObject({ exitCode: 60, foreign: ["a.txt", "b.txt", "new.txt"], keptId: null })
    expect(reasonOf(undone)).toEqual(["git has another commit or branch checked out since"])
    expect([read("a.txt"), read("new.txt")]).toEqual(["A\n", "n\n"])
  })

  gitTest("because another branch was checked out", async () => {
    await writes()
    git("switch", "-qc", "other")
    expect(await undo()).toMatchObject({ exitCode: 60, restored: [], removed: [] })
  })

  gitTest("because it was staged; the others are undone", async () => {
    await writes()
    git("add", "new.txt")
    expect(await undo("--commands")).toMatchObject({
      exitCode: 60,
      restored: ["a.txt", "b.txt"],
      doubts: [{ path: "new.txt", reason: "it was staged or unstaged in git since" }],
    })
    expect(read("new.txt")).toBe("n\n")
  })

  test.each([
    ["in place", (name: string) => writeFileSync(path(name), readFileSync(path(name)))],
    [
      "by a rename",
      (name: string) => {
        writeFileSync(path("swap"), readFileSync(path(name)))
        renameSync(path("swap"), path(name))
      },
    ],
    ["only its time", (name: string) => utimesSync(path(name), 1, 1)],
  ])("because it was saved again with the same content, %s", async (_, save) => {
    await writes()
    save("b.txt")
    expect(await undo("--commands")).toMatchObject({
      exitCode: 60,
      foreign: ["b.txt"],
      doubts: [{ path: "b.txt", reason: "it was written again since, with the same content" }],
    })
    expect([read("a.txt"), read("b.txt")]).toEqual(["a\n", "B\n"])
  })

  test("because a later session wrote it; once that is undone, it is undone as well", async () => {
    const first = await writes()
    const second = await ran(["file_write", { path: "a.txt", contents: "AA\n" }])
    const early = await undo(first, "--commands")
    expect(early).toMatchObject({ exitCode: 60, foreign: ["a.txt"], restored: ["b.txt"] })
    expect(await undo(second)).toMatchObject({ exitCode: 0, restored: ["a.txt"] })
    expect(read("a.txt")).toBe("A\n")
    expect(await undo(first)).toMatchObject({ exitCode: 0, restored: ["a.txt"] })
    expect(read("a.txt")).toBe("a\n")
    expect(await check(room.workspace)).toEqual([])
  })

  gitTest("and --also takes it, with what was there kept", async () => {
    const id = await writes()
    git("add", "-A")
    git("commit", "-qm", "mine")
    const undone = await undo(id, "--also", "a.txt", "--also", "new.txt")
    expect(undone).toMatchObject({
      exitCode: 60,
      restored: ["a.txt"],
      removed: ["new.txt"],
      foreign: ["b.txt"],
    })
    await room.acode("checkpoint", "restore", undone.keptId)
    expect([read("a.txt"), read("b.txt"), read("new.txt")]).toEqual(["A\n", "B\n", "n\n"])
  })

  test("and --yes does not answer for a person", async () => {
    await writes()
    writeFileSync(path("a.txt"), "mine\n")
    const undone = await undo("--yes=all", "--ack-danger")
    expect(undone).toMatchObject({ exitCode: 60, foreign: ["a.txt", "b.txt", "new.txt"] })
    expect([read("a.txt"), read("b.txt")]).toEqual(["mine\n", "B\n"])
  })
})

gitTest("a branch that was switched while a command ran is not overwritten", async () => {
  git("switch", "-qc", "other")
  writeFileSync(path("a.txt"), "other\n")
  git("commit", "-qam", "other")
  git("switch", "-q", "main")
  room.plan([sh("while [ ! -e go ]; do sleep 0.05; done; echo made > made.txt")])
  const running = room.approveAndRun()
  await eventually("the command runs", () => existsSync(room.workspace.state("checkpoints/alive")))
  git("switch", "-q", "other")
  writeFileSync(path("go"), "")
  await running
  const undone = await undo()
  expect(undone).toMatchObject({ exitCode: 60, restored: [], removed: [] })
  expect(undone.foreign.toSorted()).toEqual(["a.txt", "go", "made.txt"])
  expect(read("a.txt")).toBe("other\n")
})

describe("what changed while a command ran may be a person's", () => {
  const made = () =>
    ran(
      ["file_write", { path: "b.txt", contents: "B\n" }],
      sh("echo mine > a.txt; mkdir d; echo x > d/new.txt"),
    )
  const now = () => [read("a.txt"), read("b.txt"), read("d/new.txt")]

  test("so it stays where nobody can be asked; what acode wrote itself is undone", async () => {
    const id = await made()
    const run = await room.acode("session", "undo")
    expect(run.exitCode).toBe(60)
    expect(now()).toEqual(["mine\n", "b\n", "x\n"])
    const reason = "it changed while a command ran, by the command or by somebody else"
    expect(run.stdout).toBe(
      [
        "restored: b.txt",
        ...["a.txt", "d/", "d/new.txt"].map(each => `left alone: ${each} (${reason})`),
        "",
      ].join("\n"),
    )
    const [, advice = ""] = /→ `acode (session undo \S+ --commands)`/.exec(run.stderr) ?? []
    expect(advice).toContain(id.slice(-8))
    const again = await room.acode(...advice.split(" "))
    expect([again.exitCode, now(), existsSync(path("d"))]).toEqual([0, ["a\n", "b\n", null], false])
    const [, keptId = ""] = /acode checkpoint restore (chk_[0-9a-f-]+)/.exec(again.stderr) ?? []
    await room.acode("checkpoint", "restore", keptId)
    expect(now()).toEqual(["mine\n", "b\n", "x\n"])
  })

  test("so an undo that leaves everything alone is none", async () => {
    await ran(sh("echo mine > a.txt"))
    expect(await undo()).toMatchObject({ exitCode: 60, foreign: ["a.txt"], keptId: null })
    expect((await room.acode("session", "list")).stdout).not.toContain("(undone)")
    expect(await undo("--commands")).toMatchObject({ exitCode: 0, restored: ["a.txt"] })
    expect((await room.acode("session", "list")).stdout).toContain("(undone)")
  })

  test("so --commands does not take what changed since", async () => {
    await made()
    writeFileSync(path("a.txt"), "newer\n")
    expect(await undo("--commands")).toMatchObject({
      exitCode: 60,
      foreign: ["a.txt"],
      removed: ["d/", "d/new.txt"],
    })
    expect(now()).toEqual(["newer\n", "b\n", null])
  })

  testWhere(missingProgram("tmux"))("so a person at a terminal is asked once about all of it", async () => {
    const odd = "odd \u001b[2J\nname.txt"
    await ran(
      ["file_write", { path: "b.txt", contents: "B\n" }],
      sh(`echo mine > a.txt; mkdir d; echo x > d/new.txt; echo x > "$(printf 'odd \\033[2J\\nname.txt')"`),
    )
    for (const [key, exitCode, expected] of [
      ["n", 60, ["mine\n", "b\n", "x\n", "x\n"]],
      ["y", 0, ["a\n", "b\n", null, null]],
    ] as const) {
      const { root, environment } = room.workspace
      using terminal = openTerminal({
        argv: [acodeProgram(), "session", "undo"],
        cwd: root,
        env: environment,
      })
      const screen = await terminal.see("put these back too?")
      expect(screen).toContain("these changed while a command ran, by it or by you:")
      for (const name of ["a.txt", "d/", "d/new.txt", '"odd \\033[2J\\nname.txt"'])
        expect(screen).toContain(`\n  ${name}\n`)
      terminal.press(key)
      expect(await terminal.exitStatus()).toBe(exitCode)
      expect(terminal.screen().match(/put these back too/g)).toHaveLength(1)
      expect([...now(), read(odd)]).toEqual([...expected])
    }
  })
})
