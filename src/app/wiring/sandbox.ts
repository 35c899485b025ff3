import { networkInterfaces } from "node:os"
import { join } from "node:path"
import type { Clock } from "../../base/clock.ts"
import type { AppEnvironment } from "../../config/environment.ts"
import type { Config } from "../../config/schema.ts"
import { toConfinementSettings } from "../../config/settings.ts"
import type { SandboxChoice } from "../../domain/command.ts"
import { readHostPattern } from "../../domain/hosts.ts"
import type { HostRefusal } from "../../exec/contract.ts"
import { connectionRules } from "../../policy/connection-rules.ts"
import { homeCredentials } from "../../policy/home-credentials.ts"
import { classify, isAsked, topLevelNames } from "../../policy/protected-paths.ts"
import type { SandboxProbe } from "../../sandbox/contract.ts"
import type { ConnectionRules, ResolveHost } from "../../sandbox/proxy/contract.ts"
import {
  createSandbox,
  probeChoice,
  type SandboxSettings,
  type SelectedSandbox,
} from "../../sandbox/select.ts"
import { submodulePaths } from "../../workspace/tree/git-rules.ts"
import type { StatePlaces } from "../state/state-directory.ts"

/**
 * Directories that package managers fill. Packages contain editor settings and sample keys; masking those would stop
 * `npm ci` from replacing a package and would move parts of new packages to quarantine. No package needs a repository
 * of its own, so repositories are protected there as well.
 */
const dependencyDirectories = ["node_modules", ".venv", "venv"]

export interface SandboxWiring {
  readonly environment: AppEnvironment
  readonly config: Config
  readonly root: string
  readonly places: StatePlaces
  readonly clock: Clock
  /** Resolves host names for commands; by default the system does. */
  readonly resolveHost?: ResolveHost | undefined
}

/** Returns a function that constructs the sandbox of a choice on first use. */
export function wireSandbox(wiring: SandboxWiring): (choice: SandboxChoice) => Promise<SelectedSandbox> {
  const selected = new Map<SandboxChoice, Promise<SelectedSandbox>>()
  return choice => {
    const known = selected.get(choice) ?? createSandbox(choice, sandboxSettings(wiring))
    selected.set(choice, known)
    return known
  }
}

/** Returns what confines commands by default; where nothing does, acode asks about commands instead. */
export async function probeHere({ execution }: Config, workspaceRoot: string): Promise<SandboxProbe> {
  return await probeChoice(execution.sandbox, workspaceRoot)
}

/** Returns whether a kind of confinement spares a person the questions about commands: the reduced one does not. */
export function isSandboxed(kind: SandboxProbe["kind"]): boolean {
  return kind !== "none" && kind !== "reduced"
}

/** Returns the choice that confines whatever is configured, and that refuses commands where nothing can. */
export async function confiningChoice(workspaceRoot: string): Promise<SandboxChoice> {
  const { kind } = await probeChoice("auto", workspaceRoot)
  return isSandboxed(kind) ? kind : "native"
}

/** Resolves a host name with the resolver of the system. */
async function systemAddresses(name: string): Promise<readonly string[]> {
  const { lookup } = await import("node:dns/promises")
  return (await lookup(name, { all: true })).map(({ address }) => address)
}

/** Returns the connections that are open to a command with a list of hosts. */
export function connectionRulesFor(
  hosts: readonly string[],
  hostRefusal: HostRefusal | null,
): ConnectionRules {
  const readings = hosts.map(readHostPattern)
  return connectionRules({
    patterns: readings.flatMap(reading => ("pattern" in reading ? [reading.pattern] : [])),
    hostRefusal: hostRefusal ?? (() => null),
    ownAddresses: () =>
      Object.values(networkInterfaces()).flatMap((each = []) => each.map(({ address }) => address)),
  })
}

export function sandboxSettings(wiring: SandboxWiring): SandboxSettings {
  const { environment, config, root, places, clock, resolveHost = systemAddresses } = wiring
  const { allowUnixSockets, readablePaths } = toConfinementSettings(config, environment.home)
  return {
    workspaceRoot: root,
    home: environment.home,
    hostEnvironment: environment.host,
    protection: { classify, isAsked, topLevelNames, homeCredentials },
    stateDirectories: [places.workspacesDirectory, places.dataDirectory],
    readablePaths,
    clock,
    unixSockets: allowUnixSockets ? "allow" : "deny",
    dependencyDirectories,
    workDirectory: join(places.stateDirectory, "sandbox"),
    submodules: submodulePaths,
    quarantineDirectory: places.quarantineDirectory,
    resolveHost,
  }
}
