import { expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { runAcode } from "../support/acode.ts"
import { planWorkspace } from "../support/plan/plan-workspace.ts"
import { initRepository } from "../support/workspace/temp-workspace.ts"

test("nothing is done in a home directory, above it, or in one of the system", async () => {
  using room = planWorkspace()
  const { outside, environment } = room.workspace
  room.plan([["write_file", { path: "made", content: "x" }]])
  const home = join(outside, "home")
  mkdirSync(home)
  const env = { ...environment, HOME: home }
  const broad = [home, outside, "/", "/etc", "/etc/ssl", "/usr", "/usr/local/lib", "/home", "/tmp"]
  for (const directory of broad) {
    const refused = await runAcode(["-C", directory, "exec", "--", "true"], { cwd: outside, env })
    expect([directory, refused.exitCode, refused.stdout]).toEqual([directory, 125, ""])
    expect(refused.stderr).toStartWith(`error ACODE-CLI-008: acode does not work in ${directory}: `)
    expect(refused.stderr).toContain("--allow-broad-workspace")
  }
  for (const verb of [
    ["run", "do it", "--yes=all,plan", "--ack-danger", "--script", room.planFile],
    ["plan", "approve", room.planFile],
    ["plan", "run", room.planFile],
  ]) {
    const refused = await runAcode(verb, { cwd: home, env })
    expect([verb[0], refused.exitCode]).toEqual([verb[0], 2])
    expect(refused.stderr).toContain("ACODE-CLI-008")
  }
  expect(readdirSync(home)).toEqual([])
  expect(readdirSync(environment["XDG_STATE_HOME"] ?? "")).toEqual([])
})

test("a directory below a home that is a repository itself says what it would have worked in", async () => {
  using room = planWorkspace()
  const { outside, environment } = room.workspace
  const home = join(outside, "home")
  const project = join(home, "project")
  mkdirSync(project, { recursive: true })
  initRepository(home)
  const env = { ...environment, HOME: home }
  const refused = await runAcode(["exec", "--", "true"], { cwd: project, env })
  expect([refused.exitCode, refused.stderr]).toEqual([125, expect.stringContaining(`  at ${home}\n`)])
  expect((await runAcode(["-C", ".", "exec", "--", "true"], { cwd: project, env })).exitCode).toBe(0)
})

test("whoever means it works there with a flag, and what is advised then says the flag as well", async () => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "acode-broad-")))
  try {
    using room = planWorkspace()
    const env = { ...room.workspace.environment, HOME: base }
    const flag = "--allow-broad-workspace"
    expect((await runAcode([flag, "exec", "--", "true"], { cwd: base, env })).exitCode).toBe(0)
    const advised = await runAcode(["session", "show", "ses_none", flag], { cwd: base, env })
    expect([advised.exitCode, advised.stderr]).toEqual([2, expect.stringContaining(`acode ${flag} `)])
  } finally {
    rmSync(base, { recursive: true, force: true })
  }
})
