import type { ModelFailure } from "../../provider/contract.ts"
import type { ListedModel, ModelServer } from "../../provider/server.ts"
import type { Endpoint } from "../../provider/transport/contract.ts"
import { readEndpoint } from "../../provider/transport/endpoint.ts"
import { glanceLimits } from "./limits.ts"
import { listedName, type WantedName } from "./model-name.ts"
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
  /** The first with what is wanted, or else with a model to talk to, or else that answers as a model server does. */
  readonly server: DiscoveredServer | null
  /** The first that is there and still loads its model, where none has what is wanted. */
  readonly loading: LoadingServer | null
}

export interface LoadingServer {
  readonly endpoint: string
  readonly failure: ModelFailure
}

type SearchedWay = Pick<ServerAddress, "egress" | "externalCalls">

const nobody: Discovery = { server: null, loading: null }

/**
 * Looks for all of them side by side and gives the first in their order that has all models wanted by name, or any
 * model to talk to where none is: many have an Ollama installed that they never use. None is sent a key: nobody said
 * who listens there.
 */
export async function discover(
  servers: readonly UsualServer[],
  wanted: readonly WantedName[],
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
      if (server !== null && hasAll(server, wanted)) return { server, loading: null }
      seen = { server: better(seen.server, server), loading: seen.loading ?? loading }
    }
    return seen
  } finally {
    found.abort()
  }
}

function hasAll({ server, models }: DiscoveredServer, wanted: readonly WantedName[]): boolean {
  if (wanted.length === 0) return models.some(isUsable)
  return wanted.every(name => listedName(name, models, server.protocol) !== null)
}

/** The one before, unless it has no model to talk to and the other does. */
function better(before: DiscoveredServer | null, other: DiscoveredServer | null): DiscoveredServer | null {
  const isBetter = other?.models.some(isUsable) === true && before?.models.some(isUsable) !== true
  return isBetter ? other : (before ?? other)
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
