import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  utimesSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { acodeProgram, startAcode } from "../../support/acode.ts"
import { check } from "../../support/checker/checker.ts"
import { eventually } from "../../support/eventually.ts"
import { type PlanWorkspace, planWorkspace } from "../../support/plan/plan-workspace.ts"
import { missingProgram, testWhere } from "../../support/requirement.ts"
import { openTerminal } from "../../support/terminal/terminal.ts"

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

  const again = "it was written again with the same content, or its time was changed"
  test.each([
    ["saved in place", again, (name: string) => writeFileSync(path(name), readFileSync(path(name)))],
    [
      "saved by a rename",
      "it was replaced since, by a file with the same content",
      (name: string) => {
        writeFileSync(path("swap"), readFileSync(path(name)))
        renameSync(path("swap"), path(name))
      },
    ],
    ["given another time", again, (name: string) => utimesSync(path(name), 1, 1)],
    [
      "given another mode",
      "its mode, owner, links or name were changed since; its content is the same",
      (name: string) => chmodSync(path(name), 0o600),
    ],
  ])("because it was %s, with the same content", async (_, reason, touch) => {
    await writes()
    touch("b.txt")
    expect(await undo("--commands")).toMatchObject({
      exitCode: 60,
      foreign: ["b.txt"],
      doubts: [{ path: "b.txt", reason }],
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
    const reason = "it changed while a command ran, by the command or another program"
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

  test("so an undo that leaves some of it alone is one in part, and the session is not pruned", async () => {
    const id = await made()
    expect(await undo()).toMatchObject({ exitCode: 60, restored: ["b.txt"] })
    const listed = await room.acode("session", "list")
    expect(listed.stdout).toContain("(partly undone)")
    await ran(["file_read", { path: "b.txt" }])
    const prune = () => room.acode("session", "prune", "--older-than", "0s", "--keep", "1", "--json")
    expect(JSON.parse((await prune()).stdout)).toMatchObject({ removed: [], left: [{ id }] })
    expect((await undo(id, "--commands")).exitCode).toBe(0)
    expect((await room.acode("session", "list")).stdout).toContain("(undone)")
    expect(JSON.parse((await prune()).stdout)).toMatchObject({ removed: [{ id }], left: [] })
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
      const screen = await terminal.see("revert these too?")
      expect(screen).toContain("these files changed while a command ran; the command or you changed them:")
      for (const name of ["a.txt", "d/", "d/new.txt", '"odd \\033[2J\\nname.txt"'])
        expect(screen).toContain(`\n  ${name}\n`)
      terminal.press(key)
      expect(await terminal.exitStatus()).toBe(exitCode)
      expect(terminal.screen().match(/revert these too/g)).toHaveLength(1)
      expect([...now(), read(odd)]).toEqual([...expected])
    }
  })
})

test("what is advised for a file whose name begins like a flag takes it for no flag", async () => {
  const id = await ran(["file_write", { path: "-rf", contents: "new\n" }])
  writeFileSync(path("-rf"), "hers\n")
  const advised = async (command: string) => {
    const { exitCode, stderr } = await room.acode(...command.split(" "))
    expect(exitCode).toBe(60)
    const [, line = ""] = /→ `acode (.+)` (?:reverts|restores) that path/.exec(stderr) ?? []
    expect((await room.acode(...line.split(" "))).exitCode).toBe(0)
  }
  await advised(`session undo ${id}`)
  expect(read("-rf")).toBeNull()
  writeFileSync(path("-rf"), "again\n")
  const copies = JSON.parse((await room.acode("checkpoint", "list", "--json")).stdout)
  await advised(`checkpoint restore ${copies[0].id}`)
  expect(read("-rf")).toBe("hers\n")
})

describe("an undo of many files", () => {
  const count = 300
  const present = () => readdirSync(room.workspace.root).filter(each => /^f\d+$/.test(each))

  /** Begins to undo a session that made many files; some of them are gone and most are not. */
  async function begun() {
    const id = await ran(
      sh(`i=0; while [ $i -lt ${count} ]; do echo x > "$(printf f%04d $i)"; i=$((i+1)); done`),
    )
    expect(present()).toHaveLength(count)
    const { root, environment } = room.workspace
    const undoing = startAcode(["session", "undo", id, "--commands"], { cwd: root, env: environment })
    await eventually("some files are gone", () => present().length < count, { everyMs: 2 })
    return { id, undoing }
  }

  test("says when it is interrupted what is done, and another one completes it", async () => {
    const { undoing } = await begun()
    undoing.kill("SIGINT")
    const run = await undoing.ended
    expect([run.exitCode, run.signal]).toEqual([130, null])
    const left = present()
    expect(left.length).toBeGreaterThan(0)
    expect(run.stdout.split("\n").filter(line => line.startsWith("removed: f"))).toHaveLength(
      count - left.length,
    )
    const notBack = run.stdout.split("\n").filter(line => line.startsWith("not restored: f"))
    expect(notBack).toHaveLength(left.length)
    expect(run.stderr).toContain(`interrupted: ${count - left.length} path`)
    expect((await room.acode("session", "list")).stdout).toContain("(partly undone)")
    const [, advice = ""] = /→ `acode (session undo \S+ --commands)` continues/.exec(run.stderr) ?? []
    expect((await room.acode(...advice.split(" "))).exitCode).toBe(0)
    expect(present()).toEqual([])
    expect(await check(room.workspace)).toEqual([])
  })

  test("can be taken back, which says when it is interrupted as well, and goes on", async () => {
    const { undoing } = await begun()
    await undoing.ended
    expect(present()).toEqual([])
    const id = JSON.parse((await room.acode("checkpoint", "list", "--json")).stdout)[0].id
    const { root, environment } = room.workspace
    const restoring = startAcode(["checkpoint", "restore", id], { cwd: root, env: environment })
    await eventually("some files are back", () => present().length > 0, { everyMs: 2 })
    restoring.kill("SIGINT")
    const run = await restoring.ended
    const back = present().length
    expect([run.exitCode, run.signal]).toEqual([130, null])
    expect(back).toBeLessThan(count)
    expect(run.stdout.match(/^restored: f\d+$/gm)).toHaveLength(back)
    expect(run.stdout.match(/^not restored: f\d+ \(it was interrupted/gm)).toHaveLength(count - back)
    expect(run.stderr).toContain(`interrupted: ${back} path`)
    const [, advice = ""] = /→ `acode (checkpoint restore \S+)` continues/.exec(run.stderr) ?? []
    expect((await room.acode(...advice.split(" "))).exitCode).toBe(0)
    expect(present()).toHaveLength(count)
    expect(await check(room.workspace)).toEqual([])
  })

  test("does not advise the same undo for a file that is written meanwhile", async () => {
    const { undoing } = await begun()
    const last = present().at(-1) ?? ""
    writeFileSync(path(last), "hers\n")
    const run = await undoing.ended
    expect([run.exitCode, read(last)]).toEqual([60, "hers\n"])
    expect(run.stdout).toContain(`left alone: ${last} (it was changed while the undo ran)`)
    expect(run.stderr).not.toContain("--commands")
    expect(run.stderr).toContain(`--also ${last}\``)
  })
})
