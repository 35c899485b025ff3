import type { ModelFailure } from "../contract.ts"
import { modelFailure } from "../reply-fault.ts"
import type { Egress, Endpoint } from "./contract.ts"
import { endpointName, isNamedBy, readEndpoint } from "./endpoint.ts"

/**
 * Returns the failure of a request that the mode forbids; null when it is allowed. Unknown modes and endpoints are
 * forbidden.
 */
export function refusal(egress: Egress, endpoint: Endpoint): ModelFailure | null {
  const why = isWhatItSays(endpoint) ? forbidden(egress, endpoint) : "it is not the endpoint it claims to be"
  if (why === null) return null
  return modelFailure("refused", `${endpointName(endpoint)} cannot be used: ${why}`)
}

/** Checks the endpoint against its own name, so that a wrong flag does not permit a connection. */
function isWhatItSays(endpoint: Endpoint): boolean {
  const read = readEndpoint(endpointName(endpoint))
  if (read.problem !== undefined) return false
  return read.url === endpoint.url && read.socket === endpoint.socket && read.isLocal === endpoint.isLocal
}

function forbidden({ mode, configured, consented }: Egress, endpoint: Endpoint): string | null {
  switch (mode) {
    case "local-only":
      return endpoint.isLocal ? null : "the mode is local-only, and it is not on this machine"
    case "burst":
      if (endpoint.isLocal || isNamedBy(consented, endpoint)) return null
      return "it is not on this machine, and this session has no consent for it"
    case "airgapped":
      if (!endpoint.isLocal) return "the mode is airgapped, and it is not on this machine"
      return isNamedBy(configured, endpoint)
        ? null
        : "the mode is airgapped, and another endpoint is configured"
    default:
      return `the mode ${JSON.stringify(mode)} is unknown`
  }
}

/** A route to a server: the address to connect to, and the host to name. */
export interface Route {
  /** The endpoint's URL with an address in place of `localhost`. */
  readonly url: string
  /** The host in the URL as it was written. */
  readonly host: string
}

/**
 * Returns the routes to a server in order. `localhost` is never resolved: a resolver may return an address elsewhere.
 */
export function routesTo({ url }: Endpoint): readonly Route[] {
  const { host, hostname } = new URL(url)
  if (hostname !== "localhost") return [{ url, host }]
  return ["127.0.0.1", "[::1]"].map(address => ({ url: url.replace("//localhost", `//${address}`), host }))
}
