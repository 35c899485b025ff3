import { describe, expect } from "bun:test"
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { check } from "../../support/checker/checker.ts"
import { eventually } from "../../support/eventually.ts"
import { testWhere } from "../../support/requirement.ts"
import { taskViolations, taskWorkspace } from "../../support/task-workspace.ts"

const says = (text: string) => ({ stage: "agent", text })
const rootTest = testWhere(
  process.getuid?.() === 0 && mounts() ? null : "a small disk cannot be mounted here",
)

function mounts(): boolean {
  using disk = smallDisk(mkdirIn("/tmp", `acode-disk-${process.pid}`))
  return disk.isMounted
}

function mkdirIn(...parts: readonly [string, ...string[]]): string {
  const path = join(...parts)
  mkdirSync(path, { recursive: true, mode: 0o700 })
  return path
}

interface SmallDisk extends Disposable {
  readonly isMounted: boolean
  fill(): void
  free(): void
}

/** A disk of 256 KiB at a directory, until it is disposed of. */
function smallDisk(directory: string): SmallDisk {
  const run = (...argv: readonly string[]) => Bun.spawnSync([...argv]).exitCode === 0
  const isMounted = run("mount", "-t", "tmpfs", "-o", "size=256k,mode=0700", "tmpfs", directory)
  return {
    isMounted,
    fill: () => void run("sh", "-c", 'dd if=/dev/zero of="$1/.filler" bs=4096 2>/dev/null', "sh", directory),
    free: () => void run("rm", "-f", join(directory, ".filler")),
    [Symbol.dispose]: () => void (isMounted && run("umount", directory)),
  }
}

describe("a disk that is full", () => {
  rootTest(
    "when the output is written: the task fails, nothing is there by halves, and it can be run again",
    async () => {
      using room = taskWorkspace()
      room.task("one")
      const out = mkdirIn(room.temp.root, "out")
      using disk = smallDisk(out)
      const text = "x".repeat(300_000)
      const full = await room.acode(["agent", "run", "one", "--script", room.script(says(text))])
      expect([full.exitCode, full.stdout]).toEqual([30, expect.stringContaining("WORKSPACE_WRITE_FAILED")])
      expect([room.stored("one").status, readdirSync(out)]).toEqual(["failed", []])
      expect((await room.acode(["agent", "reset", "one", "--reason", "space"])).exitCode).toBe(0)
      const again = await room.acode(["agent", "run", "one", "--script", room.script(says("short"))])
      expect([again.exitCode, readFileSync(join(out, "one.md"), "utf8")]).toEqual([0, "short"])
      expect(disk.isMounted).toBe(true)
      expect(await check(room.temp)).toEqual([])
    },
  )

  rootTest("when a task is claimed: no model is asked, and its file stays", async () => {
    using room = taskWorkspace()
    const tasks = mkdirIn(room.temp.root, "tasks")
    using disk = smallDisk(tasks)
    room.task("one")
    const before = readFileSync(join(tasks, "one.md"), "utf8")
    disk.fill()
    const script = room.script(says("words"))
    const full = await room.acode(["agent", "run", "one", "--script", script])
    expect([full.exitCode, full.stdout]).toEqual([30, expect.stringContaining("WORKSPACE_WRITE_FAILED")])
    expect(readFileSync(join(tasks, "one.md"), "utf8")).toBe(before)
    disk.free()
    expect((await room.acode(["agent", "run", "one", "--script", script])).exitCode).toBe(0)
    expect(await check(room.temp)).toEqual([])
  })

  rootTest(
    "when the last status is written: the next run finishes the task, without asking again",
    async () => {
      using room = taskWorkspace()
      const tasks = mkdirIn(room.temp.root, "tasks")
      using disk = smallDisk(tasks)
      room.task("one")
      const slow = { ...says("words"), fault: { kind: "slow", after_ms: 1_000 } }
      const script = room.script(slow)
      await using running = room.start(["agent", "run", "one", "--script", script])
      await eventually("the task is in progress", () => room.stored("one").status === "in_progress" || null)
      disk.fill()
      const { exitCode, stdout, stderr } = await running.ended
      expect([exitCode, `${stdout}${stderr}`]).toEqual([30, expect.stringContaining("finishes it")])
      expect(readFileSync(join(room.temp.root, "out/one.md"), "utf8")).toBe("words")
      disk.free()
      expect(
        (await room.acode(["agent", "run", "--pending", "--script", room.script(says("other"))])).exitCode,
      ).toBe(0)
      expect(room.stored("one").status).toBe("completed")
      expect(readFileSync(join(room.temp.root, "out/one.md"), "utf8")).toBe("words")
      expect([...taskViolations(room.temp), ...(await check(room.temp))]).toEqual([])
    },
  )

  rootTest("where the history is: it says so, and the task is finished once there is space", async () => {
    using room = taskWorkspace()
    room.task("one")
    using disk = smallDisk(mkdirIn(room.temp.state()))
    disk.fill()
    const script = room.script(says("words"))
    const full = await room.acode(["agent", "run", "one", "--script", script])
    expect(full.exitCode).not.toBe(0)
    expect(full.stderr).toContain("ACODE-DB-004")
    expect(existsSync(join(room.temp.root, "out/one.md"))).toBe(false)
    disk.free()
  })
})
