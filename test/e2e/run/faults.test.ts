import { Database } from "bun:sqlite"
import { describe, expect, test } from "bun:test"
import { existsSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type AcodeRun, runAcode } from "../../support/acode.ts"
import { missingSandbox, testWhere } from "../../support/requirement.ts"
import { type TempWorkspace, tempWorkspace } from "../../support/workspace/temp-workspace.ts"

function acode(workspace: TempWorkspace, ...args: string[]): Promise<AcodeRun> {
  return runAcode(args, { cwd: workspace.root, env: workspace.environment })
}

const rootTest = testWhere(process.getuid?.() === 0 ? null : "mounting a small file system needs root")

describe("a database that cannot be used refuses the command and loses nothing", () => {
  test("locked by another process", async () => {
    using workspace = tempWorkspace()
    await acode(workspace, "exec", "--", "true")
    const other = new Database(workspace.state("workspace.db"))
    other.run("BEGIN IMMEDIATE")
    const run = await acode(workspace, "exec", "--", "touch", "ran")
    other.run("ROLLBACK")
    other.close()
    expect(run.exitCode).toBe(125)
    expect(run.stderr).toContain("ACODE-DB-002")
    expect(existsSync(join(workspace.root, "ran"))).toBe(false)
    expect((await acode(workspace, "exec", "--", "true")).exitCode).toBe(0)
  }, 60_000)

  test("cut short", async () => {
    using workspace = tempWorkspace()
    for (let round = 0; round < 3; round++) await acode(workspace, "exec", "--", "true")
    const path = workspace.state("workspace.db")
    truncateSync(path, readFileSync(path).length - 4096)
    const run = await acode(workspace, "exec", "--", "touch", "ran")
    expect(run.exitCode).toBe(125)
    expect(run.stderr).toMatch(/ACODE-(DB-005|SEC-00\d)/)
    expect((await acode(workspace, "audit", "verify")).exitCode).toBe(65)
  })

  test("not a database at all", async () => {
    using workspace = tempWorkspace()
    mkdirSync(workspace.state(), { recursive: true, mode: 0o700 })
    writeFileSync(workspace.state("workspace.db"), "x".repeat(10_000))
    for (const [line, exitCode] of [
      [["exec", "--", "true"], 125],
      [["runs", "list"], 65],
      [["audit", "verify"], 65],
    ] as const) {
      const run = await acode(workspace, ...line)
      expect({ line, exitCode: run.exitCode }).toEqual({ line, exitCode })
      expect(run.stderr).toContain("ACODE-DB-005")
    }
    expect(readFileSync(workspace.state("workspace.db"), "utf8")).toBe("x".repeat(10_000))
  })

  rootTest("on a full disk, and usable again once there is space", async () => {
    using workspace = tempWorkspace()
    const agent = workspace.state()
    mkdirSync(agent, { recursive: true, mode: 0o700 })
    expect(Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "size=1m,mode=0700", "tmpfs", agent]).exitCode).toBe(
      0,
    )
    try {
      expect((await acode(workspace, "exec", "--", "true")).exitCode).toBe(0)
      Bun.spawnSync(["sh", "-c", 'dd if=/dev/zero of="$1/filler" bs=4096 2>/dev/null', "sh", agent])
      const full = await acode(workspace, "exec", "--", "seq", "1", "200000")
      expect(full.exitCode).toBe(125)
      expect(full.stderr).toContain("ACODE-DB-004")
      Bun.spawnSync(["rm", join(agent, "filler")])
      expect((await acode(workspace, "exec", "--", "true")).exitCode).toBe(0)
      expect((await acode(workspace, "audit", "verify")).exitCode).toBe(0)
    } finally {
      Bun.spawnSync(["umount", agent])
    }
  })
})

describe("commands that misbehave end as what they are", () => {
  // Only the sandbox limits the processes of root: without it the bomb starves everything else that runs here.
  testWhere(missingSandbox)(
    "a fork bomb is held and the machine goes on",
    async () => {
      using workspace = tempWorkspace()
      const bomb = "f() { f | f & f; }; f"
      const run = await acode(workspace, "exec", "--timeout", "3", "--", "bash", "-c", bomb)
      expect(run.exitCode).not.toBe(0)
      expect((await acode(workspace, "exec", "--", "true")).exitCode).toBe(0)
    },
    60_000,
  )

  test("a memory hog is ended by --memory", async () => {
    using workspace = tempWorkspace()
    const hog = "x = []\nwhile True: x.append(bytearray(8 * 1024 * 1024))"
    const run = await acode(
      workspace,
      "exec",
      "--memory",
      "64",
      "--timeout",
      "30",
      "--json",
      "--",
      "python3",
      "-c",
      hog,
    )
    const { result } = JSON.parse(run.stdout)
    expect(result.success).toBe(false)
    expect(result.timedOut).toBe(false)
  }, 60_000)

  test("a command that ignores SIGTERM is killed all the same", async () => {
    using workspace = tempWorkspace()
    const stubborn = "trap '' TERM INT HUP; while :; do sleep 0.1; done"
    const run = await acode(workspace, "exec", "--timeout", "0.5", "--", "sh", "-c", stubborn)
    expect(run.exitCode).toBe(124)
  })

  test("a command that waits for input reads its end", async () => {
    using workspace = tempWorkspace()
    expect((await acode(workspace, "exec", "--timeout", "20", "--", "cat")).exitCode).toBe(0)
  })

  for (const signal of ["HUP", "INT", "QUIT", "ABRT", "KILL", "SEGV", "PIPE", "ALRM", "TERM", "USR1", "USR2"])
    test(`death by SIG${signal} is told as such`, async () => {
      using workspace = tempWorkspace()
      // Behind bubblewrap's reaper 129 stays a code, because git exits with it.
      const sandbox = signal === "HUP" ? "none" : "auto"
      const run = await acode(
        workspace,
        "exec",
        ...["--sandbox", sandbox, "--json"],
        "--",
        "sh",
        "-c",
        `ulimit -c 0; kill -${signal} $$`,
      )
      expect(JSON.parse(run.stdout).result).toMatchObject({
        ending: "signalled",
        signal: `SIG${signal}`,
        exitCode: null,
        success: false,
      })
    })
})
