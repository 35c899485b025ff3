import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs"
import { dirname, join } from "node:path"
import { acodeProgram, runAcode } from "../../support/acode.ts"
import { cannotForbidNamespaces, testWhere, withoutNamespaces } from "../../support/requirement.ts"
import { type TempWorkspace, tempWorkspace } from "../../support/workspace/temp-workspace.ts"

let room: TempWorkspace
let temp: string
beforeEach(() => {
  room = tempWorkspace()
  temp = join(room.outside, "tmp")
  mkdirSync(temp)
})
afterEach(() => room[Symbol.dispose]())

const environment = (more: Readonly<Record<string, string>> = {}) => ({
  ...room.environment,
  TMPDIR: temp,
  ...more,
})
const demo = (args: readonly string[] = [], more: Readonly<Record<string, string>> = {}) =>
  runAcode(["demo", ...args], { cwd: room.root, env: environment(more) })

describe("acode demo", () => {
  test("shows all four stages, a failed verification that is mended, and the audit; exit 0", async () => {
    const beganMs = performance.now()
    const run = await demo()
    expect(performance.now() - beganMs).toBeLessThan(10_000)
    expect([run.exitCode, run.stderr]).toEqual([0, ""])
    const order = [
      "[PLANNER] ✓ plan version 1",
      "[EXECUTOR] step 1/3",
      "[VERIFIER] ✗ a1",
      "Cycle 1/3: verifier → executor",
      "t1.fix1",
      "[VERIFIER] ✓ all 3 checks passed",
      "[REVIEWER] approve",
      "COMPLETED (exit 0)",
      "[AUDIT] ✓",
      "acode demo --keep",
    ].map(text => run.stdout.indexOf(text))
    expect(order).not.toContain(-1)
    expect(order).toEqual(order.toSorted((one, other) => one - other))
  })

  test("leaves nothing behind, neither where it was started nor in the user's state", async () => {
    await demo()
    const places = [room.root, temp, room.dataHome, room.configHome, room.stateHome]
    expect(places.flatMap(path => readdirSync(path))).toEqual([])
  })

  test("with --keep leaves a workspace that can be looked at, verified and undone", async () => {
    const kept = await demo(["--keep"])
    expect(kept.exitCode).toBe(0)
    const root = /sample project is in (\S+);/.exec(kept.stdout)?.[1] ?? ""
    const slug = join(root, "src", "slug.js")
    expect(readFileSync(slug, "utf8")).toContain("Diacritic")
    const there = (...args: readonly string[]) =>
      runAcode(["-C", root, ...args], { cwd: room.root, env: environment() })
    expect((await there("audit", "verify")).exitCode).toBe(0)
    expect((await there("session", "undo", "--yes")).exitCode).toBe(0)
    expect(readFileSync(slug, "utf8")).not.toContain("normalize")
    const shown = /rm -r (\S+)/.exec(kept.stdout)?.[1] ?? ""
    expect(dirname(root)).toBe(join(shown))
  })

  test("is a stream of events with --json, from session.started to session.finished", async () => {
    const run = await demo(["--json"])
    const types = run.stdout
      .trimEnd()
      .split("\n")
      .map(line => JSON.parse(line).type)
    expect([run.exitCode, types.at(0), types.at(-1)]).toEqual([0, "session.started", "session.finished"])
  })

  test("is not kept from working by settings of the user that forbid everything", async () => {
    mkdirSync(join(room.configHome, "acode"))
    await Bun.write(
      join(room.configHome, "acode", "config.yml"),
      'schema_version: "1"\napprovals:\n  file_write: deny\n  terminal_commands: deny\n',
    )
    expect((await demo()).exitCode).toBe(0)
  })

  test("runs the tests of the sample with what runs acode where there is no node, and says so", async () => {
    const programs = join(room.outside, "programs")
    mkdirSync(programs)
    for (const name of ["sh", "env", "dirname", "readlink"]) {
      const found = Bun.which(name)
      if (found !== null) symlinkSync(found, join(programs, name))
    }
    const run = await demo([], { PATH: programs })
    expect([run.exitCode, run.stderr]).toEqual([0, ""])
    expect(run.stdout).not.toContain("run with: node")
  })

  test("says what to do when its directory cannot be made, exit 1", async () => {
    rmSync(temp, { recursive: true })
    const { exitCode, stderr } = await demo()
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("error ACODE-FS-010: no directory")])
  })

  testWhere(cannotForbidNamespaces)("works where no sandbox does, says so and how to get one", async () => {
    const child = Bun.spawn([...withoutNamespaces, acodeProgram(), "demo"], {
      cwd: room.root,
      env: environment(),
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    })
    const [stdout] = await Promise.all([child.stdout.text(), child.exited])
    expect([child.exitCode, existsSync(temp) && readdirSync(temp)]).toEqual([0, []])
    expect(stdout).toContain("No full sandbox works here")
    expect(stdout).toContain("sysctl user.max_user_namespaces")
  })
})
