import type { ListedModel, ModelServer } from "../../provider/server.ts"
import type { Egress, Endpoint } from "../../provider/transport/contract.ts"
import { readEndpoint } from "../../provider/transport/endpoint.ts"
import { glanceLimits } from "./limits.ts"
import { openServer } from "./open-server.ts"
import { isUsable } from "./usable-model.ts"
import type { UsualServer } from "./usual-servers.ts"

export interface DiscoveredServer {
  readonly endpoint: Endpoint
  readonly server: ModelServer
  readonly models: readonly ListedModel[]
}

/**
 * Looks for all of them side by side and gives the first in their order that has a model to talk to, for many have an
 * Ollama installed that they never use; where none has, the first that answers as a model server does. None is sent a
 * key: nobody said who listens there.
 */
export async function discover(
  servers: readonly UsualServer[],
  egress: Egress,
  signal: AbortSignal,
): Promise<DiscoveredServer | null> {
  const found = new AbortController()
  const either = AbortSignal.any([signal, found.signal])
  const looks = servers.map(usual => look(usual, egress, either))
  let empty: DiscoveredServer | null = null
  try {
    for (const each of looks) {
      const discovered = await each
      if (discovered?.models.some(isUsable) === true) return discovered
      empty ??= discovered
    }
    return empty
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
