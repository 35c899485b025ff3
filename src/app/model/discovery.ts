import type { ListedModel, ModelServer } from "../../provider/server.ts"
import type { Egress, Endpoint } from "../../provider/transport/contract.ts"
import { readEndpoint } from "../../provider/transport/endpoint.ts"
import { glanceLimits } from "./limits.ts"
import { openServer } from "./open-server.ts"
import type { UsualServer } from "./usual-servers.ts"

export interface DiscoveredServer {
  readonly endpoint: Endpoint
  readonly server: ModelServer
  readonly models: readonly ListedModel[]
}

/**
 * Looks for all of them side by side and gives the first in their order that answers as a model server does. None is
 * sent a key: nobody said who listens there.
 */
export async function discover(
  servers: readonly UsualServer[],
  egress: Egress,
  signal: AbortSignal,
): Promise<DiscoveredServer | null> {
  const found = new AbortController()
  const either = AbortSignal.any([signal, found.signal])
  const looks = servers.map(usual => look(usual, egress, either))
  try {
    for (const each of looks) {
      const discovered = await each
      if (discovered !== null) return discovered
    }
    return null
  } finally {
    found.abort()
  }
}

async function look(
  usual: UsualServer,
  egress: Egress,
  signal: AbortSignal,
): Promise<DiscoveredServer | null> {
  const endpoint = readEndpoint(usual.endpoint)
  if (endpoint.problem !== undefined) return null
  const server = await openServer({ protocol: usual.protocol, endpoint, egress, apiKey: null })
  const { value: models } = await server.models(glanceLimits, signal)
  return models === undefined ? null : { endpoint, server, models }
}
