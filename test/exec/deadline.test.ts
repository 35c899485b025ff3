import { describe, expect, spyOn, test } from "bun:test"
import { tmpdir } from "node:os"
import { type Spawned, spawn } from "../../src/base/spawn.ts"
import { atMost, endTree, endUnattached, startDeadline } from "../../src/exec/deadline.ts"
import type { ProcessTree } from "../../src/sandbox/contract.ts"
import { processesWith, untilNoProcessWith } from "../support/processes.ts"

function start(script: string): Spawned {
  return spawn({
    argv: ["/bin/sh", "-c", script],
    env: { PATH: "/usr/bin:/bin" },
    cwd: tmpdir(),
    stdin: "null",
    stdout: "pipe",
    stderr: "null",
    extra: [],
  })
}

/** Says which of its verbs were used; it ends the child and nothing else. */
function treeOf(child: Spawned) {
  const calls: string[] = []
  const tree: ProcessTree = {
    kill: async () => {
      calls.push("kill")
      process.kill(child.pid, "SIGKILL")
    },
    terminate: () => {
      calls.push("terminate")
      process.kill(child.pid, "SIGTERM")
    },
    settle: async () => void calls.push("settle"),
    maxRssBytes: () => null,
    limitHit: () => null,
  }
  return { calls, tree }
}

/** The child has set its traps when it has said so. */
async function untilReady(child: Spawned): Promise<void> {
  const reader = child.stdout?.getReader()
  await reader?.read()
  await reader?.cancel()
}

describe("a deadline", () => {
  test("interrupts when its time has come", async () => {
    using deadline = startDeadline(5, undefined)
    expect(await deadline.interrupted).toBe("timedOut")
  })

  test("is interrupted by its caller before that", async () => {
    const controller = new AbortController()
    using deadline = startDeadline(60_000, controller.signal)
    controller.abort()
    expect(await deadline.interrupted).toBe("cancelled")
  })

  test("is interrupted at once by a caller who has cancelled already", async () => {
    using deadline = startDeadline(60_000, AbortSignal.abort())
    expect(await deadline.interrupted).toBe("cancelled")
  })

  test("has one reason, the first", async () => {
    const controller = new AbortController()
    using deadline = startDeadline(1, controller.signal)
    // Time itself is the point: the deadline passes.
    await Bun.sleep(20)
    controller.abort()
    expect(await deadline.interrupted).toBe("timedOut")
  })

  test("that was disposed of interrupts nothing and holds nobody", async () => {
    const controller = new AbortController()
    const deadline = startDeadline(1, controller.signal)
    deadline[Symbol.dispose]()
    controller.abort()
    // Longer than the deadline would have taken.
    const outcome = await Promise.race([deadline.interrupted, Bun.sleep(20).then(() => "nothing")])
    expect(outcome).toBe("nothing")
  })
})

describe("ending a tree", () => {
  test("asks first, and a command that obeys may tidy up", async () => {
    const child = start("trap 'exit 7' TERM; echo ready; while :; do sleep 0.01; done")
    await untilReady(child)
    const { calls, tree } = treeOf(child)
    await endTree(child, { ...tree, kill: async () => void calls.push("kill") }, 10_000)
    expect(calls).toEqual(["terminate", "kill"])
    expect(await child.exited).toEqual({ exitCode: 7, signal: null })
    child.close()
  })

  test("kills a command that ignores the question", async () => {
    const child = start("trap '' TERM; echo ready; while :; do sleep 0.01; done")
    await untilReady(child)
    const { calls, tree } = treeOf(child)
    await endTree(child, tree, 20)
    expect(calls).toEqual(["terminate", "kill"])
    expect(await child.exited).toEqual({ exitCode: null, signal: "SIGKILL" })
    child.close()
  })

  test("asks nothing when there is no time for an answer", async () => {
    const child = start("exec sleep 60")
    const { calls, tree } = treeOf(child)
    await endTree(child, tree, 0)
    expect(calls).toEqual(["kill"])
    child.close()
  })
})

test("a child nobody has taken over is ended with its group", async () => {
  const marker = `60.0${process.pid}`
  const child = start(`sleep ${marker} & echo ready; sleep ${marker}`)
  await untilReady(child)
  await endUnattached(child)
  expect(await child.exited).toEqual({ exitCode: null, signal: "SIGKILL" })
  await untilNoProcessWith(marker)
  // Once more, when there is nothing left to end and the number may be somebody else's.
  const kill = spyOn(process, "kill")
  await endUnattached(child)
  expect(kill).not.toHaveBeenCalled()
  kill.mockRestore()
  child.close()
  expect(processesWith(marker)).toEqual([])
})

describe("waiting, but not for ever", () => {
  test("ends with the event or with the time, whichever comes first", async () => {
    await atMost(60_000, Promise.resolve())
    await atMost(1, new Promise(() => undefined))
  })

  test("passes a failure of the event on", () => {
    expect(atMost(60_000, Promise.reject(new Error("no")))).rejects.toThrow("no")
  })
})
