import type { Clock } from "../../base/clock.ts"
import type { Host } from "../../domain/hosts.ts"

/** The connections that policy allows to one command. */
export interface ConnectionRules {
  /** Returns why a command may not connect to this host; null when it may. Called before the name is resolved. */
  refusalOf(host: Host, port: number): string | null
  /** The same of an address that the host stands for. */
  refusalOfAddress(address: string, host: Host, port: number): string | null
  /** Ports of this machine that stand open under the same number inside the sandbox, for programs that use no proxy. */
  readonly localPorts: readonly number[]
}

/** All addresses of a name. Throws when there is none. */
export type ResolveHost = (name: string) => Promise<readonly string[]>

export interface ProxySettings {
  readonly rules: ConnectionRules
  readonly resolveHost: ResolveHost
  readonly clock: Clock
  readonly limits: ProxyLimits
}

export interface ProxyLimits {
  readonly connectionsMax: number
  /** The maximum size of the head of a request, and the time it may take. */
  readonly headBytesMax: number
  readonly headMs: number
  /** The time for the lookup of a name, and for each of its addresses to answer. */
  readonly resolveMs: number
  readonly connectMs: number
  /** The time after which an idle connection is closed. */
  readonly idleMs: number
  /** The number of connections that are recorded one by one. */
  readonly listedMax: number
}

export const proxyLimits: ProxyLimits = {
  connectionsMax: 256,
  headBytesMax: 32 * 1024,
  headMs: 10_000,
  resolveMs: 10_000,
  connectMs: 10_000,
  idleMs: 300_000,
  listedMax: 200,
}
