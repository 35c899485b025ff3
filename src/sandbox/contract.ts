import type { Spawned, SpawnRequest } from "../base/spawn.ts"
import type { NetworkChoice, ResourceLimits } from "../domain/command.ts"
import type { Connections } from "../domain/connections.ts"
import type { ProtectedNames } from "../domain/events/command-events.ts"
import type { Failure } from "../domain/failure.ts"
import type { ConnectionRules } from "./proxy/contract.ts"

/** The limits of what one command may touch. All paths are absolute and already resolved. */
export interface Confinement {
  readonly argv: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly workspaceRoot: string
  readonly cwd: string
  readonly network: NetworkChoice
  /** The allowed connections; present only with the network `hosts`. */
  readonly connections?: ConnectionRules
  /** Paths a person opened for this one command; they win over protection. */
  readonly writable: readonly string[]
  /**
   * The names among those always asked about that may be written, relative to the workspace; all others are protected.
   * Null for a person's own command: then such names are open, and changes of them are reported.
   */
  readonly asked: readonly string[] | null
  readonly limits: ResourceLimits
  /** Shows the workspace as an overlay; null binds it, so that what the command writes is there at once. */
  readonly layers: Layers | null
}

/**
 * The directories of an overlay, all absolute. `lower` is never written; what the command changes appears in `upper`.
 * `work` is empty, and on the file system of `upper`. Several commands must not use the same `upper` at once.
 */
export interface Layers {
  readonly lower: string
  readonly upper: string
  readonly work: string
}

/**
 * Confines a command; never decides whether it may run. `prepare` throws a Failure (ACODE-EXE-010, or -011 when the
 * program exists on the host and not inside) and must leave nothing behind when it does.
 */
export interface Sandbox {
  readonly kind: "native" | "perl" | "bwrap" | "reduced" | "none"
  prepare(confinement: Confinement): Promise<Launch>
}

/**
 * The protected names, as policy decides them. Paths are relative to the workspace, with `/`.
 * `noWrite` may be read and never written or deleted; `hidden` may not be read or listed either.
 */
export interface Protection {
  /** Names of files (`token`, `*.key`) do not protect what is known to be a directory. */
  classify(relativePath: string, kind?: "file" | "directory"): ProtectionLevel
  /** Returns whether a name may be written only by consent: CI files, instructions for assistants. */
  isAsked(relativePath: string): boolean
  /** Names directly below the root that are protected before they exist. */
  readonly topLevelNames: readonly ProtectedName[]
  /** Places below the home directory that hold credentials: hidden, however they came into view. `*` is one name. */
  readonly homeCredentials: readonly string[]
}

/** `asked` may be written, and is reported: so it is for a command whose owner is not asked. */
export type ProtectionLevel = "open" | "asked" | "noWrite" | "hidden"

export interface ProtectedName {
  readonly name: string
  readonly kind: "file" | "directory"
  readonly hidden: boolean
}

/** Everything between the decision to run and the last trace of the process. */
export interface Launch {
  /** True when a death by signal N reaches us as exit code 128 + N, because a reaper stands in between. */
  readonly signalsAsExitCodes?: boolean
  /** The protected names before the command, for the next acode where this one is killed; recorded before the start. */
  readonly protectedNames?: ProtectedNames
  readonly spawn: Pick<SpawnRequest, "argv" | "env" | "cwd" | "extra">
  /** Takes over the child right after the spawn: sets its limits, then releases it. */
  attach(child: Spawned): Promise<ProcessTree>
  /** Removes every trace, after the tree is dead or when the spawn failed. Never throws; calling it twice is fine. */
  cleanUp(): Promise<CleanUpReport>
}

export interface ProcessTree {
  /** Ends every process of the tree at once, however it hid, and resolves when none is left. */
  kill(): Promise<void>
  /** Asks politely (SIGTERM to the command itself); does not wait. */
  terminate(): void
  /** Ends what the exited command left behind and resolves when no process is left. */
  settle(): Promise<void>
  /** Peak memory of the tree where it can be measured truly. */
  maxRssBytes(): number | null
  /** CPU time of the whole tree where the child's own figure misses it; known after `settle` or `kill`. */
  cpuMs?(): number | null
  /** The limit the tree ran into. A program may cope with it: it explains a failure, it does not make one. */
  limitHit(): "memory" | "processes" | "repositories" | null
  /** Returns, after `settle`, why the program itself never ran although the process was started. */
  startFailure?(): Failure | null
}

export interface CleanUpReport {
  /** Protected names the command created, relative to the workspace, now in quarantine. */
  readonly quarantined: readonly string[]
  /** The directory they were moved to, relative to the workspace. */
  readonly quarantine: string | null
  /** Names that are always asked about and that the command of a person wrote, relative to the workspace. */
  readonly asked?: readonly string[]
  /** Protected names that appeared and could not be moved away: a person has to look. */
  readonly left?: readonly string[]
  /** The connections through acode's proxy; left out where there was no proxy. */
  readonly connections?: Connections
}

/** The confinement that this machine supports, found by trying it. */
export interface SandboxProbe {
  readonly kind: Sandbox["kind"]
  /** The reason why it is not stronger, and what to do about it; null when it works. */
  readonly reason: string | null
  readonly hint: string | null
  readonly features: Readonly<Record<string, boolean>>
}
