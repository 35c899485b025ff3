import { afterAll, beforeAll, expect, test } from "bun:test"
import { readFileSync, statSync } from "node:fs"
import { totalmem } from "node:os"
import { join } from "node:path"
import { type ResourceLimits, unlimited } from "../../src/domain/command.ts"
import { findControlGroups } from "../../src/sandbox/process/cgroup.ts"
import { childrenOf, descendantsOf } from "../../src/sandbox/process/proc-tree.ts"
import { eventually } from "../support/eventually.ts"
import { missingProgram, testWhere } from "../support/requirement.ts"
import { confinementOf, inEverySandbox, openRoom, type Ran, type Room, run, sh } from "./room.ts"

const controls = findControlGroups().controls
const pythonTest = testWhere(missingProgram("/usr/bin/python3"))

inEverySandbox("limits of a confined command", () => {
  let room: Room
  beforeAll(() => {
    room = openRoom()
  })
  afterAll(() => room.remove())

  const limited = (script: string, limits: Partial<ResourceLimits>): Promise<Ran> =>
    sh(room, script, { limits: { ...unlimited, ...limits } })

  test("are in force before the program starts: no core dumps, bounded descriptors", async () => {
    const ran = await limited("ulimit -c; ulimit -n", {})
    const [core, files] = ran.stdout.trim().split("\n").map(Number)
    expect(core).toBe(0)
    expect(files).toBeLessThanOrEqual(65_536)
  })

  test("stop a fork bomb at the number of processes asked for, and say so", async () => {
    const script = "for i in $(seq 200); do sleep 20 & done; echo survived"
    const ran = await limited(script, { processesMax: 40 })
    expect(ran.stdout.includes("survived") && ran.exit.exitCode === 0).toBe(false)
    if (controls.has("processes")) expect(ran.tree.limitHit()).toBe("processes")
  })

  test("leave a command alone that stays below them", async () => {
    const ran = await limited("for i in $(seq 20); do sleep 0.01 & done; wait; echo fine", {
      processesMax: 40,
    })
    expect(ran.stdout).toBe("fine\n")
    expect(ran.tree.limitHit()).toBeNull()
  })

  test("hold the number of processes without anybody asking for a limit", async () => {
    // Forks one by one, and pauses first: by then the limit is in force. It stops by itself if nothing holds it.
    const script = "sleep 0.3; i=0; while [ $i -lt 900 ]; do sleep 20 & i=$((i+1)); done; echo all of them"
    const ran = await sh(room, script)
    expect(ran.stdout).not.toContain("all of them")
    expect(ran.exit.exitCode).not.toBe(0)
  }, 60_000)

  test("end a write beyond the size of a file", async () => {
    const ran = await limited("head -c 200000 /dev/zero > big", { fileBytesMax: 65_536 })
    expect(ran.exit.exitCode).not.toBe(0)
    expect(statSync(join(room.root, "big")).size).toBe(65_536)
  })

  test("end a program that computes for longer than it may", async () => {
    const ran = await limited("while :; do :; done", { cpuSecondsMax: 1 })
    expect([128 + 24, 128 + 9]).toContain(ran.exit.exitCode ?? 0)
  }, 20_000)

  pythonTest("end a program that takes more memory than it may", async () => {
    const script = "/usr/bin/python3 -c \"x = bytearray(400 * 1024 * 1024); print('took it', len(x))\""
    const free = await limited(script, {})
    expect(free.stdout).toContain("took it")
    const ran = await limited(script, { memoryBytesMax: 64 * 1024 * 1024 })
    expect(ran.stdout).not.toContain("took it")
    expect(ran.exit.exitCode).not.toBe(0)
    if (!controls.has("memory") || process.geteuid?.() !== 0) return
    expect(ran.tree.limitHit()).toBe("memory")
    expect(ran.tree.maxRssBytes()).toBeLessThanOrEqual(64 * 1024 * 1024)
  })

  test("hold what is written to memory, without anybody asking", async () => {
    const places = `/tmp /var/tmp /run ${room.home}`
    const ran = await limited(`df -kP ${places} | tail -n +2 | awk '{ print $2 }'`, {})
    const sizes = ran.stdout
      .trim()
      .split("\n")
      .map(kilobytes => Number(kilobytes) * 1024)
    expect(sizes).toHaveLength(4)
    for (const size of sizes) expect(size).toBeLessThanOrEqual(Math.ceil(totalmem() / 4 / 4096) * 4096)
  })

  test("make the kernel end the command before acode where memory runs out, whatever it tries", async () => {
    const script =
      "cat /proc/self/oom_score_adj; echo 0 > /proc/self/oom_score_adj; cat /proc/1/oom_score_adj"
    const scoreOf = (pid: number) => readFileSync(`/proc/${pid}/oom_score_adj`, "utf8").trim()
    let scores: readonly string[] = []
    const argv = ["/bin/sh", "-c", `${script}; while [ ! -e seen ]; do sleep 0.01; done`]
    const ran = await run(room, confinementOf(room, argv), async (_, pid) => {
      await eventually("the command runs", () => descendantsOf(pid, 9).length > 1)
      scores = childrenOf(pid).map(scoreOf)
      room.write("seen")
    })
    expect(ran.stdout).toBe("1000\n1000\n")
    expect(ran.stderr).toContain("Read-only file system")
    // A guard of bubblewrap, which ends it with acode, is kept like acode.
    expect(scores).toEqual(room.sandbox.kind === "bwrap" ? [scoreOf(process.pid), "1000"] : ["1000"])
  })

  testWhere(controls.has("memory") ? null : "no control group for memory")(
    "hold the memory of the whole tree, without anybody asking",
    async () => {
      const groupOf = (pid: number) => readFileSync(`/proc/${pid}/cgroup`, "utf8")
      let limit = Number.POSITIVE_INFINITY
      const argv = ["/bin/sh", "-c", "while [ ! -e measured ]; do sleep 0.01; done"]
      await run(room, confinementOf(room, argv), async (_, pid) => {
        await eventually("it is in its group", () => /\/acode-\d/.test(groupOf(pid)))
        const [, version1] = /:memory:(.*)/.exec(groupOf(pid)) ?? []
        const [, version2 = ""] = /^0::(.*)/m.exec(groupOf(pid)) ?? []
        const file =
          version1 === undefined ? `${version2}/memory.max` : `memory${version1}/memory.limit_in_bytes`
        limit = Number(readFileSync(join("/sys/fs/cgroup", file), "utf8"))
        room.write("measured")
      })
      expect(limit).toBeLessThanOrEqual(totalmem() * 0.75)
    },
  )

  test("leave no control group behind", async () => {
    await limited("true", { processesMax: 10, memoryBytesMax: 64 * 1024 * 1024 })
    const groups = findControlGroups()
    const group = groups.create({ processesMax: 5, memoryBytesMax: null })
    expect(group.members()).toEqual([])
    group.remove()
  })
})
