import type { z } from "zod"
import {
  type CommandResult,
  ExecutionRecord,
  noArtifacts,
  type StoredExecution,
} from "../../domain/command-result.ts"
import { CommandFinished, CommandStarted } from "../../domain/events/command-events.ts"
import type { RecordedText } from "../../domain/events/recorded-text.ts"
import type { ArtifactStore, RecordedOutputs, StoredEvent } from "../contract.ts"
import { fieldsOf } from "../log/event-rows.ts"
import { storedText } from "../log/recorded-values.ts"

type StreamName = "stdout" | "stderr"

export interface OutputRules {
  /** Longer texts are stored as artifacts, outside the event. */
  readonly inlineBytesMax: number
  /** False keeps the output of commands out of the history. */
  readonly includeOutput: boolean
}

/** Stores long texts as artifacts and returns the data of the event that refers to them. */
export function executionOutcome(
  record: ExecutionRecord,
  outputs: RecordedOutputs,
  artifacts: ArtifactStore,
  rules: OutputRules,
): FinishedFields {
  const { result } = record
  if (!rules.includeOutput) return { executionId: record.id, result: withoutOutput(result) }
  const kept = { stdout: keptRef("stdout"), stderr: keptRef("stderr") }
  return {
    executionId: record.id,
    result: {
      ...result,
      stdout: recordedText(result.stdout, artifacts, rules.inlineBytesMax),
      stderr: recordedText(result.stderr, artifacts, rules.inlineBytesMax),
      ...namingKept(result, kept),
    },
  }

  function keptRef(stream: StreamName): string | null {
    const bytes = outputs[stream]
    const isNamed = (result.artifacts[stream] ?? result.truncation?.[stream]?.artifact ?? null) !== null
    return bytes === null || !isNamed ? null : artifacts.put(bytes)
  }
}

/** Returns the record as it was returned when the command ended; its keys have the order of the schema. */
export function recordOf(
  started: StartedFields,
  finished: FinishedFields,
  artifacts: ArtifactStore,
): StoredExecution {
  return ExecutionRecord().parse({
    id: started.executionId,
    command: started.command,
    result: {
      ...finished.result,
      stdout: storedText(finished.result.stdout, artifacts),
      stderr: storedText(finished.result.stderr, artifacts),
    },
    correlationIds: started.correlationIds,
  })
}

/** Returns the outcome of a command whose acode died: only its start is known, its end is not guessed. */
export function interruptedOutcome(
  started: StartedFields,
  startTime: string,
  quarantined: readonly string[],
): FinishedFields {
  return {
    executionId: started.executionId,
    result: {
      ending: "interrupted",
      exitCode: null,
      signal: null,
      success: false,
      timedOut: false,
      startTime,
      endTime: startTime,
      durationMs: 0,
      queuedMs: 0,
      stdout: { kind: "omitted" },
      stderr: { kind: "omitted" },
      truncation: null,
      artifacts: { stdout: null, stderr: null },
      error: {
        code: "ACODE-EXE-013",
        message: "acode ended before the command; how and when the command ended is unknown",
        details: {},
      },
      usage: { cpuMs: null, maxRssBytes: null },
      sandbox: { ...started.sandbox, quarantined: [...quarantined] },
    },
  }
}

function withoutOutput(result: CommandResult): FinishedFields["result"] {
  const omitted = { kind: "omitted" } as const
  return {
    ...result,
    stdout: omitted,
    stderr: omitted,
    ...noArtifacts(result),
  }
}

/** Replaces the artifact names of a result by those of the content that was stored. */
function namingKept(
  result: CommandResult,
  kept: Readonly<Record<StreamName, string | null>>,
): Pick<CommandResult, "artifacts" | "truncation"> {
  const named = (promised: string | null, stream: StreamName) => (promised === null ? null : kept[stream])
  const { stdout = null, stderr = null } = result.truncation ?? {}
  return {
    artifacts: {
      stdout: named(result.artifacts.stdout, "stdout"),
      stderr: named(result.artifacts.stderr, "stderr"),
    },
    truncation: result.truncation && {
      stdout: stdout && { ...stdout, artifact: named(stdout.artifact, "stdout") },
      stderr: stderr && { ...stderr, artifact: named(stderr.artifact, "stderr") },
    },
  }
}

/**
 * Returns a text as an event holds it. Text that is not well-formed would change in an artifact, so it stays in the
 * event.
 */
function recordedText(text: string, artifacts: ArtifactStore, inlineBytesMax: number): RecordedText {
  if (Buffer.byteLength(text) <= inlineBytesMax || !text.isWellFormed()) return { kind: "inline", text }
  const bytes = new TextEncoder().encode(text)
  return { kind: "artifact", ref: artifacts.put(bytes), bytes: bytes.length }
}

export type StartedFields = z.infer<typeof CommandStarted.data>
export type FinishedFields = z.infer<typeof CommandFinished.data>

export function startedFields(event: Pick<StoredEvent, "type" | "data">): StartedFields | null {
  return fieldsOf(CommandStarted, event)
}

export function finishedFields(event: Pick<StoredEvent, "type" | "data">): FinishedFields | null {
  return fieldsOf(CommandFinished, event)
}
