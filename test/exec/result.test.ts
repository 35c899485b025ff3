import { describe, expect, test } from "bun:test"
import type { RunnerDeps } from "../../src/exec/execution.ts"
import type { CleanUpReport } from "../../src/sandbox/contract.ts"
import { createPlainSandbox } from "../../src/sandbox/none.ts"
import { fixedClock } from "../support/fixed-clock.ts"
import { type TestRunner, testRunner } from "./support/test-runner.ts"

function cleaningUp(report: CleanUpReport): RunnerDeps["sandboxFor"] {
  const plain = createPlainSandbox()
  const prepare: typeof plain.prepare = async confinement => ({
    ...(await plain.prepare(confinement)),
    cleanUp: async () => report,
  })
  return async () => ({ sandbox: { kind: "none", prepare }, notice: null })
}

/** Ends when its output has been seen, so that whatever the watcher does happens while it runs. */
const untilSeen = "echo x; while [ ! -e seen ]; do sleep 0.01; done"

function seen(runner: TestRunner, change: () => void) {
  return () => {
    change()
    runner.workspace.write("seen", "")
  }
}

describe("time in the result", () => {
  test("is the clock's, for stamps and for durations", async () => {
    const clock = fixedClock()
    using runner = testRunner({}, { clock })
    const { result } = await runner.sh(untilSeen, {}, { onOutput: seen(runner, () => clock.advance(1500)) })
    expect(result).toMatchObject({
      startTime: "2026-01-02T03:04:05.678Z",
      endTime: "2026-01-02T03:04:07.178Z",
      durationMs: 1500,
      queuedMs: 0,
    })
  })

  test("does not run backwards when somebody sets the clock back", async () => {
    const clock = fixedClock()
    using runner = testRunner({}, { clock })
    const { result } = await runner.sh(
      untilSeen,
      {},
      { onOutput: seen(runner, () => clock.jump(-3_600_000)) },
    )
    expect(result).toMatchObject({
      startTime: "2026-01-02T03:04:05.678Z",
      endTime: "2026-01-02T03:04:05.678Z",
      durationMs: 0,
    })
  })
})

describe("what the sandbox found when it cleaned up", () => {
  test("is in the result", async () => {
    const sandboxFor = cleaningUp({ quarantined: ["sub/.git"], quarantine: ".agent/quarantine/x" })
    using runner = testRunner({}, { sandboxFor })
    const { result } = await runner.sh("true")
    expect(result).toMatchObject({ success: true, error: null, sandbox: { quarantined: ["sub/.git"] } })
  })

  test("and could not move away is an error, unless there is a worse one", async () => {
    const sandboxFor = cleaningUp({ quarantined: [], quarantine: null, left: [".git"] })
    using runner = testRunner({}, { sandboxFor })
    expect((await runner.sh("true")).result).toMatchObject({
      exitCode: 0,
      error: { code: "ACODE-SEC-003", message: expect.stringContaining(".git") },
    })
    expect((await runner.sh("kill -9 $$")).result.error?.code).toBe("ACODE-EXE-003")
  })
})

test("a result is plain data that survives JSON", async () => {
  using runner = testRunner()
  const record = await runner.sh("printf 'a\\377'; exit 3")
  expect(JSON.parse(JSON.stringify(record))).toEqual(record)
})
