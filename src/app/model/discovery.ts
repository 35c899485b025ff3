import type { ModelFailure } from "../../provider/contract.ts"
import type { ListedModel, ModelServer } from "../../provider/server.ts"
import type { Endpoint } from "../../provider/transport/contract.ts"
import { readEndpoint } from "../../provider/transport/endpoint.ts"
import { glanceLimits } from "./limits.ts"
import { openServer, type ServerAddress } from "./open-server.ts"
import { isUsable } from "./usable-model.ts"
import type { UsualServer } from "./usual-servers.ts"

export interface DiscoveredServer {
  readonly endpoint: Endpoint
  readonly server: ModelServer
  readonly models: readonly ListedModel[]
}

/** What was seen of the usual servers. */
export interface Discovery {
  /** The first with a model to talk to, or else the first that answers as a model server does. */
  readonly server: DiscoveredServer | null
  /** The first that is there and still loads its model, where none has one yet. */
  readonly loading: LoadingServer | null
}

export interface LoadingServer {
  readonly endpoint: string
  readonly failure: ModelFailure
}

type SearchedWay = Pick<ServerAddress, "egress" | "externalCalls">

const nobody: Discovery = { server: null, loading: null }

/**
 * Looks for all of them side by side and gives the first in their order that has a model to talk to, for many have an
 * Ollama installed that they never use. None is sent a key: nobody said who listens there.
 */
export async function discover(
  servers: readonly UsualServer[],
  way: SearchedWay,
  signal: AbortSignal,
): Promise<Discovery> {
  const found = new AbortController()
  const either = AbortSignal.any([signal, found.signal])
  const looks = servers.map(usual => look(usual, way, either))
  let seen = nobody
  try {
    for (const each of looks) {
      const { server, loading } = await each
      if (server?.models.some(isUsable) === true) return { server, loading: null }
      seen = { server: seen.server ?? server, loading: seen.loading ?? loading }
    }
    return seen
  } finally {
    found.abort()
  }
}

async function look(usual: UsualServer, way: SearchedWay, signal: AbortSignal): Promise<Discovery> {
  const endpoint = readEndpoint(usual.endpoint)
  if (endpoint.problem !== undefined) return nobody
  const server = await openServer({ protocol: usual.protocol, endpoint, apiKey: null, ...way })
  const { value: models, failure } = await server.models(glanceLimits, signal)
  if (models !== undefined) return { server: { endpoint, server, models }, loading: null }
  return isLoading(failure) ? { server: null, loading: { endpoint: server.endpoint, failure } } : nobody
}

/** In the words of llama.cpp: anything may answer 503 on a usual port. */
function isLoading({ kind, message }: ModelFailure): boolean {
  return kind === "overloaded" && /loading model/i.test(message)
}
