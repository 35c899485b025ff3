import { z } from "zod"
import { environmentModes, networkChoices } from "./command.ts"

export const endings = ["exited", "timedOut", "cancelled", "signalled", "notStarted", "interrupted"] as const
export type Ending = (typeof endings)[number]

const Instant = z.iso.datetime()
const Count = z.number().int().nonnegative()
const ArtifactRef = z.string().regex(/^sha256:[0-9a-f]{64}$/)

export const TruncatedStream = z
  .object({
    originalBytes: Count.describe("how many bytes the process really wrote"),
    keptBytes: Count.describe("how many of them stand in the result"),
    sha256: z.string().describe("hash of all the bytes as they were written"),
    artifact: ArtifactRef.nullable().describe("the redacted output up to the configured limit"),
  })
  .strict()
export type TruncatedStream = z.infer<typeof TruncatedStream>

export const CommandError = z
  .object({ code: z.string(), message: z.string(), details: z.record(z.string(), z.string()) })
  .strict()
export type CommandError = z.infer<typeof CommandError>

export const SandboxUse = z
  .object({
    kind: z.enum(["bwrap", "container", "none"]),
    network: z.enum(networkChoices),
    quarantined: z.array(z.string()).describe("protected names that appeared and were moved away"),
  })
  .strict()
export type SandboxUse = z.infer<typeof SandboxUse>

/** How a command ended: the same keys whatever happened. */
export const CommandResult = z
  .object({
    ending: z.enum(endings),
    exitCode: z.number().int().nullable(),
    signal: z.string().nullable(),
    success: z
      .boolean()
      .describe("exit 0, and not timed out, cancelled, signalled, interrupted or unstarted"),
    timedOut: z.boolean(),
    startTime: Instant,
    endTime: Instant,
    durationMs: Count,
    queuedMs: Count.describe("time spent waiting for a free slot, not part of durationMs"),
    stdout: z.string(),
    stderr: z.string(),
    truncation: z
      .object({ stdout: TruncatedStream.nullable(), stderr: TruncatedStream.nullable() })
      .strict()
      .nullable(),
    artifacts: z
      .object({ stdout: ArtifactRef.nullable(), stderr: ArtifactRef.nullable() })
      .strict()
      .describe("where the bytes are kept when the text alone does not carry them"),
    error: CommandError.nullable(),
    usage: z
      .object({ cpuMs: Count.nullable(), maxRssBytes: Count.nullable() })
      .strict()
      .describe("null where it could not be measured"),
    sandbox: SandboxUse,
  })
  .strict()
export type CommandResult = z.infer<typeof CommandResult>

/** The command as it is recorded: paths relative to the workspace, secrets redacted. */
export const RecordedCommand = z
  .object({
    executable: z.string(),
    arguments: z.array(z.string()),
    workingDirectory: z.string(),
    timeoutMs: z.number().positive(),
    shell: z.boolean(),
    environmentMode: z.enum(environmentModes),
    environment: z.record(z.string(), z.string().nullable()),
    resourceLimits: z
      .object({
        memoryBytesMax: Count.nullable(),
        processesMax: Count.nullable(),
        cpuSecondsMax: Count.nullable(),
        fileBytesMax: Count.nullable(),
      })
      .strict(),
  })
  .strict()
export type RecordedCommand = z.infer<typeof RecordedCommand>

/** What an execution belongs to; null where there is no such thing. */
export const CorrelationIds = z
  .object({
    runId: z.string(),
    sessionId: z.string().nullable(),
    taskId: z.string().nullable(),
    stepId: z.string().nullable(),
    toolCallId: z.string().nullable(),
    worktreeId: z.string().nullable(),
    repoSha: z.string().nullable(),
  })
  .strict()
export type CorrelationIds = z.infer<typeof CorrelationIds>

/** One execution, whole: what `exec --json` and `runs show --json` print. */
export const ExecutionRecord = z
  .object({
    id: z.string(),
    command: RecordedCommand,
    result: CommandResult,
    correlationIds: CorrelationIds,
  })
  .strict()
export type ExecutionRecord = z.infer<typeof ExecutionRecord>
