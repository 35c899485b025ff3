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
import { findBwrap, probeSandbox } from "../../sandbox/probe.ts"
import type { ConnectionRules, ResolveHost } from "../../sandbox/proxy/contract.ts"
import { createSandbox, type SandboxSettings, type SelectedSandbox } from "../../sandbox/select.ts"
import { submodulePaths } from "../../workspace/tree/git-rules.ts"
import type { StatePlaces } from "../state/state-directory.ts"

/**
 * What package managers fill. Packages bring editor settings and sample keys along; masking those would keep
 * `npm ci` from replacing a package and would move parts of new ones to quarantine. None brings a repository that it
 * needs, so those are looked for there as well.
 */
const dependencyDirectories = ["node_modules", ".venv", "venv"]

export interface SandboxWiring {
  readonly environment: AppEnvironment
  readonly config: Config
  readonly root: string
  readonly places: StatePlaces
  readonly clock: Clock
  /** How names are looked up for commands; left out where the system is asked. */
  readonly resolveHost?: ResolveHost | undefined
}

/** One sandbox for each choice, made when it is first asked for. */
export function wireSandbox(wiring: SandboxWiring): (choice: SandboxChoice) => Promise<SelectedSandbox> {
  const selected = new Map<SandboxChoice, Promise<SelectedSandbox>>()
  return choice => {
    const known = selected.get(choice) ?? createSandbox(choice, sandboxSettings(wiring))
    selected.set(choice, known)
    return known
  }
}

export function probeHere(workspaceRoot: string): Promise<SandboxProbe> {
  return probeSandbox(findBwrap(workspaceRoot))
}

/** Whether commands are confined when nobody chooses; where they are not, what rests on confinement is asked. */
export async function hasSandbox({ execution }: Config, workspaceRoot: string): Promise<boolean> {
  return execution.sandbox !== "none" && (await probeHere(workspaceRoot)).kind !== "none"
}

/** As any program of this machine would get them. */
async function systemAddresses(name: string): Promise<readonly string[]> {
  const { lookup } = await import("node:dns/promises")
  return (await lookup(name, { all: true })).map(({ address }) => address)
}

/** What a command that is held to a list of hosts may connect to. */
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
