import { afterEach, beforeEach, expect } from "bun:test"
import { chmodSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { acodeProgram } from "../../support/acode.ts"
import { type PlanWorkspace, planWorkspace } from "../../support/plan/plan-workspace.ts"
import { missingProgram, missingSandbox, testWhere } from "../../support/requirement.ts"

const oddTest = testWhere(missingSandbox ?? missingProgram("setpriv") ?? missingProgram("python3"))

let room: PlanWorkspace
beforeEach(() => {
  room = planWorkspace({ git: true, files: { "a.txt": "a\n", "closed/x": "x\n", unreadable: "u\n" } })
})
afterEach(() => {
  chmodSync(join(room.workspace.root, "closed"), 0o700)
  Bun.spawnSync(["rm", "-rf", room.workspace.root])
  room[Symbol.dispose]()
})

/** Directories below each other whose whole path is longer than the system takes. */
const deep = `
import os
at = os.open('.', os.O_RDONLY)
for depth in range(30):
  os.mkdir('d' * 200, dir_fd=at)
  at = os.open('d' * 200, os.O_RDONLY, dir_fd=at)
os.close(os.open(b'deep', os.O_CREAT | os.O_WRONLY, dir_fd=at))
os.close(os.open(b'bad\\xff', os.O_CREAT | os.O_WRONLY))
os.mkfifo('pipe')
`

/** As somebody to whom permissions apply, which they do not to root. */
function acode(...args: readonly string[]) {
  const drop = process.getuid?.() === 0 ? ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] : []
  const { exitCode, stdout } = Bun.spawnSync([...drop, acodeProgram(), ...args], {
    cwd: room.workspace.root,
    env: room.workspace.environment,
  })
  return { exitCode, stdout: stdout.toString() }
}

oddTest("what cannot be read, is too deep or is not a file costs only itself", () => {
  const { root } = room.workspace
  expect(Bun.spawnSync(["python3", "-c", deep], { cwd: root }).exitCode).toBe(0)
  chmodSync(join(root, "closed"), 0)
  chmodSync(join(root, "unreadable"), 0)
  room.plan([
    [
      "run_command",
      { argv: ["sh", "-c", "echo A > a.txt; echo n > new.txt; for f in bad*; do printf y >> $f; done"] },
    ],
  ])
  expect(acode("plan", "approve", room.planFile).exitCode).toBe(0)
  expect(acode("plan", "run", room.planFile).exitCode).toBe(0)
  const undone = acode("session", "undo", "--commands", "--json")
  expect([undone.exitCode, JSON.parse(undone.stdout)]).toMatchObject([
    0,
    { restored: ["a.txt", expect.stringContaining("bad")], removed: ["new.txt"], blocked: [] },
  ])
  expect([
    readFileSync(join(root, "a.txt"), "utf8"),
    Bun.spawnSync(["sh", "-c", "cat bad*"], { cwd: root }).stdout.toString(),
  ]).toEqual(["a\n", ""])
})

oddTest("a directory that a command changed and closed is opened again, and named", () => {
  room.workspace.write("shut/y", "y\n")
  room.plan([["run_command", { argv: ["sh", "-c", "echo Y > shut/y; chmod 0 shut; echo A > a.txt"] }]])
  expect(acode("plan", "approve", room.planFile).exitCode).toBe(0)
  expect(acode("plan", "run", room.planFile).exitCode).toBe(0)
  const undone = acode("session", "undo", "--commands", "--json")
  expect([undone.exitCode, JSON.parse(undone.stdout)]).toMatchObject([
    1,
    {
      restored: ["a.txt", "shut/"],
      blocked: [{ path: "shut/", reason: expect.stringContaining("not known") }],
    },
  ])
})
