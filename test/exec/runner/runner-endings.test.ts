import { afterAll, describe, expect, test } from "bun:test"
import { constants } from "node:os"
import { ownPeakBytes } from "../../../src/exec/supervision.ts"
import { testRunner } from "../support/test-runner.ts"

const runner = testRunner()
afterAll(() => runner[Symbol.dispose]())

const MiB = 1024 * 1024

const keys = [
  ...[
    "ending",
    "exitCode",
    "signal",
    "success",
    "timedOut",
    "startTime",
    "endTime",
    "durationMs",
    "queuedMs",
  ],
  ...["stdout", "stderr", "truncation", "artifacts", "error", "usage", "sandbox"],
]

describe("a command that ends by itself", () => {
  test("successfully", async () => {
    const { result } = await runner.sh("echo out; echo err >&2")
    expect(result).toMatchObject({
      ending: "exited",
      exitCode: 0,
      signal: null,
      success: true,
      timedOut: false,
      stdout: "out\n",
      stderr: "err\n",
      truncation: null,
      artifacts: { stdout: null, stderr: null },
      error: null,
      sandbox: { kind: "none", network: "host", quarantined: [] },
    })
  })

  test("with a code of its own, which is no error of ours", async () => {
    for (const code of [1, 2, 42, 126, 127, 130, 255])
      expect((await runner.sh(`exit ${code}`)).result).toMatchObject({
        ending: "exited",
        exitCode: code,
        success: false,
        error: null,
      })
  })

  test("by each signal that ends a program", async () => {
    const deadly = [
      "HUP",
      "INT",
      "QUIT",
      "ILL",
      "ABRT",
      "BUS",
      "FPE",
      "KILL",
      "USR1",
      "SEGV",
      "USR2",
      "PIPE",
      "ALRM",
      "TERM",
    ]
    for (const name of deadly) {
      const { result } = await runner.sh(`ulimit -c 0; kill -${name} $$`)
      expect(result).toMatchObject({
        ending: "signalled",
        exitCode: null,
        signal: `SIG${name}`,
        success: false,
        error: { code: "ACODE-EXE-003", details: { signal: `SIG${name}` } },
      })
      expect(constants.signals).toHaveProperty(`SIG${name}`)
    }
  })

  test("by a real-time signal, which has no name", async () => {
    expect((await runner.sh("kill -40 $$")).result).toMatchObject({ ending: "signalled", signal: "SIG40" })
  })
})

describe("a command that cannot be started", () => {
  test("because there is no such program", async () => {
    for (const name of ["no-such-program-anywhere", "./missing", "/no/such/program"])
      expect((await runner.run([name])).result).toMatchObject({
        ending: "notStarted",
        exitCode: null,
        success: false,
        error: { code: "ACODE-EXE-001", message: `the program "${name}" was not found` },
      })
  })

  test("because it is not executable, is a directory, or names an interpreter that is missing", async () => {
    runner.workspace.write("plain", "echo no\n")
    runner.workspace.write("crlf", "#!/bin/sh\r\necho no\n")
    runner.workspace.write("bare", "echo no\n")
    await runner.sh("chmod +x crlf bare; mkdir -p folder")
    for (const name of ["./plain", "./crlf", "./bare", "./folder"])
      expect((await runner.run([name])).result).toMatchObject({
        ending: "notStarted",
        error: { code: "ACODE-EXE-005" },
      })
  })

  test("because its arguments are longer than the system takes", async () => {
    const { result } = await runner.run(["true", "x".repeat(200_000)])
    expect(result).toMatchObject({ ending: "notStarted", error: { code: "ACODE-EXE-007" } })
  })

  test("because the sandbox that was asked for is not there", async () => {
    const { result } = await runner.run(["true"], {}, { sandbox: "container" })
    expect(result).toMatchObject({
      ending: "notStarted",
      error: { code: "ACODE-EXE-010" },
      sandbox: { kind: "container" },
    })
  })
})

describe("whatever the ending", () => {
  test("the result has the same keys in the same order", async () => {
    const records = [
      await runner.sh("true"),
      await runner.sh("kill -9 $$"),
      await runner.sh("sleep 60", { timeoutMs: 20 }),
      await runner.sh("true", {}, { signal: AbortSignal.abort() }),
      await runner.run(["no-such-program-anywhere"]),
      await runner.sh("head -c 3000000 /dev/zero"),
    ]
    for (const { result } of records) expect(Object.keys(result)).toEqual(keys)
    expect(records.map(record => record.result.success)).toEqual([true, false, false, false, false, true])
  })

  test("it was written down before and after, and what is returned is what was written", async () => {
    const { intents, records } = runner.recorder
    const before = intents.length
    const returned = [await runner.sh("true"), await runner.run(["no-such-program-anywhere"])]
    expect(intents.slice(before).map(intent => intent.id)).toEqual(returned.map(record => record.id))
    expect(records.slice(-2)).toEqual(returned)
  })

  test("the record cannot be changed", async () => {
    const record = await runner.sh("true")
    expect(() => Object.assign(record.result, { success: false })).toThrow(TypeError)
    expect(() => Object.assign(record, { id: "x" })).toThrow(TypeError)
  })
})

test("time is told in UTC and adds up", async () => {
  const { startTime, endTime, durationMs, queuedMs } = (await runner.sh("sleep 0.05")).result
  expect(durationMs).toBeGreaterThanOrEqual(50)
  expect(queuedMs).toBe(0)
  expect(startTime).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  expect(new Date(endTime).getTime() - new Date(startTime).getTime()).toBeGreaterThanOrEqual(49)
})

test("the time the processor spent is measured", async () => {
  const { usage } = (await runner.sh("i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done")).result
  expect(usage.cpuMs).toBeGreaterThan(5)
})

test("memory is told only where it is the command's own", async () => {
  const small = (await runner.sh("true")).result.usage.maxRssBytes
  // acode itself is several times larger than a shell, and that must never be the answer.
  expect(small ?? 0).toBeLessThan(20 * MiB)
  const { usage } = (await runner.run(["dd", "if=/dev/zero", "of=/dev/null", "bs=250M", "count=1"])).result
  if (ownPeakBytes() < 200 * MiB) expect(usage.maxRssBytes).toBeGreaterThanOrEqual(250 * MiB)
  else expect(usage.maxRssBytes ?? 250 * MiB).toBeGreaterThanOrEqual(250 * MiB)
})
