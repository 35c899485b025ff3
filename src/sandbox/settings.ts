import type { Clock } from "../base/clock.ts"
import type { ResolveHost } from "./proxy/contract.ts"
import type { ViewSettings } from "./view/confined-view.ts"

/** What a bubblewrap sandbox is made with; the same for every command. */
export interface BwrapSettings extends ViewSettings {
  readonly clock: Clock
  /** The program itself, found outside the workspace. */
  readonly program: string
  readonly disableUserNamespaces: boolean
  /** Whether the program can limit how much a place to write in memory holds. */
  readonly limitsScratch: boolean
  readonly unixSockets: "allow" | "deny"
  /** Directories that hold what a package manager wrote: of protected names only repositories are looked for there. */
  readonly dependencyDirectories: readonly string[]
  /** Where the sandbox keeps its masks and records; inside one of the state directories. */
  readonly workDirectory: string
  readonly quarantineDirectory: string
  /** How the proxy of commands with a list of hosts finds their addresses. */
  readonly resolveHost: ResolveHost
  /** The paths of submodules, relative to the workspace, whether or not their files are there. */
  readonly submodules: (workspaceRoot: string) => readonly string[]
  /** Called when bubblewrap could not set up the confinement although it was expected to. */
  readonly onSetupFailed: () => void
}
