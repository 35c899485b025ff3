import { describe, expect, test } from "bun:test"
import { noFaults } from "../../src/base/faults.ts"
import type { Spawned } from "../../src/base/spawn.ts"
import type { ExecutionOptions } from "../../src/domain/command.ts"
import type { ExecutionContext } from "../../src/exec/contract.ts"
import { planExecution, type RunnerDeps } from "../../src/exec/execution.ts"
import { noOutputs, openOutputs } from "../../src/exec/outputs.ts"
import { createRedactor } from "../../src/redaction/redactor.ts"
import { environmentRules } from "../../src/redaction/secret-names.ts"
import { recordPoints } from "../support/crash/record-points.ts"
import { countingIds, fixedClock } from "../support/fixed-clock.ts"
import { commandOf, memoryRecorder, testSettings } from "./support/test-runner.ts"

const redactor = createRedactor({ secretValues: [], extraPatterns: [] })
const parts: RunnerDeps = {
  settings: testSettings,
  workspace: { path: "/", directory: () => ({ absolute: "/", relative: "." }) },
  sandboxFor: () => Promise.reject(new Error("not needed")),
  recorder: memoryRecorder(),
  redactor,
  redactorKnowing: () => redactor,
  hostEnvironment: {},
  owner: "person",
  environmentRules,
  connectionRules: () => ({ refusalOf: () => null, refusalOfAddress: () => null, localPorts: [] }),
  clock: fixedClock(),
  ids: countingIds(),
  faults: noFaults,
  correlation: { runId: "run_test", worktreeId: null, repoSha: null },
}

function open(
  options: ExecutionOptions,
  context: ExecutionContext = {},
  more: Partial<RunnerDeps> = {},
  onTooMuch = () => undefined,
) {
  const execution = planExecution(parts, commandOf(["true"]), options, context)
  return openOutputs(execution, { ...parts, ...more }, onTooMuch)
}

function child(stdout: string[] | null, stderr: string[] | null): Spawned {
  const stream = (chunks: string[] | null) =>
    chunks === null
      ? null
      : new ReadableStream<Uint8Array>({
          start: controller => {
            for (const chunk of chunks) controller.enqueue(Buffer.from(chunk))
            controller.close()
          },
        })
  return {
    pid: 1,
    stdout: stream(stdout),
    stderr: stream(stderr),
    extra: [],
    exited: Promise.resolve({ exitCode: 0, signal: null }),
    cpuMs: () => null,
    maxRssBytes: () => null,
    close: () => undefined,
  }
}

describe("where the streams of a process go", () => {
  const watch: ExecutionContext = { onOutput: () => undefined }
  for (const [capture, context, stdout, stderr] of [
    ["all", {}, "pipe", "pipe"],
    ["stdout", {}, "pipe", "null"],
    ["stderr", {}, "null", "pipe"],
    ["none", {}, "null", "null"],
    ["none", watch, "pipe", "pipe"],
    ["stdout", watch, "pipe", "pipe"],
  ] as const)
    test(`capturing ${capture}, ${context === watch ? "watched" : "unwatched"}`, () => {
      expect(open({ capture }, context).destinations).toEqual({ stdout, stderr })
    })
})

describe("what is captured", () => {
  test("is both streams, each for itself", async () => {
    const streams = open({})
    streams.start(child(["a", "b"], ["c"]))
    await streams.finish()
    const { stdout, stderr } = streams.captured()
    expect([stdout.text, stderr.text]).toEqual(["ab", "c"])
  })

  test("is nothing of a stream that is only watched", async () => {
    const seen: string[] = []
    const onOutput = (name: string, chunk: Uint8Array) => void seen.push(`${name}:${Buffer.from(chunk)}`)
    const streams = open({ capture: "stderr" }, { onOutput })
    streams.start(child(["a"], ["b"]))
    await streams.finish()
    expect(streams.captured()).toMatchObject({ stdout: { text: "" }, stderr: { text: "b" } })
    expect(seen.sort()).toEqual(["stderr:b", "stdout:a"])
  })

  test("is nothing where there are no streams", async () => {
    const streams = open({ capture: "none" })
    streams.start(child(null, null))
    await streams.finish()
    expect(streams.captured()).toEqual(noOutputs)
  })
})

test("the first byte of either stream is a place where a crash is interesting, and only the first", async () => {
  const points: string[] = []
  const streams = open({}, {}, { faults: recordPoints(points) })
  streams.start(child(["a", "b"], ["c", "d"]))
  await streams.finish()
  expect(points).toEqual(["command.output"])
})

test("letting go of a watcher and giving up work for both streams at once", async () => {
  const onOutput = () => new Promise<void>(() => undefined)
  const streams = open({}, { onOutput })
  streams.start(child(["a", "b"], ["c", "d"]))
  streams.release()
  await streams.finish()
  streams.cancel()
  expect(streams.captured()).toMatchObject({ stdout: { text: "ab" }, stderr: { text: "cd" } })
})

describe("the ceiling", () => {
  const passed = async (ceiling: number, stdout: string[], stderr: string[]) => {
    let calls = 0
    const settings = { ...parts.settings, outputCeilingBytes: ceiling }
    const streams = open({ capture: "none" }, { onOutput: () => undefined }, { settings }, () => {
      calls += 1
    })
    streams.start(child(stdout, stderr))
    await streams.finish()
    return calls
  }

  test("is told once when both streams together pass it", async () => {
    expect(await passed(9, ["12345", "12345", "12345"], ["12345"])).toBe(1)
  })

  test("is not passed by exactly as much as is allowed", async () => {
    expect(await passed(10, ["12345"], ["12345"])).toBe(0)
  })
})
