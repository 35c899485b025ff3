import { afterAll, describe, expect, test } from "bun:test"
import { eventually } from "../../support/eventually.ts"
import { processesWith } from "../../support/processes.ts"
import { testRunner } from "../support/test-runner.ts"

const runner = testRunner()
afterAll(() => runner[Symbol.dispose]())

/** A number of seconds nobody else sleeps, to find the processes of one test by. */
let markers = 0
function uniqueSeconds(): string {
  markers += 1
  return `61.${process.pid}${String(markers).padStart(3, "0")}`
}

describe("a command that takes too long", () => {
  test("is ended, and its ending says so and nothing else", async () => {
    const seconds = uniqueSeconds()
    const { result } = await runner.sh(`echo before; exec sleep ${seconds}`, { timeoutMs: 500 })
    expect(result).toMatchObject({
      ending: "timedOut",
      exitCode: null,
      signal: null,
      timedOut: true,
      success: false,
      stdout: "before\n",
      error: { code: "ACODE-EXE-002" },
    })
    expect(processesWith(seconds)).toEqual([])
    expect(result.durationMs).toBeGreaterThanOrEqual(500)
    expect(result.durationMs).toBeLessThan(5000)
  })

  test("is timed out although it exits with 0 when it is asked to end", async () => {
    const { result } = await runner.sh("trap 'echo tidy; exit 0' TERM; while :; do sleep 0.01; done", {
      timeoutMs: 100,
    })
    expect(result).toMatchObject({ ending: "timedOut", exitCode: null, success: false })
  })

  test("is killed when it ignores the question", async () => {
    const seconds = uniqueSeconds()
    const { result } = await runner.sh(`trap '' TERM; sleep ${seconds} & while :; do sleep 0.01; done`, {
      timeoutMs: 50,
    })
    expect(result.ending).toBe("timedOut")
    expect(processesWith(seconds)).toEqual([])
  })

  test("is ended although it is stopped", async () => {
    const { result } = await runner.sh("kill -STOP $$", { timeoutMs: 50 })
    expect(result.ending).toBe("timedOut")
  })

  test("leaves nothing of a tree that forked twice into sessions of its own", async () => {
    const seconds = uniqueSeconds()
    const daemon = `setsid sh -c 'setsid sleep ${seconds} & setsid sleep ${seconds} &' &`
    const { result } = await runner.sh(`${daemon} sleep 0.05; ${daemon} exec sleep ${seconds}`, {
      timeoutMs: 300,
    })
    expect(result.ending).toBe("timedOut")
    expect(processesWith(seconds)).toEqual([])
  })

  test("leaves nothing of fifty processes", async () => {
    const seconds = uniqueSeconds()
    const { result } = await runner.sh(`for i in $(seq 50); do sleep ${seconds} & done; wait`, {
      timeoutMs: 300,
    })
    expect(result.ending).toBe("timedOut")
    expect(processesWith(seconds)).toEqual([])
  })
})

describe("a command that ends and leaves something behind", () => {
  test("leaves nothing alive", async () => {
    const seconds = uniqueSeconds()
    const { result } = await runner.sh(`setsid sleep ${seconds} > /dev/null 2>&1 & exit 0`)
    expect(result).toMatchObject({ ending: "exited", exitCode: 0, success: true })
    expect(processesWith(seconds)).toEqual([])
  })

  test("is not waited for although its output is held open", async () => {
    const seconds = uniqueSeconds()
    const { result } = await runner.sh(`setsid sleep ${seconds} & echo done`)
    expect(result).toMatchObject({ ending: "exited", exitCode: 0, stdout: "done\n" })
    expect(result.durationMs).toBeLessThan(5000)
    expect(processesWith(seconds)).toEqual([])
  })
})

describe("a command that is cancelled", () => {
  test("while it runs is ended, which is not the same as being too slow", async () => {
    const seconds = uniqueSeconds()
    const controller = new AbortController()
    const running = runner.sh(`echo started; exec sleep ${seconds}`, {}, { signal: controller.signal })
    // When the shell has become the program, it has said its word.
    await eventually("the process", () =>
      processesWith(seconds).some(one => one.commandLine.startsWith("sleep")),
    )
    controller.abort()
    expect((await running).result).toMatchObject({
      ending: "cancelled",
      exitCode: null,
      timedOut: false,
      success: false,
      stdout: "started\n",
      error: { code: "ACODE-EXE-009" },
    })
    expect(processesWith(seconds)).toEqual([])
  })

  test("before it starts never starts, and is written down", async () => {
    const before = runner.recorder.records.length
    const record = await runner.sh("touch made", {}, { signal: AbortSignal.abort() })
    expect(record.result).toMatchObject({
      ending: "cancelled",
      durationMs: 0,
      error: { code: "ACODE-EXE-009" },
    })
    expect(runner.recorder.records.length).toBe(before + 1)
    expect((await runner.sh("ls made")).result.exitCode).not.toBe(0)
  })

  test("while it is being prepared never starts either", async () => {
    const controller = new AbortController()
    const onConfined = () => controller.abort()
    const record = await runner.sh("touch made", {}, { signal: controller.signal, onConfined })
    expect(record.result.ending).toBe("cancelled")
    expect((await runner.sh("ls made")).result.exitCode).not.toBe(0)
  })

  test("after it has ended has ended as it did", async () => {
    const controller = new AbortController()
    const record = await runner.sh("exit 3", {}, { signal: controller.signal })
    controller.abort()
    expect(record.result).toMatchObject({ ending: "exited", exitCode: 3 })
  })
})

test("a kill grace of zero asks nothing", async () => {
  using hasty = testRunner({ killGraceMs: 0 })
  const { result } = await hasty.sh(
    "trap 'echo asked; exit 0' TERM; echo ready; while :; do sleep 0.01; done",
    {
      timeoutMs: 500,
    },
  )
  expect(result).toMatchObject({ ending: "timedOut", stdout: "ready\n" })
})
