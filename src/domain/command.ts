/** An OS process to run, as data: no shell, separate arguments. Frozen once validated. */
export interface Command {
  /** A program name looked up on PATH, or a path to a program. With `useShell` it is the script instead. */
  readonly executable: string
  readonly arguments: readonly string[]
  /** Relative to the workspace root, or absolute inside it. Null means the root. */
  readonly workingDirectory: string | null
  /** Added to the environment of the process; null removes a variable. */
  readonly environment: Readonly<Record<string, string | null>>
  /** Null means the configured default. No command runs without a deadline. */
  readonly timeoutMs: number | null
  readonly resourceLimits: ResourceLimits
}

/** Upper limits for the whole process tree. Null keeps the sandbox's default. */
export interface ResourceLimits {
  readonly memoryBytesMax: number | null
  readonly processesMax: number | null
  readonly cpuSecondsMax: number | null
  readonly fileBytesMax: number | null
}

export const environmentModes = ["inherit", "merge", "replace"] as const
/**
 * The rules for the environment of a command. inherit: the filtered environment of the host, to which a command may
 * only add. merge: a command may also override. replace: nothing of the host except the names that are always
 * included.
 */
export type EnvironmentMode = (typeof environmentModes)[number]

export const captureModes = ["all", "stdout", "stderr", "none"] as const
export type CaptureMode = (typeof captureModes)[number]

export const sandboxChoices = ["auto", "native", "perl", "bwrap", "container", "reduced", "none"] as const
export type SandboxChoice = (typeof sandboxChoices)[number]

export const networkChoices = ["none", "host", "hosts"] as const
/** The network of a command: nothing, everything this machine reaches, or only the hosts of a list. */
export type NetworkChoice = (typeof networkChoices)[number]
/** The networks that can be configured for every command: a list of hosts belongs to a single command. */
export const usualNetworkChoices = ["none", "host"] as const satisfies readonly NetworkChoice[]

/** The differences between one execution and the configured defaults. An omitted field keeps the default. */
export interface ExecutionOptions {
  readonly timeoutMs?: number
  readonly environmentMode?: EnvironmentMode
  readonly useShell?: boolean
  readonly capture?: CaptureMode
  readonly outputBytesMax?: number
  readonly sandbox?: SandboxChoice
  readonly network?: NetworkChoice
  /** The hosts it may reach with the network `hosts`, such as `example.com`, `*.example.com` or `localhost:8080`. */
  readonly hosts?: readonly string[]
  /** Paths that the user makes writable for this one execution, protected names included. */
  readonly writable?: readonly string[]
  /** The paths that acode always asks about and that this execution may write; exact, and relative to the root. */
  readonly consented?: readonly string[]
}

export const unlimited: ResourceLimits = Object.freeze({
  memoryBytesMax: null,
  processesMax: null,
  cpuSecondsMax: null,
  fileBytesMax: null,
})

const MiB = 1024 * 1024

/** The range each limit must lie in: below it no real program starts, above it there is effectively no limit. */
export const limitRanges = {
  timeoutMs: { min: 1, max: 7 * 24 * 3600 * 1000 },
  memoryBytesMax: { min: 4 * MiB, max: 1024 * 1024 * MiB },
  processesMax: { min: 1, max: 65_536 },
  cpuSecondsMax: { min: 1, max: 7 * 24 * 3600 },
  fileBytesMax: { min: 1, max: 1024 * 1024 * MiB },
  outputBytesMax: { min: 1, max: 256 * MiB },
} as const
/** The configured commands of a project, each as arguments; null where none is configured. */
export interface ConfiguredCommands {
  readonly setup: readonly string[] | null
  readonly build: readonly string[] | null
  readonly test: readonly string[] | null
  readonly lint: readonly string[] | null
  readonly format: readonly string[] | null
  readonly start: readonly string[] | null
}
