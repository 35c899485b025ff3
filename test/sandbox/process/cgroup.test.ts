import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { spawn } from "../../../src/base/spawn.ts"
import { findControlGroups } from "../../../src/sandbox/process/cgroup.ts"

const namespace = readlinkSync("/proc/self/ns/pid").replace(/\D/g, "")

/** Directories that look like the kernel's; they keep what is written, which is what is looked at. */
describe("where control groups are made", () => {
  let root: string
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "acode-cgroup-"))
  })
  afterEach(() => rmSync(root, { recursive: true, force: true }))

  const put = (path: string, content = "") => {
    mkdirSync(join(root, path, ".."), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  const groupsFor = (self: string) => {
    put("self", self)
    return findControlGroups(root, join(root, "self"))
  }
  const name = (count: number) => `acode-${namespace}-${process.pid}-${count}`

  test("is below our own group of each controller of version 1", () => {
    put("pids/ours/cgroup.procs")
    put("memory/mine/cgroup.procs")
    const groups = groupsFor("8:pids:/ours\n4:memory:/mine\n0::/\n")
    expect([...groups.controls].sort()).toEqual(["memory", "processes"])
    const group = groups.create({ processesMax: 64, memoryBytesMax: 1000 })
    expect(readFileSync(join(root, "pids/ours", name(1), "pids.max"), "utf8")).toBe("64")
    expect(readFileSync(join(root, "memory/mine", name(1), "memory.limit_in_bytes"), "utf8")).toBe("1000")
    expect(group.add(4711)).toBe(true)
    expect(readFileSync(join(root, "pids/ours", name(1), "cgroup.procs"), "utf8")).toBe("4711")
    expect(group.members()).toEqual([4711])
    expect(group.doors).toEqual([
      join(root, "pids/ours", name(1), "tasks"),
      join(root, "memory/mine", name(1), "tasks"),
    ])
  })

  test("is only where there is a limit to hold", () => {
    put("pids/cgroup.procs")
    put("memory/cgroup.procs")
    const group = groupsFor("8:pids:/\n4:memory:/\n").create({ processesMax: 5, memoryBytesMax: null })
    expect([group.holdsProcesses, group.holdsMemory]).toEqual([true, false])
    expect(existsSync(join(root, "memory", name(1)))).toBe(false)
  })

  test("is beside our own group of version 2, which itself can hand out nothing", () => {
    put("user/app/cgroup.procs")
    put("user/app/memory.max", "max\n")
    put("user/cgroup.procs")
    put("user/cgroup.subtree_control", "cpu memory pids\n")
    const group = groupsFor("0::/user/app\n").create({ processesMax: 7, memoryBytesMax: 99 })
    expect([group.holdsProcesses, group.holdsMemory, group.doors]).toEqual([true, true, []])
    expect(readFileSync(join(root, "user", name(1), "memory.max"), "utf8")).toBe("99")
  })

  test("is never beside a group that somebody limited: that would be a way around it", () => {
    put("user/app/memory.max", "1073741824\n")
    put("user/cgroup.procs")
    put("user/cgroup.subtree_control", "memory pids\n")
    expect(groupsFor("0::/user/app\n").controls.size).toBe(0)
  })

  test("is nowhere where there are no controllers, and then a group holds nothing and does nothing", () => {
    const group = groupsFor("0::/user/app\n").create({ processesMax: 7, memoryBytesMax: 99 })
    expect([group.holdsProcesses, group.holdsMemory]).toEqual([false, false])
    expect(group.add(1)).toBe(true)
    expect(group.members()).toEqual([])
    expect(group.peakMemoryBytes()).toBeNull()
    expect(group.limitHit()).toBeNull()
    group.remove()
  })

  test("a limit that was hit is read from the events of either version", () => {
    put("pids/cgroup.procs")
    put("memory/cgroup.procs")
    const group = groupsFor("8:pids:/\n4:memory:/\n").create({ processesMax: 5, memoryBytesMax: 9 })
    expect(group.limitHit()).toBeNull()
    put(`pids/${name(1)}/pids.events`, "max 3\n")
    expect(group.limitHit()).toBe("processes")
    put(`memory/${name(1)}/memory.oom_control`, "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n")
    expect(group.limitHit()).toBe("memory")
    put(`memory/${name(1)}/memory.max_usage_in_bytes`, "12345\n")
    expect(group.peakMemoryBytes()).toBe(12345)
  })

  test("groups of an acode that is gone are removed, those of a live one stay", async () => {
    const child = spawn({
      argv: ["/bin/true"],
      env: {},
      cwd: "/",
      stdin: "null",
      stdout: "null",
      stderr: "null",
      extra: [],
    })
    await child.exited
    put("pids/cgroup.procs")
    for (const owner of [child.pid, process.pid]) mkdirSync(join(root, `pids/acode-${namespace}-${owner}-9`))
    // The number of a process in another container says nothing here.
    for (const other of ["other-1-1", `acode-1-${child.pid}-9`]) mkdirSync(join(root, "pids", other))
    groupsFor("8:pids:/\n")
    expect(existsSync(join(root, `pids/acode-${namespace}-${child.pid}-9`))).toBe(false)
    expect(existsSync(join(root, `pids/acode-${namespace}-${process.pid}-9`))).toBe(true)
    for (const other of ["other-1-1", `acode-1-${child.pid}-9`])
      expect(existsSync(join(root, "pids", other))).toBe(true)
  })

  test("has another name for each sandbox of one process", () => {
    put("pids/cgroup.procs")
    const made = [1, 2].map(() => groupsFor("8:pids:/\n").create({ processesMax: 4, memoryBytesMax: null }))
    expect(made.map(({ holdsProcesses }) => holdsProcesses)).toEqual([true, true])
    expect([1, 2].map(count => existsSync(join(root, "pids", name(count))))).toEqual([true, true])
  })
})
