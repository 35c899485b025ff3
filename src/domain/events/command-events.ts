import * as z from "zod/mini"
import { lazily } from "../../base/lazy.ts"
import { CommandResult, CorrelationIds, RecordedCommand, SandboxUse } from "../command-result.ts"
import { ProcessIdentity } from "../process-identity.ts"
import { defineEvent, described } from "./definition.ts"
import { RecordedText } from "./recorded-text.ts"

/**
 * The names and paths that a later acode needs to find what a command left behind if the acode that started it is
 * killed.
 */
export const ProtectedNames = lazily(() =>
  z.strictObject({
    takenAtMs: z.number(),
    digests: described(
      z.string(),
      "a digest of the path of each protected name that existed, separated by spaces",
    ),
    opened: described(z.array(z.string()), "paths that the user made writable for the command"),
    asked: described(
      z.nullable(z.array(z.string())),
      "names that always need approval and were approved; null if approval is not asked for",
    ),
  }),
)
export type ProtectedNames = z.infer<ReturnType<typeof ProtectedNames>>

export const CommandStarted = defineEvent(
  "command.started",
  1,
  "A command is about to be started; written before the process exists.",
  () =>
    z.strictObject({
      executionId: z.string(),
      command: RecordedCommand(),
      correlationIds: CorrelationIds(),
      sandbox: z.pick(SandboxUse(), { kind: true, network: true, hosts: true }),
      owner: ProcessIdentity(),
      protectedNames: z.optional(ProtectedNames()),
    }),
)

export const CommandFinished = defineEvent(
  "command.finished",
  1,
  "A command has ended and no process of its tree is left; written before the result is returned.",
  () =>
    z.strictObject({
      executionId: z.string(),
      result: z.extend(z.omit(CommandResult(), { stdout: true, stderr: true }), {
        stdout: RecordedText(),
        stderr: RecordedText(),
      }),
    }),
)

export const HistoryAccepted = defineEvent(
  "history.accepted",
  1,
  "A person accepted a history that does not match its anchor; earlier approvals have to be given again.",
  () =>
    z.strictObject({
      by: z.string(),
      reason: z.string(),
      findings: described(z.array(z.string()), "the differences"),
      setAside: described(
        z.nullable(z.string()),
        "the location of the history that cannot be verified any more; null if it is this one",
      ),
    }),
)

export const HistoryPruned = defineEvent(
  "history.pruned",
  1,
  "Old streams were removed; their positions and hashes stay here so that the chain still verifies.",
  () =>
    z.strictObject({
      reason: z.string(),
      streams: z.array(
        z.strictObject({
          stream: z.string(),
          events: z.array(z.strictObject({ position: z.int(), hash: z.string() })),
        }),
      ),
    }),
)
