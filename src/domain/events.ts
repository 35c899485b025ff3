import { z } from "zod"
import { CommandResult, CorrelationIds, RecordedCommand, SandboxUse } from "./command-result.ts"
import { defineEvent, EventManifest } from "./event-definition.ts"

/** Which process does a thing, so that its death can be told from its slowness. */
export const ProcessIdentity = z
  .object({ bootId: z.string(), pid: z.number().int().positive(), startTicks: z.string() })
  .strict()
export type ProcessIdentity = z.infer<typeof ProcessIdentity>

/** Text of an output stream: short text stands in the event, long text is an artifact. */
export const RecordedText = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("inline"), text: z.string() }).strict(),
  z.object({ kind: z.literal("artifact"), ref: z.string(), bytes: z.number().int() }).strict(),
  z.object({ kind: z.literal("omitted") }).strict(),
])
export type RecordedText = z.infer<typeof RecordedText>

export const CommandStarted = defineEvent(
  "command.started",
  1,
  "A command is about to be started; written before the process exists.",
  z
    .object({
      executionId: z.string(),
      command: RecordedCommand,
      correlationIds: CorrelationIds,
      sandbox: SandboxUse.pick({ kind: true, network: true }),
      owner: ProcessIdentity,
    })
    .strict(),
)

export const CommandFinished = defineEvent(
  "command.finished",
  1,
  "A command has ended and nothing of its process tree is left; written before anyone is told.",
  z
    .object({
      executionId: z.string(),
      result: CommandResult.omit({ stdout: true, stderr: true }).extend({
        stdout: RecordedText,
        stderr: RecordedText,
      }),
    })
    .strict(),
)

export const HistoryPruned = defineEvent(
  "history.pruned",
  1,
  "Old streams were removed; their positions and hashes stay here so that the chain still verifies.",
  z
    .object({
      reason: z.string(),
      streams: z.array(
        z
          .object({
            stream: z.string(),
            events: z.array(z.object({ position: z.number().int(), hash: z.string() }).strict()),
          })
          .strict(),
      ),
    })
    .strict(),
)

export const manifest = new EventManifest([CommandStarted, CommandFinished, HistoryPruned])
