import type { Command, ExecutionOptions } from "../domain/command.ts"
import type {
  CorrelationIds,
  ExecutionRecord,
  RecordedCommand,
  SandboxUse,
} from "../domain/command-result.ts"

/** The only way acode starts a process for anybody. */
export interface CommandRunner {
  /**
   * Runs one command to its end. Throws only for an invalid command or option (ACODE-EXE-007) and when the
   * execution cannot be recorded; everything that goes wrong while running is told in the result. When it
   * resolves, no process of the command is left and the outcome is durable.
   */
  execute(command: Command, options?: ExecutionOptions, context?: ExecutionContext): Promise<ExecutionRecord>
}

export interface ExecutionContext {
  readonly signal?: AbortSignal
  readonly correlationIds?: Partial<CorrelationIds>
  /** A descriptor the command may read; without it the command reads end of file. */
  readonly stdin?: number
  /** Sees the bytes as they come, unredacted. A promise holds the child back until it resolves. */
  readonly onOutput?: (stream: "stdout" | "stderr", chunk: Uint8Array) => Promise<void> | void
  /** Told once, before the command starts, which confinement is in force. */
  readonly onConfined?: (sandbox: Pick<SandboxUse, "kind" | "network">, notice: string | null) => void
}

/** Where an execution is written down: the log outside a session, the gate inside one. */
export interface Recorder {
  /** Durable when it returns. Throws when it cannot be; then nothing is started. */
  started(intent: ExecutionIntent): void
  /** Durable when it returns, artifacts included. */
  finished(record: ExecutionRecord, outputs: CapturedOutputs): void
}

export interface ExecutionIntent {
  readonly id: string
  readonly command: RecordedCommand
  readonly correlationIds: CorrelationIds
  readonly sandbox: Pick<SandboxUse, "kind" | "network">
}

export interface CapturedOutputs {
  /** Redacted bytes whose hash the record names; null where the text in the record is all there is. */
  readonly stdout: Uint8Array | null
  readonly stderr: Uint8Array | null
}
