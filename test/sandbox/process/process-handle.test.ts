import { describe, expect, test } from "bun:test"
import { closeSync, openSync, readFileSync } from "node:fs"
import { hardLimit, openMemoryFile, setLimit, tryLock } from "../../../src/base/libc.ts"
import { type Spawned, spawn } from "../../../src/base/spawn.ts"
import { countsPerNamespace } from "../../../src/sandbox/process/limits.ts"
import {
  childrenOf,
  descendantsOf,
  estimateNamespace,
  hasVariable,
  machineLoad,
  peakMemoryOf,
} from "../../../src/sandbox/process/proc-tree.ts"
import {
  openProcess,
  startTimeOf,
  trySignal,
  untilGone,
} from "../../../src/sandbox/process/process-handle.ts"
import { watchProcesses } from "../../../src/sandbox/process/watchdog.ts"
import { eventually } from "../../support/eventually.ts"

function start(script: string, env: Readonly<Record<string, string>> = {}): Spawned {
  return spawn({
    argv: ["/bin/sh", "-c", script],
    env: { PATH: "/usr/bin:/bin", ...env },
    cwd: "/",
    stdin: "null",
    stdout: "null",
    stderr: "null",
    extra: [],
  })
}

async function withChild(script: string, work: (child: Spawned) => Promise<void>): Promise<void> {
  const child = start(script, { MARK: "here" })
  try {
    await work(child)
  } finally {
    for (const pid of [...descendantsOf(child.pid, 1000), child.pid]) trySignal(pid, 9)
    await child.exited
    child.close()
  }
}

async function until(condition: () => boolean): Promise<void> {
  await eventually("the condition", condition, { everyMs: 1 })
}

describe("a handle on a process", () => {
  test("sees it live, signals it and sees it go", async () => {
    await withChild("sleep 60", async child => {
      const handle = openProcess(child.pid)
      expect(handle?.isGone()).toBe(false)
      handle?.signal(9)
      if (handle !== null) await untilGone(handle)
      expect(handle?.isGone()).toBe(true)
      handle?.close()
      handle?.close()
      expect(handle?.isGone()).toBe(true)
    })
  })

  test("is not to be had for what is gone", async () => {
    const child = start("exit 0")
    await child.exited
    child.close()
    expect(openProcess(child.pid)).toBeNull()
    expect(startTimeOf(child.pid)).toBeNull()
    trySignal(child.pid, 9)
  })

  test("knows a process by more than its number", () => {
    expect(startTimeOf(process.pid)).toMatch(/^\d+$/)
    expect(startTimeOf(process.pid)).toBe(startTimeOf(process.pid))
    expect(startTimeOf(2 ** 22 + 1)).toBeNull()
  })
})

describe("what /proc tells about a tree", () => {
  test("children, everything below, threads and memory", async () => {
    await withChild("sh -c 'sleep 60 & sleep 60' & sleep 60", async child => {
      await until(() => descendantsOf(child.pid, 100).length === 4)
      expect(childrenOf(child.pid)).toHaveLength(2)
      expect(descendantsOf(child.pid, 2).length).toBeLessThanOrEqual(4)
      expect(peakMemoryOf([child.pid])).toBeGreaterThan(100_000)
      expect(childrenOf(process.pid)).toContain(child.pid)
    })
  })

  test("a variable by its whole name and value", async () => {
    await withChild("sleep 60", async child => {
      await until(() => hasVariable(child.pid, "MARK", "here"))
      expect(hasVariable(child.pid, "MARK", "her")).toBe(false)
      expect(hasVariable(child.pid, "ARK", "here")).toBe(false)
    })
  })

  test("nothing about what is not there", () => {
    const gone = 2 ** 22 + 1
    expect([childrenOf(gone), descendantsOf(gone, 9), peakMemoryOf([gone])]).toEqual([[], [], null])
    expect(hasVariable(gone, "A", "b")).toBe(false)
  })
})

describe("the watchdog", () => {
  const brood = "sleep 0.05; i=0; while [ $i -lt 60 ]; do sleep 60 & i=$((i+1)); done; wait"
  const below = (child: Spawned) => descendantsOf(child.pid, 1000).length

  test("bites when there are more processes than allowed", async () => {
    await withChild(brood, async child => {
      const watchdog = watchProcesses(
        20,
        () => below(child),
        () => trySignal(child.pid, 9),
      )
      await child.exited
      expect(watchdog.hasBitten()).toBe(true)
    })
  })

  test("does not bite for what others start", async () => {
    await withChild(brood, async other => {
      await withChild("sleep 0.4; exit 3", async child => {
        const watchdog = watchProcesses(
          20,
          () => below(child),
          () => trySignal(child.pid, 9),
        )
        expect((await child.exited).exitCode).toBe(3)
        expect(watchdog.hasBitten()).toBe(false)
        watchdog.stop()
      })
      expect(below(other)).toBeGreaterThan(20)
    })
  })
})

describe("calls of the system", () => {
  test("a file in memory is read from its start by whoever gets it", async () => {
    const content = Buffer.alloc(200_000, "x")
    const fd = openMemoryFile("test", content)
    expect(readFileSync(`/proc/self/fd/${fd}`).equals(content)).toBe(true)
    closeSync(fd)
  })

  test("shared locks stand together, an exclusive one stands alone, and closing gives back", () => {
    const path = `/proc/self/fd/${openMemoryFile("lock", new Uint8Array())}`
    const [one, two] = [openSync(path, "r"), openSync(path, "r")]
    expect([tryLock(one, "shared"), tryLock(two, "shared")]).toEqual([true, true])
    expect(tryLock(one, "exclusive")).toBe(false)
    closeSync(two)
    expect(tryLock(one, "exclusive")).toBe(true)
    const three = openSync(path, "r")
    expect(tryLock(three, "shared")).toBe(false)
    for (const fd of [one, three, Number(path.split("/").at(-1))]) closeSync(fd)
    expect(tryLock(-1, "shared")).toBe(false)
  })

  test("limits of another process can be read and lowered", async () => {
    await withChild("sleep 60", async child => {
      expect(setLimit(child.pid, "fileSize", 4096, 4096)).toBe(true)
      expect(hardLimit(child.pid, "fileSize")).toBe(4096)
      expect(readFileSync(`/proc/${child.pid}/limits`, "utf8")).toMatch(/Max file size\s+4096\s+4096/)
    })
    expect(setLimit(2 ** 22 + 1, "fileSize", 1, 1)).toBe(false)
  })
})

test("the kernel's own limit on processes is used only where it counts each namespace by itself", () => {
  const releases = ["6.18.44-generic", "5.14.0", "5.13.19", "4.18.0-553.el8", "5.4", "nonsense"]
  expect(releases.map(countsPerNamespace)).toEqual([true, true, false, false, false, false])
})

describe("an estimate of a namespace", () => {
  test("is the whole growth for our own, nothing for one that is gone", () => {
    const now = machineLoad()
    expect(now.threadCount).toBeGreaterThan(1)
    expect(now.lastPid).toBeGreaterThan(1)
    const before = { threadCount: now.threadCount - 100, lastPid: Math.max(1, now.lastPid - 64) }
    expect(estimateNamespace(2 ** 22 + 1, before, now)).toBe(0)
    expect(estimateNamespace(process.pid, before, now)).toBeLessThanOrEqual(100)
  })

  test("counts what a command has started among what others have", async () => {
    const before = machineLoad()
    await withChild("i=0; while [ $i -lt 60 ]; do sleep 60 & i=$((i+1)); done; wait", async child => {
      await until(() => descendantsOf(child.pid, 100).length === 60)
      const grown = machineLoad()
      expect(estimateNamespace(child.pid, before, grown)).toBeGreaterThan(30)
    })
  })
})
