import { expect, test } from "bun:test"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { allPids, hasVariable } from "../../src/sandbox/process/proc-tree.ts"
import { startTimeOf } from "../../src/sandbox/process/process-handle.ts"
import { eventually } from "../support/eventually.ts"
import { confinementOf, inEverySandbox, openRoom, type Ran, type Room, run } from "./room.ts"

let count = 0

/** Runs a script whose processes can be told from all others, and says which of them are alive afterwards. */
async function runTagged(
  room: Room,
  script: string,
  during: Parameters<typeof run>[2] = () => undefined,
): Promise<{ readonly ran: Ran; readonly alive: readonly number[] }> {
  const tag = `${process.pid}-${++count}`
  const environment = { PATH: "/usr/bin:/bin", HOME: room.home, SANDBOX_TEST_TAG: tag }
  const ran = await run(room, confinementOf(room, ["/bin/sh", "-c", script], { environment }), during)
  return {
    ran,
    alive: allPids().filter(pid => hasVariable(pid, "SANDBOX_TEST_TAG", tag) && startTimeOf(pid) !== null),
  }
}

async function inRoom(work: (room: Room) => Promise<void>): Promise<void> {
  const room = openRoom()
  try {
    await work(room)
  } finally {
    room.remove()
  }
}

/** Waits until the command has said that it is where the test wants it. */
async function untilExists(path: string): Promise<void> {
  await eventually(`${path} exists`, () => existsSync(path), { everyMs: 2 })
}

inEverySandbox("killing a confined command", () => {
  test("takes along what left its session, its group and its parent", async () => {
    await inRoom(async room => {
      const script = "setsid sh -c 'setsid sleep 60 & echo > ready; sleep 60' & sleep 60"
      const { ran, alive } = await runTagged(room, script, async tree => {
        await untilExists(join(room.root, "ready"))
        await tree.kill()
      })
      expect(alive).toEqual([])
      expect(ran.exit).toEqual({ exitCode: 137, signal: null })
    })
  })

  test("does not ask a command that ignores the polite signal", async () => {
    await inRoom(async room => {
      const script = "trap '' TERM INT HUP; echo > ready; while :; do sleep 1; done"
      const { alive } = await runTagged(room, script, async tree => {
        await untilExists(join(room.root, "ready"))
        tree.terminate()
        await tree.kill()
      })
      expect(alive).toEqual([])
    })
  })

  test("leaves none of fifty processes when it resolves", async () => {
    await inRoom(async room => {
      const script = "for i in $(seq 50); do sleep 60 & done; echo > ready; wait"
      const { alive } = await runTagged(room, script, async tree => {
        await untilExists(join(room.root, "ready"))
        await tree.kill()
      })
      expect(alive).toEqual([])
    })
  })

  test("works before the program has started, and a second time", async () => {
    await inRoom(async room => {
      const { alive } = await runTagged(room, "sleep 60", async tree => {
        await tree.kill()
        await tree.kill()
      })
      expect(alive).toEqual([])
    })
  })

  test("reports the memory the command had by then", async () => {
    await inRoom(async room => {
      const { ran } = await runTagged(room, "echo > ready; sleep 60", async tree => {
        await untilExists(join(room.root, "ready"))
        await tree.kill()
      })
      expect(ran.tree.maxRssBytes()).toBeGreaterThan(100_000)
    })
  })
})

inEverySandbox("asking a confined command to end", () => {
  test("reaches it and what it waits for", async () => {
    await inRoom(async room => {
      const script = "trap 'echo bye; exit 7' TERM; echo > ready; sleep 60 & wait"
      const { ran, alive } = await runTagged(room, script, async tree => {
        await untilExists(join(room.root, "ready"))
        tree.terminate()
      })
      expect(ran.stdout).toBe("bye\n")
      expect(ran.exit.exitCode).toBe(7)
      expect(alive).toEqual([])
    })
  })

  test("does nothing to anybody once it has ended", async () => {
    await inRoom(async room => {
      const { ran } = await runTagged(room, "exit 3")
      ran.tree.terminate()
      expect(ran.exit.exitCode).toBe(3)
    })
  })
})

inEverySandbox("the end of a confined command", () => {
  test("is the end of the daemons it left, which also lets go of its output", async () => {
    await inRoom(async room => {
      const { ran, alive } = await runTagged(room, "(setsid sh -c 'sleep 60' &); setsid sleep 60 & echo done")
      expect(ran.stdout).toBe("done\n")
      expect(ran.exit.exitCode).toBe(0)
      expect(alive).toEqual([])
    })
  })

  test("is the same twenty times over, ten of them at once", async () => {
    await inRoom(async room => {
      const one = () => runTagged(room, "(setsid sleep 60 &) ; (sleep 60 &) ; exit 5")
      const results = [...(await Promise.all(Array.from({ length: 10 }, one)))]
      for (let round = 0; round < 10; round++) results.push(await one())
      expect(results.map(({ alive, ran }) => [alive.length, ran.exit.exitCode])).toEqual(
        results.map(() => [0, 5]),
      )
    })
  }, 60_000)

  test("leaves no process on the table that nobody waits for", async () => {
    await inRoom(async room => {
      const before = new Set(zombies())
      for (let round = 0; round < 5; round++) await runTagged(room, "sleep 60 & exit 0")
      const left = () => zombies().filter(pid => !before.has(pid))
      await eventually("no zombie is left", () => left().length === 0, { everyMs: 5 })
    })
  })

  test("tells how much processor time and memory the tree used", async () => {
    await inRoom(async room => {
      const { ran } = await runTagged(room, "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done")
      expect(ran.tree.cpuMs?.() ?? 0).toBeGreaterThan(20)
      expect(ran.tree.maxRssBytes()).toBeGreaterThan(500_000)
      expect(ran.tree.maxRssBytes()).toBeLessThan(30_000_000)
    })
  })

  test("by a signal reaches us as 128 and the signal, for each that kills", async () => {
    await inRoom(async room => {
      for (const signal of [1, 2, 3, 6, 8, 9, 11, 13, 14, 15]) {
        const { ran } = await runTagged(room, `kill -${signal} $$`)
        expect(`${signal}: ${ran.exit.exitCode}`).toBe(`${signal}: ${128 + signal}`)
      }
    })
  }, 20_000)
})

/** Children of ours that have ended and that nobody has waited for. */
function zombies(): readonly number[] {
  return allPids().filter(pid => {
    const status = statusOf(pid)
    return /^PPid:\t(\d+)$/m.exec(status)?.[1] === String(process.pid) && /^State:\tZ/m.test(status)
  })
}

function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, "utf8")
  } catch {
    // It ended between the listing and the look.
    return ""
  }
}
