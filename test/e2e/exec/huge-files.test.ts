import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { mkdirSync, readdirSync, readlinkSync, rmSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type RunningAcode, startAcode } from "../../support/acode.ts"
import { agentWorkspace } from "../../support/agent/agent-workspace.ts"
import { check } from "../../support/checker/checker.ts"
import { eventually } from "../../support/eventually.ts"
import { type PlanWorkspace, planWorkspace } from "../../support/plan/plan-workspace.ts"
import { missingSandbox, testWhere } from "../../support/requirement.ts"
import { contains, open, reply } from "../../support/script-replies.ts"
import type { TempWorkspace } from "../../support/workspace/temp-workspace.ts"

const confinedTest = testWhere(missingSandbox)
const gigabyte = 1024 ** 3

/** Sixty gigabytes that take no room on the disk, and minutes to read. */
function plantHuge(workspace: TempWorkspace): string {
  const path = workspace.write("huge.bin", "")
  truncateSync(path, 60 * gigabyte)
  return path
}

/** With this a file of any size is read and copied, as slowly as that goes. */
function readEverything(workspace: TempWorkspace, isOn = true): void {
  const limits = isOn ? "{ max_file_mb: 65536, max_total_mb: 1048576 }" : "{}"
  // The user's own file: a project that nobody trusts cannot raise what is copied.
  const directory = join(String(workspace.environment["XDG_CONFIG_HOME"]), "acode")
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, "config.yml"), `schema_version: "1"\ncheckpoints: ${limits}\n`)
}

const sh = (script: string) => ["run_command", { argv: ["sh", "-c", script] }] as const
const stat = (path: string) => Bun.spawnSync(["stat", "-c", "%s %Y %Z %i %a", path]).stdout.toString()

let room: PlanWorkspace
beforeEach(() => {
  room = planWorkspace({ git: true, files: { "a.txt": "a\n" } })
})
afterEach(() => room[Symbol.dispose]())

describe("a file that is too large to be copied", () => {
  test("costs nothing and is the only one that undo does not cover", async () => {
    const huge = plantHuge(room.workspace)
    const before = stat(huge)
    room.plan([
      sh("echo changed > a.txt; echo new > b.txt; truncate -s 2G also-huge.bin"),
      ["file_write", { path: "c.txt", contents: "c\n" }],
    ])
    expect((await room.approveAndRun()).run.exitCode).toBe(0)
    const undone = await room.acode("session", "undo", "--commands", "--json")
    expect([undone.exitCode, JSON.parse(undone.stdout)]).toMatchObject([
      0,
      { restored: ["a.txt"], removed: ["also-huge.bin", "b.txt", "c.txt"], blocked: [] },
    ])
    expect(stat(huge)).toBe(before)
    expect(readdirSync(room.workspace.root).sort()).toEqual([".git", "a.txt", "huge.bin"])
  })

  test("is named where a command changed it, and everything else goes back", async () => {
    plantHuge(room.workspace)
    room.plan([sh("echo changed > a.txt; printf x | dd of=huge.bin bs=1 seek=5000 conv=notrunc 2>&1")])
    const { run } = await room.approveAndRun()
    expect([run.exitCode, run.stderr]).toEqual([
      0,
      expect.stringContaining("cannot restore huge.bin: it is larger than 64 MB (checkpoints.max_file_mb)"),
    ])
    const undone = await room.acode("session", "undo", "--commands", "--json")
    expect([undone.exitCode, JSON.parse(undone.stdout)]).toMatchObject([
      1,
      { restored: ["a.txt"], blocked: [{ path: "huge.bin", reason: expect.stringContaining("64 MB") }] },
    ])
    expect(await Bun.file(join(room.workspace.root, "a.txt")).text()).toBe("a\n")
  })
})

/** Waits until this acode holds the file open, which means that it reads it; a command may hold it as well. */
async function isRead(path: string, { pid }: RunningAcode): Promise<void> {
  await eventually("the large file is being read", () => holds(pid, path))
}

function holds(pid: number, path: string): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some(fd => readlinkSync(`/proc/${pid}/fd/${fd}`) === path)
  } catch {
    // It has ended, or closed that descriptor meanwhile.
    return false
  }
}

const start = (...args: readonly string[]): RunningAcode =>
  startAcode(args, { cwd: room.workspace.root, env: room.workspace.environment, timeoutMs: 120_000 })

/** Nothing that is half made is left below the state directory. */
function leftovers(workspace: TempWorkspace): readonly string[] {
  return readdirSync(workspace.state(), { recursive: true, encoding: "utf8" }).filter(name =>
    name.endsWith(".tmp~"),
  )
}

describe.each(["SIGINT", "SIGTERM"] as const)("%s while a large file is read", signal => {
  const shellCode = signal === "SIGINT" ? 130 : 143

  confinedTest("ends a plan run before it begins, and leaves nothing", async () => {
    const huge = plantHuge(room.workspace)
    readEverything(room.workspace)
    room.plan([sh("echo changed > a.txt")])
    expect((await room.acode("plan", "approve", room.planFile)).exitCode).toBe(0)
    await using running = start("plan", "run", room.planFile)
    await isRead(huge, running)
    running.kill(signal)
    expect((await running.ended).exitCode).toBe(130)
    readEverything(room.workspace, false)
    expect((await room.acode("plan", "run", room.planFile)).exitCode).toBe(0)
    expect(leftovers(room.workspace)).toEqual([])
    expect(await check(room.workspace)).toEqual([])
  })

  test("ends a plan run in which a tool reads it; the run is closed as interrupted", async () => {
    // Text as far as anybody looks, so that it is not refused at once.
    const huge = room.workspace.write("huge.txt", "line\n".repeat(100_000))
    truncateSync(huge, 60 * gigabyte)
    room.plan([["read_file", { path: "huge.txt", line_count: 1 }]])
    expect((await room.acode("plan", "approve", room.planFile)).exitCode).toBe(0)
    await using running = start("plan", "run", room.planFile)
    await isRead(huge, running)
    running.kill(signal)
    expect((await running.ended).exitCode).toBe(130)
    const shown = await room.acode("session", "show", "--json")
    expect(shown.stdout).toContain("read_file was reading, which changes nothing")
    expect(await check(room.workspace)).toEqual([])
  })

  confinedTest("ends the look at what a command left; the next acode looks and tells", async () => {
    readEverything(room.workspace)
    room.plan([sh("echo changed > a.txt; truncate -s 60G huge.bin")])
    expect((await room.acode("plan", "approve", room.planFile)).exitCode).toBe(0)
    await using running = start("plan", "run", room.planFile)
    await isRead(join(room.workspace.root, "huge.bin"), running)
    running.kill(signal)
    expect((await running.ended).exitCode).toBe(130)
    // Somebody who starts acode looks again, and may be stopped in that as well.
    await using again = start("exec", "--", "true")
    await isRead(join(room.workspace.root, "huge.bin"), again)
    again.kill(signal)
    expect((await again.ended).exitCode).toBe(shellCode)
    readEverything(room.workspace, false)
    const shown = await room.acode("session", "show", "--json")
    expect(shown.stdout).toContain("changed since it began, by it or by another process: huge.bin, a.txt")
    expect((await room.acode("session", "undo", "--commands")).exitCode).toBe(0)
    expect(readdirSync(room.workspace.root).sort()).toEqual([".git", "a.txt"])
    expect(await Bun.file(join(room.workspace.root, "a.txt")).text()).toBe("a\n")
    expect(await check(room.workspace)).toEqual([])
  })

  confinedTest("ends an undo, which can be repeated", async () => {
    // A file that came is removed only when the tree shows that nothing hides it.
    room.plan([sh("echo changed > a.txt; echo new > new.txt")])
    expect((await room.approveAndRun()).run.exitCode).toBe(0)
    const huge = plantHuge(room.workspace)
    readEverything(room.workspace)
    await using running = start("session", "undo", "--commands")
    await isRead(huge, running)
    running.kill(signal)
    const { exitCode, signal: by } = await running.ended
    expect([130, 143]).toContain(exitCode ?? (by === "SIGINT" ? 130 : 143))
    readEverything(room.workspace, false)
    expect((await room.acode("session", "undo", "--commands")).exitCode).toBe(0)
    expect(await Bun.file(join(room.workspace.root, "a.txt")).text()).toBe("a\n")
    expect(await check(room.workspace)).toEqual([])
  })

  confinedTest("lets a session of the agent rest before a command, and resume runs it", async () => {
    using agent = agentWorkspace({ git: true, files: { "a.txt": "a\n" } })
    const argv = ["sh", "-c", "echo more >> made.txt"]
    agent.script(
      reply.plan({
        write: ["made.txt"],
        commands: [argv],
        steps: [open("s1", "MODIFY_FILE"), open("s2", "RUN_COMMAND")],
        acceptance: [contains("made.txt", "more")],
      }),
      reply.write("made.txt", "made\n"),
      { ...reply.finish(), fault: { kind: "slow", after_ms: 3000 } },
      reply.calls(["run_command", { argv }]),
      reply.finish(),
      reply.review("approve"),
    )
    readEverything(agent.workspace)
    await using running = agent.start("run", "x", "--yes=plan", "--json", "--script", agent.scriptFile)
    await eventually("the first step is done", () => agent.file("made.txt"))
    const huge = plantHuge(agent.workspace)
    await isRead(huge, running)
    running.kill(signal)
    const { exitCode, stdout } = await running.ended
    expect(exitCode).toBe(130)
    expect(JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "")).toMatchObject({
      type: "session.rested",
      data: { state: "PAUSED", exitCode: 130 },
    })
    expect(leftovers(agent.workspace)).toEqual([])
    rmSync(huge)
    const resumed = await agent.resume()
    expect([resumed.exitCode, agent.file("made.txt")]).toEqual([0, "made\nmore\n"])
    expect(await check(agent.workspace)).toEqual([])
  })
})
