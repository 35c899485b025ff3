import type {
  Command,
  EnvironmentMode,
  ExecutionOptions,
  NetworkChoice,
  SandboxChoice,
} from "../domain/command.ts"
import type {
  CorrelationIds,
  ExecutionRecord,
  RecordedCommand,
  SandboxUse,
} from "../domain/command-result.ts"
import type { ProtectedNames } from "../domain/events/command-events.ts"

/** Starts every process that acode runs for a user, a model or a plan. */
export interface CommandRunner {
  /**
   * Runs one command to its end. Throws only for an invalid command or option (ACODE-EXE-007), for a working
   * directory that cannot be used (ACODE-EXE-006, ACODE-SEC-005) and when the execution cannot be recorded;
   * everything else that goes wrong is in the result. When it resolves, no process of the command is left and
   * the outcome is durable. Whatever it resolves to was recorded, also when nothing was started: a program that was
   * not found, a queue that was full, a cancellation before the start (ending `cancelled`, intent and outcome).
   */
  execute(command: Command, options?: ExecutionOptions, context?: ExecutionContext): Promise<ExecutionRecord>
}

export interface ExecutionContext {
  readonly signal?: AbortSignal
  readonly correlationIds?: Partial<CorrelationIds>
  /** A descriptor the command may read; without it the command reads end of file. */
  readonly stdin?: number
  /**
   * Sees the bytes as they come, unredacted, also of a stream that is not captured. A promise holds the child back
   * until it resolves, the deadline nevertheless. Once it throws or the deadline has passed it is not called again.
   */
  readonly onOutput?: (stream: "stdout" | "stderr", chunk: Uint8Array) => Promise<void> | void
  /** Receives the confinement in force, once, before the command starts. */
  readonly onConfined?: (sandbox: ConfinementUse, notice: string | null) => void
  /** Returns why configuration refuses a host, whatever the list of the command says. Called for each connection. */
  readonly hostRefusal?: HostRefusal
}

export type ConfinementUse = Pick<SandboxUse, "kind" | "network" | "hosts">
export type HostRefusal = (host: string) => string | null

/** Records an execution: in the log outside a session, through the gate inside one. */
export interface Recorder {
  /** Durable when it returns. Throws when it cannot be; then nothing is started. */
  started(intent: ExecutionIntent): void
  /** Durable when it returns, artifacts included. Returns the record as it names what was stored. */
  finished(record: ExecutionRecord, outputs: CapturedOutputs): ExecutionRecord
}

export interface ExecutionIntent {
  readonly id: string
  readonly command: RecordedCommand
  readonly correlationIds: CorrelationIds
  readonly sandbox: ConfinementUse
  /** Left out where nothing confines the command. */
  readonly protectedNames?: ProtectedNames
}

export interface CapturedOutputs {
  /** Redacted bytes whose hash the record names; null where the text in the record is all there is. */
  readonly stdout: Uint8Array | null
  readonly stderr: Uint8Array | null
}

/** The only way from a typed directory to a real one. */
export interface WorkspacePaths {
  /** The root, absolute, with every symlink resolved. */
  readonly path: string
  /** Throws ACODE-EXE-006 for a path that is not a directory, ACODE-SEC-005 for one outside. `.` is the root. */
  directory(typed: string): WorkspaceDirectory
}

export interface WorkspaceDirectory {
  readonly absolute: string
  /** The path as messages show it; `.` for the root. */
  readonly relative: string
}

/** The `execution:` section of the configuration, in the units the code uses. */
export interface ExecutionSettings {
  readonly defaultTimeoutMs: number
  readonly outputBytesMax: number
  /** The number of bytes of a longer output that are kept as an artifact; 0 keeps none. */
  readonly artifactBytesMax: number
  /** A command that writes more than this in all is killed (ACODE-EXE-004). */
  readonly outputCeilingBytes: number
  readonly useShell: boolean
  readonly concurrentMax: number
  /** The number of executions that may wait for a slot before more are refused (ACODE-EXE-008). */
  readonly queuedMax: number
  readonly environmentMode: EnvironmentMode
  /** Patterns like `*_TOKEN`, added to the ones that are always excluded. */
  readonly environmentExclude: readonly string[]
  /** Names that are passed on although a pattern excludes them. */
  readonly environmentInclude: readonly string[]
  readonly sandbox: SandboxChoice
  readonly network: NetworkChoice
  /** The time a command has to exit after SIGTERM before its whole tree is killed. */
  readonly killGraceMs: number
}
