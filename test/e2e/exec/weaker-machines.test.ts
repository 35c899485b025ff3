import { afterEach, beforeEach, expect } from "bun:test"
import { readFileSync } from "node:fs"
import { probeChoice } from "../../../src/sandbox/select.ts"
import { acodeProgram } from "../../support/acode.ts"
import {
  cannotForbidNamespaces,
  missingSandbox,
  testWhere,
  withoutNamespaces,
} from "../../support/requirement.ts"
import { type TempWorkspace, tempWorkspace } from "../../support/workspace/temp-workspace.ts"

let room: TempWorkspace
beforeEach(() => {
  room = tempWorkspace()
})
afterEach(() => room[Symbol.dispose]())

/** Runs what follows with a part of `/proc` covered, as a container does: the kernel gives it no fresh one then. */
const masked = [
  ...["unshare", "--user", "--map-current-user", "--keep-caps", "--mount", "--pid", "--fork", "--mount-proc"],
  ...["--", "/bin/sh", "-c", 'mount -t tmpfs none /proc/irq && exec "$@"', "sh"],
]
const cannotMask =
  Bun.which("unshare") !== null && Bun.spawnSync([...masked, "true"], { stderr: "ignore" }).exitCode === 0
    ? null
    : "this user cannot cover a part of /proc"

async function inside(machine: readonly string[], ...args: readonly string[]) {
  const child = Bun.spawn([...machine, acodeProgram(), ...args], {
    cwd: room.root,
    env: { ...room.environment, PATH: process.env["PATH"] ?? "", CANARY_TOKEN: "canary-value" },
    stdout: "pipe",
    stderr: "pipe",
  })
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()])
  return { stdout, stderr, exitCode: await child.exited }
}

const maskedTest = testWhere(missingSandbox ?? cannotMask)

maskedTest(
  "in a container that masks /proc commands are confined, and read nothing of other processes",
  async () => {
    room.write(".git/config", "[core]\n")
    const script = `cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep -c canary-value
    echo x >> .git/config; echo x > /etc/planted; echo 1 > /proc/sys/kernel/panic; kill -0 1 && echo alive; echo done > made`
    const ran = await inside(masked, "exec", "--json", "--sandbox", "native", "--shell", "--", script)
    const { result } = JSON.parse(ran.stdout)
    expect(result.sandbox).toMatchObject({ kind: "native", network: "none" })
    expect(result.stdout).toBe("0\nalive\n")
    expect(result.stderr.match(/Read-only file system/g)).toHaveLength(3)
    expect(readFileSync(`${room.root}/made`, "utf8")).toBe("done\n")
    expect(readFileSync(`${room.root}/.git/config`, "utf8")).toBe("[core]\n")
  },
)

maskedTest("doctor says that /proc is masked", async () => {
  const { stdout } = await inside(masked, "doctor")
  expect(stdout).toMatch(/native: works, but .*\/proc is masked, as in containers/)
  expect(stdout).toMatch(/bwrap: bubblewrap (cannot confine here: Can't mount proc|is not installed)/)
})

const missingReduced = (await probeChoice("reduced", "/nonexistent")).reason
const reducedTest = testWhere(cannotForbidNamespaces ?? missingReduced)

reducedTest("without user namespaces confinement is reduced, said at once and recorded", async () => {
  room.write(".env", "TOKEN=secret\n")
  room.write("src/a", "")
  const ran = await inside(
    withoutNamespaces,
    "exec",
    "--json",
    "--shell",
    "--",
    "cat .env; echo made > src/b",
  )
  const { id, result } = JSON.parse(ran.stdout)
  expect(ran.stderr).toMatch(/^reduced confinement, without namespaces: .+ For more: allow user namespaces/)
  expect(result).toMatchObject({ exitCode: 0, stdout: "", sandbox: { kind: "reduced", network: "none" } })
  expect(result.stderr).toContain("Permission denied")
  expect(readFileSync(`${room.root}/src/b`, "utf8")).toBe("made\n")
  const shown = await inside(withoutNamespaces, "runs", "show", id, "--json")
  expect(JSON.parse(shown.stdout).result.sandbox.kind).toBe("reduced")
})
