import { describe, expect, test } from "bun:test"
import { z } from "zod"
import { unlimited } from "../../src/domain/command.ts"
import { CommandResult, ExecutionRecord, endings, TruncatedStream } from "../../src/domain/command-result.ts"

const result: CommandResult = {
  ending: "timedOut",
  exitCode: null,
  signal: null,
  success: false,
  timedOut: true,
  startTime: "2026-01-02T03:04:05.678Z",
  endTime: "2026-01-02T03:04:07.678Z",
  durationMs: 2000,
  queuedMs: 3,
  stdout: "",
  stderr: "",
  truncation: null,
  artifacts: { stdout: null, stderr: null },
  error: { code: "ACODE-EXE-002", message: "too slow", details: { timeoutMs: "2000" } },
  usage: { cpuMs: null, maxRssBytes: null },
  sandbox: { kind: "none", network: "host", quarantined: [] },
}

const record: ExecutionRecord = {
  id: "exe_1",
  command: {
    executable: "sleep",
    arguments: ["60"],
    workingDirectory: ".",
    timeoutMs: 2000,
    shell: false,
    environmentMode: "inherit",
    environment: {},
    resourceLimits: unlimited,
  },
  result,
  correlationIds: {
    runId: "run_1",
    sessionId: null,
    taskId: null,
    stepId: null,
    toolCallId: null,
    worktreeId: "main",
    repoSha: null,
  },
}

describe("the result of a command", () => {
  test("has the same keys whatever happened: none may be left out", () => {
    expect(CommandResult().parse(result)).toEqual(result)
    for (const key of Object.keys(result)) {
      const { [key as keyof CommandResult]: _, ...rest } = result
      expect(CommandResult().safeParse(rest).success).toBe(false)
    }
  })

  test("ends in one of six ways", () => {
    expect(endings).toEqual(["exited", "timedOut", "cancelled", "signalled", "notStarted", "interrupted"])
    for (const ending of endings) expect(CommandResult().safeParse({ ...result, ending }).success).toBe(true)
  })

  test("tells sizes and durations as whole numbers that are not negative", () => {
    for (const bad of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(CommandResult().safeParse({ ...result, durationMs: bad }).success).toBe(false)
      expect(CommandResult().safeParse({ ...result, usage: { cpuMs: bad, maxRssBytes: null } }).success).toBe(
        false,
      )
    }
  })

  test("names an artifact by its whole hash", () => {
    const stream = { originalBytes: 9, keptBytes: 1, sha256: "x", artifact: `sha256:${"a".repeat(64)}` }
    expect(TruncatedStream().safeParse(stream).success).toBe(true)
    expect(TruncatedStream().safeParse({ ...stream, artifact: null }).success).toBe(true)
    expect(TruncatedStream().safeParse({ ...stream, artifact: "a".repeat(64) }).success).toBe(false)
  })
})

describe("an execution record", () => {
  test("survives JSON", () => {
    expect(ExecutionRecord().parse(JSON.parse(JSON.stringify(record)))).toEqual(record)
  })

  test("has a JSON Schema for other programs", () => {
    const schema = z.toJSONSchema(ExecutionRecord())
    expect(schema).toMatchObject({ type: "object", required: ["id", "command", "result", "correlationIds"] })
  })
})
