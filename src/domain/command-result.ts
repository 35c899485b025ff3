import * as z from "zod/mini"
import { lazily } from "../base/lazy.ts"
import { environmentModes, networkChoices } from "./command.ts"
import { Connections } from "./connections.ts"
import type { ErrorCode } from "./error-codes.ts"
import { described } from "./events/definition.ts"

export const endings = ["exited", "timedOut", "cancelled", "signalled", "notStarted", "interrupted"] as const
export type Ending = (typeof endings)[number]

const Instant = lazily(() => z.iso.datetime())
const Count = lazily(() => z.int().check(z.nonnegative()))
const ArtifactRef = lazily(() => z.string().check(z.regex(/^sha256:[0-9a-f]{64}$/)))

export const TruncatedStream = lazily(() =>
  z.strictObject({
    originalBytes: described(Count(), "number of bytes that the process really wrote"),
    keptBytes: described(Count(), "number of them in the result"),
    sha256: described(z.string(), "hash of all the bytes as they were written"),
    artifact: described(z.nullable(ArtifactRef()), "the redacted output up to the configured limit"),
  }),
)
export type TruncatedStream = z.infer<ReturnType<typeof TruncatedStream>>

export const CommandError = lazily(() =>
  z.strictObject({
    code: z.string(),
    message: z.string(),
    details: z.record(z.string(), z.string()),
  }),
)
export type CommandError = z.infer<ReturnType<typeof CommandError>> & { readonly code: ErrorCode }

export const SandboxUse = lazily(() =>
  z.strictObject({
    kind: z.enum(["native", "perl", "bwrap", "container", "reduced", "none"]),
    network: z.enum(networkChoices),
    hosts: described(
      z.exactOptional(z.array(z.string())),
      "with the network `hosts`, the only hosts it could reach",
    ),
    quarantined: described(z.array(z.string()), "protected names that appeared and were moved away"),
    asked: described(
      z.exactOptional(z.array(z.string())),
      "CI files and instructions for assistants that were written or removed without approval",
    ),
    connections: described(
      z.exactOptional(Connections()),
      "connections it requested from acode's proxy; omitted if there was no proxy",
    ),
  }),
)
export type SandboxUse = z.infer<ReturnType<typeof SandboxUse>>

/** The result of a command: the same keys however the command ended. */
export const CommandResult = lazily(() =>
  z.strictObject({
    ending: z.enum(endings),
    exitCode: z.nullable(z.int()),
    signal: z.nullable(z.string()),
    success: described(
      z.boolean(),
      "exit 0, and not timed out, cancelled, signalled, interrupted or unstarted",
    ),
    timedOut: z.boolean(),
    startTime: Instant(),
    endTime: Instant(),
    durationMs: Count(),
    queuedMs: described(Count(), "time spent waiting for a free slot, not part of durationMs"),
    stdout: z.string(),
    stderr: z.string(),
    truncation: z.nullable(
      z.strictObject({ stdout: z.nullable(TruncatedStream()), stderr: z.nullable(TruncatedStream()) }),
    ),
    artifacts: described(
      z.strictObject({ stdout: z.nullable(ArtifactRef()), stderr: z.nullable(ArtifactRef()) }),
      "artifacts with the bytes that the text does not contain",
    ),
    error: z.nullable(CommandError()),
    usage: described(
      z.strictObject({ cpuMs: z.nullable(Count()), maxRssBytes: z.nullable(Count()) }),
      "null if it could not be measured",
    ),
    sandbox: SandboxUse(),
  }),
)
export type CommandResult = Omit<z.infer<ReturnType<typeof CommandResult>>, "error"> & {
  readonly error: CommandError | null
}

/** The command as it is recorded: paths relative to the workspace, secrets redacted. */
export const RecordedCommand = lazily(() =>
  z.strictObject({
    executable: z.string(),
    arguments: z.array(z.string()),
    workingDirectory: z.string(),
    timeoutMs: z.number().check(z.positive()),
    shell: z.boolean(),
    environmentMode: z.enum(environmentModes),
    environment: z.record(z.string(), z.nullable(z.string())),
    resourceLimits: z.strictObject({
      memoryBytesMax: z.nullable(Count()),
      processesMax: z.nullable(Count()),
      cpuSecondsMax: z.nullable(Count()),
      fileBytesMax: z.nullable(Count()),
    }),
  }),
)
export type RecordedCommand = z.infer<ReturnType<typeof RecordedCommand>>

/** The run, session, task, step and call that an execution belongs to; null where there is none. */
export const CorrelationIds = lazily(() =>
  z.strictObject({
    runId: z.string(),
    sessionId: z.nullable(z.string()),
    taskId: z.nullable(z.string()),
    stepId: z.nullable(z.string()),
    toolCallId: z.nullable(z.string()),
    worktreeId: z.nullable(z.string()),
    repoSha: z.nullable(z.string()),
  }),
)
export type CorrelationIds = z.infer<ReturnType<typeof CorrelationIds>>

/** One complete execution, as `exec --json` and `runs show --json` print it. */
export const ExecutionRecord = lazily(() =>
  z.strictObject({
    id: z.string(),
    command: RecordedCommand(),
    result: CommandResult(),
    correlationIds: CorrelationIds(),
  }),
)
export type ExecutionRecord = Omit<StoredExecution, "result"> & {
  readonly result: CommandResult
}
/** One execution as the log holds it: an event of another version may have a code that the table lacks. */
export type StoredExecution = z.infer<ReturnType<typeof ExecutionRecord>>

/** Returns the record with the artifacts of another result, so that it names what was really stored. */
export function withArtifacts(
  record: ExecutionRecord,
  { artifacts, truncation }: Pick<CommandResult, "artifacts" | "truncation">,
): ExecutionRecord {
  return Object.freeze({ ...record, result: Object.freeze({ ...record.result, artifacts, truncation }) })
}

/** Returns the artifacts and the truncation of a result that stored no artifact. */
export function noArtifacts({ truncation }: CommandResult): Pick<CommandResult, "artifacts" | "truncation"> {
  const { stdout = null, stderr = null } = truncation ?? {}
  return {
    artifacts: { stdout: null, stderr: null },
    truncation: truncation && {
      stdout: stdout && { ...stdout, artifact: null },
      stderr: stderr && { ...stderr, artifact: null },
    },
  }
}
