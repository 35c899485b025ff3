import type { ModelFailure } from "../contract.ts"
import { modelFailure } from "../reply-fault.ts"
import type { Egress, Endpoint } from "./contract.ts"
import { endpointName, isNamedBy, readEndpoint } from "./endpoint.ts"

/** Why the mode forbids to talk to this endpoint; null when it may be talked to. Whatever is not known is forbidden. */
export function refusal(egress: Egress, endpoint: Endpoint): ModelFailure | null {
  const why = isWhatItSays(endpoint) ? forbidden(egress, endpoint) : "it is not the endpoint it claims to be"
  if (why === null) return null
  return modelFailure("refused", `${endpointName(endpoint)} may not be talked to: ${why}`)
}

/** Whether an endpoint is local is read again from its name: a wrong flag must not open the way. */
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
      return "it is not on this machine, and nobody consented to it in this session"
    case "airgapped":
      if (!endpoint.isLocal) return "the mode is airgapped, and it is not on this machine"
      return isNamedBy(configured, endpoint)
        ? null
        : "the mode is airgapped, and another endpoint is configured"
    default:
      return `the mode ${JSON.stringify(mode)} is not known`
  }
}

/** How a server is reached: what to ask, and what to call it. */
export interface Way {
  /** The endpoint's URL with an address in the place of `localhost`. */
  readonly url: string
  /** The name in the URL as it was written. */
  readonly host: string
}

/** The ways to a server, in their order. `localhost` is never looked up: a resolver may say that it is elsewhere. */
export function waysTo({ url }: Endpoint): readonly Way[] {
  const { host, hostname } = new URL(url)
  if (hostname !== "localhost") return [{ url, host }]
  return ["127.0.0.1", "[::1]"].map(address => ({ url: url.replace("//localhost", `//${address}`), host }))
}
