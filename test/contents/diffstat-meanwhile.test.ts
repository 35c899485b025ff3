import { afterEach, beforeEach, expect } from "bun:test"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { PlanReport } from "../../src/engine/lanes/plan-result.ts"
import { eventually } from "../support/eventually.ts"
import { type PlanWorkspace, planWorkspace } from "../support/plan/plan-workspace.ts"
import { missingProgram, missingSandbox, testWhere } from "../support/requirement.ts"

const sandboxTest = testWhere(missingSandbox ?? missingProgram("git"))

let room: PlanWorkspace
beforeEach(() => {
  const files = {
    ".gitignore": "signals/\n",
    "a.txt": "a\n",
    "b.txt": "b\n",
    "c.txt": "c\n",
    "signals/x": "",
  }
  room = planWorkspace({ git: true, files })
  git("switch", "-q", "-c", "other")
  writeFileSync(at("b.txt"), "b of the other branch\n")
  git("rm", "-q", "c.txt")
  git("commit", "-q", "-a", "-m", "other")
  git("switch", "-q", "-")
})
afterEach(() => room[Symbol.dispose]())

const at = (path: string) => join(room.workspace.root, path)

function git(...args: readonly string[]): void {
  const identity = ["-c", "user.name=Test", "-c", "user.email=test@example.invalid"]
  const run = Bun.spawnSync(["git", ...identity, ...args], { cwd: room.workspace.root, stderr: "pipe" })
  if (run.exitCode !== 0) throw new Error(`git ${args.join(" ")}: ${run.stderr}`)
}

/** A tool writes one file and a command another one; something else happens while the command runs. */
async function planRun(meanwhile: () => unknown): Promise<PlanReport> {
  const waiting = "touch signals/ready; until [ -e signals/go ]; do sleep 0.02; done; echo made >> made.txt"
  room.plan([
    ["file_write", { path: "tool.txt", contents: "tool\n" }],
    ["run_command", { argv: ["sh", "-c", waiting] }],
  ])
  const run = room.approveAndRun()
  await eventually("the command runs", () => existsSync(at("signals/ready")))
  await meanwhile()
  writeFileSync(at("signals/go"), "")
  const { result } = await run
  expect(result.exit_code).toBe(0)
  return result
}

const counted = ({ changes }: PlanReport) => changes.files.map(({ path, added }) => [path, added])
const both = [
  ["made.txt", 1],
  ["tool.txt", 1],
]

sandboxTest("what git switch did while a command ran is named apart and not counted", async () => {
  const result = await planRun(() => git("switch", "-q", "other"))
  expect(counted(result)).toEqual(both)
  expect(result.changes.meanwhile).toEqual([
    { path: "b.txt", by: "git" },
    { path: "c.txt", by: "git" },
  ])
  expect(result.changes.total).toMatchObject({ files: 2, added: 2, removed: 0, duringCommands: 1 })
  const shown = (await room.acode("session", "show")).stdout
  expect(shown).toMatch(/ 2 files changed, 2 lines added, 0 lines removed\n +1 of them while a command ran/)
  expect(shown).toMatch(/ also changed meanwhile by git .*, not counted: b\.txt, c\.txt\n/)
  // Switched back, they are not what was left, and still none of the session's.
  git("switch", "-q", "-")
  const later = JSON.parse((await room.acode("session", "show", "--json")).stdout).changes
  expect(later.files.map(({ path }: { readonly path: string }) => path)).toEqual(["made.txt", "tool.txt"])
})

sandboxTest("what the user committed while a command ran is theirs", async () => {
  const result = await planRun(() => {
    writeFileSync(at("a.txt"), "a\nmy own line\n")
    git("commit", "-q", "-m", "mine", "a.txt")
  })
  expect([counted(result), result.changes.meanwhile]).toEqual([both, [{ path: "a.txt", by: "git" }]])
})

sandboxTest(
  "where another command of acode ran at the same time, only what a tool wrote is counted",
  async () => {
    const result = await planRun(async () => {
      const { exitCode } = await room.acode("exec", "--", "sh", "-c", "echo theirs > theirs.txt")
      expect(exitCode).toBe(0)
    })
    expect(counted(result)).toEqual([["tool.txt", 1]])
    expect(result.changes.meanwhile).toEqual([
      { path: "made.txt", by: "command" },
      { path: "theirs.txt", by: "command" },
    ])
  },
)

sandboxTest("a command before or after is no reason to doubt", async () => {
  expect((await room.acode("exec", "--", "true")).exitCode).toBe(0)
  const result = await planRun(() => null)
  expect((await room.acode("exec", "--", "true")).exitCode).toBe(0)
  expect([counted(result), result.changes.meanwhile]).toEqual([both, undefined])
  expect(JSON.parse((await room.acode("session", "show", "--json")).stdout).changes).toEqual(result.changes)
  expect(readFileSync(at("made.txt"), "utf8")).toBe("made\n")
})
