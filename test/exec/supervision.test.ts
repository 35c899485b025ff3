import { describe, expect, test } from "bun:test"
import { Failure } from "../../src/domain/failure.ts"
import type { RunnerDeps } from "../../src/exec/execution.ts"
import type { Launch, ProcessTree } from "../../src/sandbox/contract.ts"
import { createPlainSandbox } from "../../src/sandbox/none.ts"
import { eventually } from "../support/eventually.ts"
import { processesWith } from "../support/processes.ts"
import { testRunner } from "./support/test-runner.ts"

/** The real unconfined sandbox with one thing about it changed. */
function changed(change: {
  launch?: (launch: Launch) => Partial<Launch>
  tree?: (tree: ProcessTree) => Partial<ProcessTree>
}): RunnerDeps["sandboxFor"] {
  const plain = createPlainSandbox()
  const prepare: typeof plain.prepare = async confinement => {
    const launch = await plain.prepare(confinement)
    return {
      ...launch,
      attach: async child => {
        const tree = await launch.attach(child)
        return { ...tree, ...change.tree?.(tree) }
      },
      ...change.launch?.(launch),
    }
  }
  return async () => ({ sandbox: { kind: "none", prepare }, notice: null })
}

const seconds = (number: number) => `61.${number}${process.pid}`

/** The shell has become the program it was to become, so everything before that has happened. */
const isAsleep = (marker: string) => processesWith(marker).some(one => one.commandLine.startsWith("sleep"))

describe("a sandbox that cannot take over its child", () => {
  test("leaves it dead, and the result says why with what the child said", async () => {
    const failure = new Failure({
      kind: "confinement",
      code: "ACODE-EXE-010",
      message: "no namespace",
      hint: "doctor",
    })
    const attach = async () => {
      await eventually("what the child says", () => isAsleep(seconds(1)))
      throw failure
    }
    using runner = testRunner({}, { sandboxFor: changed({ launch: () => ({ attach }) }) })
    const { result } = await runner.sh(`echo setting up >&2; exec sleep ${seconds(1)}`)
    expect(result).toMatchObject({
      ending: "notStarted",
      exitCode: null,
      stderr: "setting up\n",
      error: { code: "ACODE-EXE-010", message: "no namespace" },
    })
    expect(processesWith(seconds(1))).toEqual([])
  })

  test("in time is interrupted by the deadline", async () => {
    const attach = () => new Promise<ProcessTree>(() => undefined)
    using runner = testRunner({}, { sandboxFor: changed({ launch: () => ({ attach }) }) })
    const { result } = await runner.sh(`exec sleep ${seconds(2)}`, { timeoutMs: 50 })
    expect(result).toMatchObject({ ending: "timedOut", error: { code: "ACODE-EXE-002" } })
    expect(processesWith(seconds(2))).toEqual([])
  })

  test("until it is too late has what it took over ended as well", async () => {
    let killed = 0
    const sandboxFor = changed({
      launch: launch => ({
        attach: async child => {
          await child.exited
          return { ...(await launch.attach(child)), kill: async () => void killed++ }
        },
      }),
    })
    using runner = testRunner({}, { sandboxFor })
    expect((await runner.sh("exec sleep 60", { timeoutMs: 50 })).result.ending).toBe("timedOut")
    expect(killed).toBe(1)
  })
})

describe("what the tree says when it is over", () => {
  test("a program that never ran was not started", async () => {
    const failure = new Failure({ kind: "confinement", code: "ACODE-EXE-010", message: "could not exec" })
    using runner = testRunner({}, { sandboxFor: changed({ tree: () => ({ startFailure: () => failure }) }) })
    expect((await runner.sh("exit 1")).result).toMatchObject({
      ending: "notStarted",
      exitCode: null,
      error: { message: "could not exec" },
    })
  })

  test("a limit explains a failure", async () => {
    using runner = testRunner({}, { sandboxFor: changed({ tree: () => ({ limitHit: () => "memory" }) }) })
    const error = { code: "ACODE-EXE-012", message: "the command reached its limit on memory" }
    expect((await runner.sh("kill -9 $$")).result).toMatchObject({
      ending: "signalled",
      signal: "SIGKILL",
      error,
    })
    expect((await runner.sh("exit 137")).result).toMatchObject({ ending: "exited", exitCode: 137, error })
  })

  test("a limit that the program coped with is no failure", async () => {
    using runner = testRunner({}, { sandboxFor: changed({ tree: () => ({ limitHit: () => "processes" }) }) })
    expect((await runner.sh("exit 0")).result).toMatchObject({ success: true, error: null })
  })

  test("its own figures win over the child's", async () => {
    const tree = () => ({ cpuMs: () => 1234, maxRssBytes: () => 5678 })
    using runner = testRunner({}, { sandboxFor: changed({ tree }) })
    expect((await runner.sh("true")).result.usage).toEqual({ cpuMs: 1234, maxRssBytes: 5678 })
  })

  test("processes that cannot be ended are told of, and the record is closed nevertheless", async () => {
    const stuck = () => Promise.reject(new Error("2 processes do not end"))
    using runner = testRunner({}, { sandboxFor: changed({ tree: () => ({ settle: stuck, kill: stuck }) }) })
    const { result } = await runner.sh("exit 0")
    expect(result).toMatchObject({ ending: "exited", exitCode: 0 })
    expect(result.error?.message).toContain("not every process of the command could be ended: 2 processes")
    expect((await runner.sh("exec sleep 60", { timeoutMs: 50 })).result.ending).toBe("timedOut")
    expect(runner.recorder.records).toHaveLength(2)
  })

  test("behind a reaper a code above 128 is a signal", async () => {
    const sandboxFor = changed({ launch: () => ({ signalsAsExitCodes: true }) })
    using runner = testRunner({}, { sandboxFor })
    expect((await runner.sh("exit 139")).result).toMatchObject({ ending: "signalled", signal: "SIGSEGV" })
    expect((await runner.sh("exit 129")).result).toMatchObject({ ending: "exited", exitCode: 129 })
  })
})

describe("limits the kernel names by a signal", () => {
  test("are told as limits where one was set", async () => {
    using runner = testRunner()
    const resourceLimits = { memoryBytesMax: null, processesMax: null, cpuSecondsMax: 60, fileBytesMax: 1024 }
    const run = (signal: string) =>
      runner.run(["/bin/sh", "-c", `ulimit -c 0; kill -${signal} $$`], { resourceLimits })
    expect((await run("XFSZ")).result.error).toMatchObject({
      code: "ACODE-EXE-012",
      details: { limit: "file size" },
    })
    expect((await run("XCPU")).result.error).toMatchObject({
      code: "ACODE-EXE-012",
      details: { limit: "CPU time" },
    })
    expect((await runner.sh("kill -XCPU $$")).result.error?.code).toBe("ACODE-EXE-003")
  })
})

test("a mistake of ours ends the process and closes the record as not known", async () => {
  using runner = testRunner(
    {},
    {
      faults: {
        reach: point => {
          if (point === "command.spawned") throw new Error("a bug")
        },
      },
    },
  )
  const { result } = await runner.sh(`exec sleep ${seconds(3)}`)
  expect(result).toMatchObject({
    ending: "interrupted",
    success: false,
    error: { code: "ACODE-INT-001", message: "internal error while the command ran: a bug" },
  })
  expect(processesWith(seconds(3))).toEqual([])
  expect(runner.recorder.records).toHaveLength(1)
})
