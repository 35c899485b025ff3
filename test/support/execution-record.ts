import type { z } from "zod"
import type { CommandResult, ExecutionRecord } from "../../src/domain/command-result.ts"
import type { CommandStarted } from "../../src/domain/events/command-events.ts"
import type { ProcessIdentity } from "../../src/domain/process-identity.ts"

/** A whole, valid record of `echo hello`; a test names only what it is about. */
export function executionRecord(id: string, result: Partial<CommandResult> = {}): ExecutionRecord {
  return {
    id,
    command: {
      executable: "echo",
      arguments: ["hello"],
      workingDirectory: ".",
      timeoutMs: 300_000,
      shell: false,
      environmentMode: "inherit",
      environment: {},
      resourceLimits: { memoryBytesMax: null, processesMax: null, cpuSecondsMax: null, fileBytesMax: null },
    },
    result: {
      ending: "exited",
      exitCode: 0,
      signal: null,
      success: true,
      timedOut: false,
      startTime: "2026-01-02T03:04:05.678Z",
      endTime: "2026-01-02T03:04:05.690Z",
      durationMs: 12,
      queuedMs: 0,
      stdout: "hello\n",
      stderr: "",
      truncation: null,
      artifacts: { stdout: null, stderr: null },
      error: null,
      usage: { cpuMs: 1, maxRssBytes: 4_194_304 },
      sandbox: { kind: "none", network: "host", quarantined: [] },
      ...result,
    },
    correlationIds: {
      runId: "run_00000000-0000-7000-8000-000000000001",
      sessionId: null,
      taskId: null,
      stepId: null,
      toolCallId: null,
      worktreeId: null,
      repoSha: null,
    },
  }
}

/** Returns the event that is written before such an execution starts. */
export function startOf(
  record: ExecutionRecord,
  owner: ProcessIdentity,
): z.infer<typeof CommandStarted.data> {
  const { id, command, correlationIds, result } = record
  const { kind, network } = result.sandbox
  return { executionId: id, command, correlationIds, sandbox: { kind, network }, owner }
}
