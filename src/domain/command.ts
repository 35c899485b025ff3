/** An OS process to run, as data: no shell, arguments one by one. Frozen once validated. */
export interface Command {
  /** A program name looked up on PATH, or a path to one. With `useShell` it is the script instead. */
  readonly executable: string
  readonly arguments: readonly string[]
  /** Relative to the workspace root, or absolute inside it. Null means the root. */
  readonly workingDirectory: string | null
  /** Added to the environment of the process; null takes a variable away. */
  readonly environment: Readonly<Record<string, string | null>>
  /** Null means the configured default. There is no way to run without a deadline. */
  readonly timeoutMs: number | null
  readonly resourceLimits: ResourceLimits
}

/** Ceilings for the whole process tree. Null leaves the sandbox's own default in force. */
export interface ResourceLimits {
  readonly memoryBytesMax: number | null
  readonly processesMax: number | null
  readonly cpuSecondsMax: number | null
  readonly fileBytesMax: number | null
}

export const environmentModes = ["inherit", "merge", "replace"] as const
/** inherit: the filtered host environment, to which a command may only add; merge: a command may also override;
 * replace: nothing of the host but the names that are always included. */
export type EnvironmentMode = (typeof environmentModes)[number]

export const captureModes = ["all", "stdout", "stderr", "none"] as const
export type CaptureMode = (typeof captureModes)[number]

export const sandboxChoices = ["auto", "bwrap", "container", "none"] as const
export type SandboxChoice = (typeof sandboxChoices)[number]

export const networkChoices = ["none", "host", "hosts"] as const
/** What a command may reach: nothing, all that this machine does, or the hosts of a list and nothing else. */
export type NetworkChoice = (typeof networkChoices)[number]
/** What can be configured for every command: a list of hosts belongs to a single one. */
export const usualNetworkChoices = ["none", "host"] as const satisfies readonly NetworkChoice[]

/** How one execution differs from the configured defaults. Every field that is left out keeps the default. */
export interface ExecutionOptions {
  readonly timeoutMs?: number
  readonly environmentMode?: EnvironmentMode
  readonly useShell?: boolean
  readonly capture?: CaptureMode
  readonly outputBytesMax?: number
  readonly sandbox?: SandboxChoice
  readonly network?: NetworkChoice
  /** What it may reach with the network `hosts`, such as `example.com`, `*.example.com` or `localhost:8080`. */
  readonly hosts?: readonly string[]
  /** Paths a person makes writable for this one execution, protected names included. */
  readonly writable?: readonly string[]
  /** Of the paths that are always asked about, those that may be written; relative to the root, exactly these. */
  readonly consented?: readonly string[]
}

export const unlimited: ResourceLimits = Object.freeze({
  memoryBytesMax: null,
  processesMax: null,
  cpuSecondsMax: null,
  fileBytesMax: null,
})

const MiB = 1024 * 1024

/** The range each limit must lie in: below it no real program starts, above it it is no limit. */
export const limitRanges = {
  timeoutMs: { min: 1, max: 7 * 24 * 3600 * 1000 },
  memoryBytesMax: { min: 4 * MiB, max: 1024 * 1024 * MiB },
  processesMax: { min: 1, max: 65_536 },
  cpuSecondsMax: { min: 1, max: 7 * 24 * 3600 },
  fileBytesMax: { min: 1, max: 1024 * 1024 * MiB },
  outputBytesMax: { min: 1, max: 256 * MiB },
} as const
/** Commands of a project, each as arguments; null when nobody has configured it. */
export interface ConfiguredCommands {
  readonly setup: readonly string[] | null
  readonly build: readonly string[] | null
  readonly test: readonly string[] | null
  readonly lint: readonly string[] | null
  readonly format: readonly string[] | null
  readonly start: readonly string[] | null
}
