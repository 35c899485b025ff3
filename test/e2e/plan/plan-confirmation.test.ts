import { afterEach, beforeEach, expect } from "bun:test"
import { existsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { acodeProgram } from "../../support/acode.ts"
import { check } from "../../support/checker/checker.ts"
import { type PlanWorkspace, planWorkspace } from "../../support/plan/plan-workspace.ts"
import { missingProgram, testWhere } from "../../support/requirement.ts"
import { openTerminal } from "../../support/terminal/terminal.ts"

const atTerminal = testWhere(missingProgram("tmux"))

let room: PlanWorkspace
beforeEach(async () => {
  room = planWorkspace({ files: { "a.txt": "one\ntwo\n" } })
  room.plan([
    ["file_write", { path: "a.txt", contents: "one\nthree\n" }, { requires_confirmation: true }],
    ["file_write", { path: "b.txt", contents: "x" }],
  ])
  await room.acode("plan", "approve", room.planFile)
})
afterEach(() => room[Symbol.dispose]())

const open = () =>
  openTerminal({
    argv: [acodeProgram(), "plan", "run", room.planFile],
    cwd: room.workspace.root,
    env: room.workspace.environment,
  })
const ran = () => existsSync(join(room.workspace.root, "b.txt"))

atTerminal("a person sees the change with its lines and approves it", async () => {
  using terminal = open()
  const asked = await terminal.see("a approve")
  expect(asked).toContain("three")
  expect(asked).toContain("the plan asks for confirmation")
  terminal.press("a")
  expect(await terminal.exitStatus()).toBe(0)
  expect(ran()).toBe(true)
  expect(await check(room.workspace)).toEqual([])
})

atTerminal("a person denies it: E105, exit 33, and nothing is written", async () => {
  using terminal = open()
  await terminal.see("a approve")
  terminal.press("d")
  await terminal.see("E105")
  expect(await terminal.exitStatus()).toBe(33)
  expect(ran()).toBe(false)
})

atTerminal("a person stops: the session is cancelled, exit 23", async () => {
  using terminal = open()
  await terminal.see("a approve")
  terminal.press("x")
  expect(await terminal.exitStatus()).toBe(23)
  const [session] = JSON.parse((await room.acode("session", "list", "--json")).stdout)
  expect(session).toMatchObject({ state: "CANCELLED", exitCode: 23 })
})

atTerminal("another terminal answers", async () => {
  using terminal = open()
  await terminal.see("a approve")
  const [open_] = JSON.parse((await room.acode("approvals", "list", "--json")).stdout)
  expect(open_).toMatchObject({ state: "open", kind: "confirmation", files: ["a.txt"] })
  expect((await room.acode("approve", open_.id.slice(-8))).exitCode).toBe(0)
  expect(await terminal.exitStatus()).toBe(0)
  expect(ran()).toBe(true)
  expect((await room.acode("deny", open_.id)).exitCode).not.toBe(0)
  expect(await check(room.workspace)).toEqual([])
})

atTerminal(
  "the file changes while the person looks: what was approved is not what would be done",
  async () => {
    using terminal = open()
    await terminal.see("a approve")
    writeFileSync(join(room.workspace.root, "a.txt"), "somebody else\n")
    terminal.press("a")
    await terminal.see("ACODE-APPR-003")
    expect(await terminal.exitStatus()).toBe(33)
    expect(ran()).toBe(false)
  },
)

atTerminal("Ctrl-C at the question ends the run, and the session says so", async () => {
  using terminal = open()
  await terminal.see("a approve")
  terminal.press("C-c")
  expect([23, 130]).toContain(await terminal.exitStatus())
  expect(ran()).toBe(false)
  expect(await check(room.workspace)).toEqual([])
})

atTerminal("a second run in the same workspace is refused while the first one waits", async () => {
  using terminal = open()
  await terminal.see("a approve")
  const second = await room.acode("plan", "run", room.planFile)
  expect([second.exitCode, second.stderr]).toEqual([1, expect.stringContaining("another acode is using")])
  terminal.press("a")
  expect(await terminal.exitStatus()).toBe(0)
})
