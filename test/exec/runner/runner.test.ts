import { describe, expect, test } from "bun:test"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { Failure } from "../../../src/domain/failure.ts"
import type { Recorder } from "../../../src/exec/contract.ts"
import { recordPoints } from "../../support/crash/record-points.ts"
import { eventually } from "../../support/eventually.ts"
import { processesWith } from "../../support/processes.ts"
import { memoryRecorder, type TestRunner, testRunner } from "../support/test-runner.ts"

const diskFull = new Failure({
  kind: "general",
  code: "ACODE-DB-004",
  message: "no space left",
  hint: "free some",
})

function failing(at: keyof Recorder, error: unknown): Recorder {
  return {
    ...memoryRecorder(),
    [at]: () => {
      throw error
    },
  }
}

describe("the intent", () => {
  test("is written before there is a process, and the outcome when there is none any more", async () => {
    const seconds = `61.7${process.pid}`
    const seen: string[] = []
    const recorder: Recorder = {
      started: () => void seen.push(`started, ${existsSync(join(runner.workspace.root, "made"))}`),
      finished: record => {
        seen.push(`finished, ${processesWith(seconds).length}`)
        return record
      },
    }
    using runner = testRunner({}, { recorder })
    await runner.sh(`touch made; setsid sleep ${seconds} & sleep 0.05`)
    expect(seen).toEqual(["started, false", "finished, 0"])
  })

  test("that cannot be written keeps the command from starting", async () => {
    using runner = testRunner({}, { recorder: failing("started", diskFull) })
    expect(runner.sh("touch made")).rejects.toThrow("no space left")
    expect(existsSync(join(runner.workspace.root, "made"))).toBe(false)
    // The slot was given back: as many as there are slots and more fail one after the other.
    for (let count = 0; count < 10; count++) expect(runner.sh("true")).rejects.toThrow("no space left")
  })

  test("that cannot be written leaves nothing of the sandbox behind", async () => {
    let cleaned = 0
    using plain = testRunner()
    const sandboxFor = async () => ({
      sandbox: {
        kind: "none" as const,
        prepare: async () => ({
          spawn: { argv: ["/bin/true"], env: {}, cwd: "/", extra: [] },
          attach: () => Promise.reject(new Error("never reached")),
          cleanUp: async () => {
            cleaned += 1
            return { quarantined: [], quarantine: null }
          },
        }),
      },
      notice: null,
    })
    using runner = testRunner({}, { recorder: failing("started", diskFull), sandboxFor })
    await runner.sh("true").catch(() => undefined)
    expect(cleaned).toBe(1)
    expect((await plain.sh("true")).result.success).toBe(true)
  })
})

describe("an outcome that cannot be written", () => {
  test("is told with how the command ended, and nothing of it is left", async () => {
    const seconds = `61.8${process.pid}`
    using runner = testRunner({}, { recorder: failing("finished", diskFull) })
    const failure = await runner.sh(`setsid sleep ${seconds} & exit 3`).catch((error: unknown) => error)
    if (!(failure instanceof Failure)) throw failure
    expect(failure.report).toEqual({
      kind: "general",
      code: "ACODE-DB-004",
      message: "the command ran (exited with code 3) but that could not be recorded: no space left",
      hint: "free some",
    })
    expect(failure.cause).toBe(diskFull)
    expect(processesWith(seconds)).toEqual([])
  })

  test("for a reason nobody foresaw is a failure all the same", async () => {
    using runner = testRunner({}, { recorder: failing("finished", new Error("odd")) })
    const failure = await runner.run(["no-such-program-anywhere"]).catch((error: unknown) => error)
    if (!(failure instanceof Failure)) throw failure
    expect(failure.report.message).toBe("the command ran (notStarted) but that could not be recorded: odd")
  })
})

describe("places where a crash is interesting", () => {
  const pointsOf = async (run: (runner: TestRunner) => Promise<unknown>) => {
    const points: string[] = []
    using runner = testRunner({}, { faults: recordPoints(points) })
    await run(runner)
    return points
  }

  test("lie at every boundary of an execution", async () => {
    // It ends when its output has been seen, so that there is one order.
    const script = "echo x; while [ ! -e seen ]; do sleep 0.01; done; echo y >&2"
    const run = (runner: TestRunner) =>
      runner.sh(script, {}, { onOutput: () => void runner.workspace.write("seen", "") })
    expect(await pointsOf(run)).toEqual([
      "command.starting",
      "command.started",
      "command.spawned",
      "command.output",
      "command.exited",
      "command.cleaned",
      "command.finishing",
      "command.finished",
    ])
  })

  test("are fewer when nothing is started", async () => {
    const four = ["command.starting", "command.started", "command.finishing", "command.finished"]
    expect(await pointsOf(runner => runner.run(["no-such-program-anywhere"]))).toEqual(four)
    expect(await pointsOf(runner => runner.sh("true", {}, { signal: AbortSignal.abort() }))).toEqual(four)
  })
})

describe("many at once", () => {
  test("run as many at a time as there are slots, each for itself", async () => {
    using runner = testRunner({ concurrentMax: 4, queuedMax: 100 })
    // Each says how many are running by names in a directory that only they write to.
    const script = (n: number) =>
      `mkdir -p here; : > here/${n}; ls here | wc -l; sleep 0.03; rm here/${n}; exit ${n}`
    const records = await Promise.all(Array.from({ length: 16 }, (_, n) => runner.sh(script(n))))
    expect(records.map(record => record.result.exitCode)).toEqual(records.map((_, n) => n))
    for (const { result } of records) expect(Number(result.stdout)).toBeLessThanOrEqual(4)
    expect(records.filter(record => record.result.queuedMs > 0).length).toBeGreaterThanOrEqual(8)
    expect(new Set(records.map(record => record.id)).size).toBe(16)
    expect(runner.recorder.records).toHaveLength(16)
  })

  test("are turned away when too many wait, and that is written down too", async () => {
    using runner = testRunner({ concurrentMax: 16, queuedMax: 2 })
    const records = await Promise.all(Array.from({ length: 20 }, () => runner.sh("sleep 0.1")))
    const refused = records.filter(record => record.result.ending === "notStarted")
    expect(refused).toHaveLength(2)
    for (const { result } of refused)
      expect(result).toMatchObject({ error: { code: "ACODE-EXE-008" }, durationMs: 0, success: false })
    expect(records.filter(record => record.result.success)).toHaveLength(18)
    expect(runner.recorder.records).toHaveLength(20)
  })

  test("wait without it counting as time of the command, and can be cancelled meanwhile", async () => {
    using runner = testRunner({ concurrentMax: 1 })
    const controller = new AbortController()
    const first = runner.sh("while [ ! -e go ]; do sleep 0.01; done")
    const waiting = runner.sh("true")
    const cancelled = runner.sh("touch never", {}, { signal: controller.signal })
    await eventually("the first one", () => runner.recorder.intents.length === 1)
    controller.abort()
    expect((await cancelled).result).toMatchObject({ ending: "cancelled", durationMs: 0 })
    // So long the other one waits at least.
    await Bun.sleep(30)
    runner.workspace.write("go", "")
    expect((await first).result.queuedMs).toBe(0)
    const { result } = await waiting
    expect(result.success).toBe(true)
    expect(result.queuedMs).toBeGreaterThanOrEqual(30)
    expect(result.durationMs).toBeLessThan(result.queuedMs + 5000)
    expect(existsSync(join(runner.workspace.root, "never"))).toBe(false)
  })

  test("do not disturb each other when some fail", async () => {
    using runner = testRunner({ concurrentMax: 8 })
    const records = await Promise.all([
      runner.sh("exit 0"),
      runner.sh("kill -9 $$"),
      runner.run(["no-such-program-anywhere"]),
      runner.sh("sleep 60", { timeoutMs: 50 }),
      runner.sh("echo fine"),
    ])
    const endings = records.map(record => record.result.ending)
    expect(endings).toEqual(["exited", "signalled", "notStarted", "timedOut", "exited"])
    expect(records.at(-1)?.result.stdout).toBe("fine\n")
  })
})
