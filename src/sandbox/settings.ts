import type { Clock } from "../base/clock.ts"
import type { ResolveHost } from "./proxy/contract.ts"
import type { ViewSettings } from "./view/confined-view.ts"

/** The settings of a sandbox with a view of its own; the same for every command. */
export interface ConfinedSettings extends ViewSettings {
  readonly clock: Clock
  readonly unixSockets: "allow" | "deny"
  /** Directories that hold what a package manager wrote: of protected names only repositories are looked for there. */
  readonly dependencyDirectories: readonly string[]
  /** The directory of masks and records of the sandbox; inside one of the state directories. */
  readonly workDirectory: string
  readonly quarantineDirectory: string
  /** Resolves the hosts of commands with a list of them, for the proxy. */
  readonly resolveHost: ResolveHost
  /** The paths of submodules, relative to the workspace, whether or not their files are there. */
  readonly submodules: (workspaceRoot: string) => readonly string[]
  /** Called when the confinement could not be set up although it was expected to. */
  readonly onSetupFailed: () => void
}

export interface BwrapSettings extends ConfinedSettings {
  /** The program itself, found outside the workspace. */
  readonly program: string
  readonly disableUserNamespaces: boolean
  /** True where the program can limit the size of a tmpfs. */
  readonly limitsScratch: boolean
}
