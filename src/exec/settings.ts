import type { EnvironmentMode, NetworkChoice, SandboxChoice } from "../domain/command.ts"

/** The `execution:` section of the configuration, in the units the code uses. */
export interface ExecutionSettings {
  readonly defaultTimeoutMs: number
  readonly outputBytesMax: number
  /** How much of an output that is too long is kept as an artifact; 0 keeps none. */
  readonly artifactBytesMax: number
  /** A command that writes more than this in all is killed (ACODE-EXE-004). */
  readonly outputCeilingBytes: number
  readonly useShell: boolean
  readonly concurrentMax: number
  /** How many executions may wait for a slot before more are refused (ACODE-EXE-008). */
  readonly queuedMax: number
  readonly environmentMode: EnvironmentMode
  /** Patterns like `*_TOKEN`, added to the ones that are always excluded. */
  readonly environmentExclude: readonly string[]
  /** Names that are passed on although a pattern excludes them. */
  readonly environmentInclude: readonly string[]
  readonly sandbox: SandboxChoice
  readonly network: NetworkChoice
  /** How long a command may take to end after SIGTERM before everything is killed. */
  readonly killGraceMs: number
}
