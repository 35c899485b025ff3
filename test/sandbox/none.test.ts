import { describe, expect, test } from "bun:test"
import { existsSync, statSync } from "node:fs"
import { join } from "node:path"
import { spawn } from "../../src/base/spawn.ts"
import { unlimited } from "../../src/domain/command.ts"
import type { Confinement } from "../../src/sandbox/contract.ts"
import { createPlainSandbox } from "../../src/sandbox/none.ts"
import { allPids, hasVariable } from "../../src/sandbox/process/proc-tree.ts"
import { startTimeOf } from "../../src/sandbox/process/process-handle.ts"
import { endTagged } from "../../src/sandbox/process/survivors.ts"
import { eventually } from "../support/eventually.ts"
import { confinementOf, openRoom, type Ran, type Room, run } from "./room.ts"

let count = 0

interface Tagged {
  readonly ran: Ran
  readonly alive: readonly number[]
}

async function inRoom(work: (room: Room) => Promise<void>): Promise<void> {
  const room = openRoom()
  try {
    await work(room)
  } finally {
    room.remove()
  }
}

function aliveWith(name: string, value: string): readonly number[] {
  return allPids().filter(pid => hasVariable(pid, name, value) && startTimeOf(pid) !== null)
}

/** Runs a script unconfined; its processes carry a second tag that none of them takes off. */
async function runPlain(
  room: Room,
  script: string,
  options: {
    during?: Parameters<typeof run>[2]
    changes?: Partial<Confinement>
    sandbox?: Room["sandbox"]
  } = {},
): Promise<Tagged> {
  const tag = `${process.pid}-${++count}`
  const environment = {
    PATH: "/usr/bin:/bin",
    HOME: room.home,
    ACODE_EXECUTION_ID: `exe_${tag}`,
    SANDBOX_TEST_TAG: tag,
  }
  const confinement = confinementOf(room, ["/bin/sh", "-c", script], { environment, ...options.changes })
  const ran = await run({ sandbox: options.sandbox ?? createPlainSandbox() }, confinement, options.during)
  return { ran, alive: aliveWith("SANDBOX_TEST_TAG", tag) }
}

async function untilExists(path: string): Promise<void> {
  await eventually(`${path} exists`, () => existsSync(path), { everyMs: 2 })
}

describe("a command without confinement", () => {
  test("runs as it is, with the host's files and its own environment", async () => {
    await inRoom(async room => {
      const { ran } = await runPlain(room, "pwd; cat .agent/workspace.db; exit 4")
      expect(ran.stdout).toBe(`${room.root}\ndatabase-secret`)
      expect(ran.exit).toEqual({ exitCode: 4, signal: null })
      expect(ran.report).toEqual({ quarantined: [], quarantine: null })
    })
  })

  test("that dies by a signal is told as that signal", async () => {
    await inRoom(async room => {
      const { ran } = await runPlain(room, "kill -9 $$")
      expect(ran.exit).toEqual({ exitCode: null, signal: "SIGKILL" })
    })
  })

  test("is asked to end together with what it waits for", async () => {
    await inRoom(async room => {
      const during: Parameters<typeof run>[2] = async tree => {
        await untilExists(join(room.root, "ready"))
        tree.terminate()
      }
      const { ran } = await runPlain(room, "trap 'exit 9' TERM; echo > ready; sleep 60 & wait", { during })
      expect(ran.exit.exitCode).toBe(9)
    })
  })
})

describe("the end of a command without confinement", () => {
  const daemons = {
    "left its parent": "(sleep 60 &)",
    "left its session": "setsid sleep 60 &",
    "left both, twice": "(setsid sh -c '(setsid sleep 60 &) ; sleep 60' &)",
    "ignores polite signals": "(trap '' TERM HUP INT; sleep 60; sleep 60) &",
    "took the tag out of its environment": "(env -u ACODE_EXECUTION_ID setsid sleep 60 &)",
  }
  for (const [what, script] of Object.entries(daemons)) {
    test(`is the end of a process that ${what}`, async () => {
      await inRoom(async room => {
        const { ran, alive } = await runPlain(room, `${script}\necho done`)
        expect(ran.stdout).toBe("done\n")
        expect(alive).toEqual([])
      })
    })

    test(`by force is the end of a process that ${what}`, async () => {
      await inRoom(async room => {
        const { alive } = await runPlain(room, `${script}\necho > ready; sleep 60`, {
          during: async tree => {
            await untilExists(join(room.root, "ready"))
            await tree.kill()
          },
        })
        expect(alive).toEqual([])
      })
    })
  }

  test("leaves none of fifty processes", async () => {
    await inRoom(async room => {
      const script = "for i in $(seq 50); do setsid sleep 60 & done; echo > ready; wait"
      const { alive } = await runPlain(room, script, {
        during: async tree => {
          await untilExists(join(room.root, "ready"))
          await tree.kill()
        },
      })
      expect(alive).toEqual([])
    })
  })

  test("outruns a process that keeps making others", async () => {
    await inRoom(async room => {
      const script =
        "grow() { while :; do sleep 5 & sleep 0.01; done; }; (grow &) ; (grow &) ; echo > ready; sleep 60"
      const { alive } = await runPlain(room, script, {
        during: async tree => {
          await untilExists(join(room.root, "ready"))
          await Bun.sleep(50) // lets it fork on for a while, so that the kill meets a moving target
          await tree.kill()
        },
      })
      expect(alive).toEqual([])
    })
  })

  test("is not the end of another command that runs at the same time", async () => {
    await inRoom(async room => {
      const sandbox = createPlainSandbox()
      const long = runPlain(room, "(setsid sh -c 'sleep 0.4; echo survived' &) ; echo > ready; sleep 0.8", {
        sandbox,
      })
      await untilExists(join(room.root, "ready"))
      const short = await runPlain(room, "(setsid sleep 60 &) ; true", { sandbox })
      expect(short.alive).toEqual([])
      const { ran, alive } = await long
      expect(ran.stdout).toBe("survived\n")
      expect(alive).toEqual([])
    })
  })

  test("spares processes that were our children before", async () => {
    await inRoom(async room => {
      const other = spawn({
        argv: ["/bin/sleep", "60"],
        env: {},
        cwd: "/",
        stdin: "null",
        stdout: "null",
        stderr: "null",
        extra: [],
      })
      await runPlain(room, "true")
      expect(startTimeOf(other.pid)).not.toBeNull()
      process.kill(other.pid, "SIGKILL")
      await other.exited
      other.close()
    })
  })
})

describe("limits without confinement", () => {
  test("are in force before the program starts", async () => {
    await inRoom(async room => {
      const limits = { ...unlimited, fileBytesMax: 4096 }
      const { ran } = await runPlain(room, "ulimit -c; head -c 100000 /dev/zero > big", {
        changes: { limits },
      })
      expect(ran.stdout).toBe("0\n")
      expect(ran.exit.exitCode === 0).toBe(false)
      expect(statSync(join(room.root, "big")).size).toBe(4096)
    })
  })

  test("leave the arguments and the descriptors of the program alone", async () => {
    await inRoom(async room => {
      const limits = { ...unlimited, fileBytesMax: 4096 }
      const confinement = confinementOf(
        room,
        ["/bin/sh", "-c", 'printf "%s|" "$@"; ls /proc/self/fd | wc -l', "x", "a b", "", "$c"],
        { limits },
      )
      const ran = await run({ sandbox: createPlainSandbox() }, confinement)
      expect(ran.stdout).toBe("a b||$c|4\n")
    })
  })
})

describe("what an acode that was killed left running", () => {
  test("is found by its tag and ended, and nothing else is", async () => {
    const start = (id: string) =>
      spawn({
        argv: ["/bin/sh", "-c", "(setsid sleep 60 &) ; sleep 60"],
        env: { PATH: "/usr/bin:/bin", ACODE_EXECUTION_ID: id },
        cwd: "/",
        stdin: "null",
        stdout: "null",
        stderr: "null",
        extra: [],
      })
    const id = `exe_${process.pid}_tagged`
    const [one, other] = [start(id), start(`${id}2`)]
    await eventually("all three run", () => aliveWith("ACODE_EXECUTION_ID", id).length >= 3, { everyMs: 2 })
    expect(await endTagged(id)).toBeGreaterThanOrEqual(2)
    expect(aliveWith("ACODE_EXECUTION_ID", id)).toEqual([])
    expect(startTimeOf(other.pid)).not.toBeNull()
    await endTagged(`${id}2`)
    await Promise.all([one.exited, other.exited])
    for (const child of [one, other]) child.close()
    expect(await endTagged(id)).toBe(0)
  })
})
