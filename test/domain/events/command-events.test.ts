import { describe, expect, test } from "bun:test"
import { unlimited } from "../../../src/domain/command.ts"
import { CommandFinished, CommandStarted, HistoryPruned } from "../../../src/domain/events/command-events.ts"
import { newEvent } from "../../../src/domain/events/definition.ts"

const started = {
  executionId: "exe_1",
  command: {
    executable: "ls",
    arguments: ["-l"],
    workingDirectory: ".",
    timeoutMs: 300_000,
    shell: false,
    environmentMode: "inherit" as const,
    environment: { A: "1", B: null },
    resourceLimits: unlimited,
  },
  correlationIds: {
    runId: "run_1",
    sessionId: null,
    taskId: null,
    stepId: null,
    toolCallId: null,
    worktreeId: null,
    repoSha: null,
  },
  sandbox: { kind: "bwrap" as const, network: "none" as const },
  owner: { bootId: "b", pid: 4, startTicks: "12345678901234567890" },
}

const result = {
  ending: "exited" as const,
  exitCode: 0,
  signal: null,
  success: true,
  timedOut: false,
  startTime: "2026-01-02T03:04:05.678Z",
  endTime: "2026-01-02T03:04:06.000Z",
  durationMs: 322,
  queuedMs: 0,
  stdout: { kind: "inline" as const, text: "x" },
  stderr: { kind: "omitted" as const },
  truncation: null,
  artifacts: { stdout: null, stderr: null },
  error: null,
  usage: { cpuMs: 1, maxRssBytes: null },
  sandbox: { kind: "bwrap" as const, network: "none" as const, quarantined: [] },
}

describe("the events of an execution", () => {
  test("say that it is about to start, with who does it", () => {
    expect(newEvent(CommandStarted, started).data).toEqual(started)
  })

  test("say how it ended, the output inline, by reference or left out", () => {
    const data = { executionId: "exe_1", result }
    expect(newEvent(CommandFinished, data).data).toEqual(data)
  })

  test("have no room for what nobody declared", () => {
    const withMore = { executionId: "exe_1", result: { ...result, extra: 1 } }
    expect(CommandStarted.data.safeParse({ ...started, secret: "x" }).success).toBe(false)
    expect(CommandFinished.data.safeParse(withMore).success).toBe(false)
  })

  test("refuse an ending, a time or a hash that is none", () => {
    const isValid = (more: object) =>
      CommandFinished.data.safeParse({ executionId: "exe_1", result: { ...result, ...more } }).success
    expect(isValid({})).toBe(true)
    expect(isValid({ ending: "vanished" })).toBe(false)
    expect(isValid({ startTime: "yesterday" })).toBe(false)
    expect(isValid({ durationMs: -1 })).toBe(false)
    expect(isValid({ durationMs: 1.5 })).toBe(false)
    expect(isValid({ artifacts: { stdout: "sha256:short", stderr: null } })).toBe(false)
  })
})

test("pruning leaves positions and hashes behind", () => {
  const data = { reason: "old", streams: [{ stream: "exe_1", events: [{ position: 4, hash: "ab" }] }] }
  expect(newEvent(HistoryPruned, data).data).toEqual(data)
})
