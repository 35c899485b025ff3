import type { AppEnvironment } from "../config/environment.ts"
import type { Config } from "../config/schema.ts"
import { Failure } from "../domain/failure.ts"
import type { Mode, Protocol } from "../domain/model-choice.ts"
import type { ModelFailure } from "../provider/contract.ts"
import type { UsualServer } from "../provider/protocol.ts"
import type { ListedModel, ModelServer } from "../provider/server.ts"
import type { Egress, Endpoint, TransportLimits } from "../provider/transport/contract.ts"
import { endpointName, readEndpoint } from "../provider/transport/endpoint.ts"
import { apiKeyFor, consentMissing, destinationOf } from "./destination.ts"
import type { CollectedCalls } from "./external-call-log.ts"
import {
  isUsable,
  listedName,
  type NamedModel,
  readNamedModel,
  resolveModelName,
  type WantedName,
  wantedNames,
} from "./name.ts"
import { openServer, type ServerAddress } from "./open-server.ts"
import { noServer, serverProblem } from "./problem.ts"
import { queryLimits, quickLimits } from "./settings.ts"
import type { UnnamedServer } from "./spoken-protocol.ts"

/** The dependencies of finding a server and its models. */
export interface ModelContext {
  readonly config: Config
  readonly environment: AppEnvironment
  readonly usualServers: readonly UsualServer[]
  readonly notice: (text: string) => void
  readonly signal: AbortSignal
  readonly externalCalls: CollectedCalls
  /** Limits for a quick search; without them the configured ones apply. */
  readonly limits?: TransportLimits
}

/** The server that the user wants, and the consent that the user has given. */
export interface ServerWish {
  readonly mode: Mode
  /** The value of `--model`. */
  readonly model: string | null
  /** The user who typed `--mode burst` now; null when it was not typed. */
  readonly consentsNow: string | null
  /** The endpoint that the session has a consent for, and the user who gave it. */
  readonly consented: { readonly endpoint: string; readonly by: string } | null
}

export interface FoundServer {
  readonly server: ModelServer
  readonly endpoint: Endpoint
  /** Null when the server has no list and can be used nevertheless. */
  readonly models: readonly ListedModel[] | null
  readonly named: NamedModel | null
  /** The user who consented to the data that leaves this machine; null when none leaves. */
  readonly consentBy: string | null
}

/** Finds the server and lists its models. Throws a Failure with advice. */
export async function findServer(room: ModelContext, wish: ServerWish): Promise<FoundServer> {
  return (await askForServer(room, wish)).found
}

/** Resolves a tier. `written` stays, for a server that has a model of that very name. */
function withTier(named: NamedModel, { models }: Config): NamedModel {
  return { ...named, name: resolveModelName(named.name, models) }
}

/** Finds the server as `findServer` does, and returns once it has been asked, while its answer is still to come. */
export async function askForServer(
  room: ModelContext,
  wish: ServerWish,
): Promise<{ readonly found: Promise<FoundServer> }> {
  const { config, environment, externalCalls } = room
  const named = wish.model === null ? null : withTier(readNamedModel(wish.model), config)
  const destination = destinationOf({
    mode: wish.mode,
    namedProvider: named?.provider ?? null,
    configured: config.model,
    variables: environment.modelVariables,
  })
  if (destination.kind === "search") {
    const found = search(room, destination.protocol, wantedNames(config, named))
    return { found: found.then(server => ({ ...server, named })) }
  }
  const { endpoint } = destination
  const consentBy = consentFor(endpoint, wish)
  const egress = egressOf(wish.mode, config.model.endpoint, endpointName(endpoint), consentBy)
  const limits = room.limits ?? queryLimits(config)
  const ask = async (protocol: Protocol) => {
    const apiKey = apiKeyFor(protocol, endpoint, config, environment)
    const server = await openServer({ protocol, endpoint, egress, apiKey, externalCalls })
    const models = listed(server, limits, room.signal)
    return { found: models.then(list => ({ server, endpoint, models: list, named, consentBy })) }
  }
  if (destination.protocol !== null) return ask(destination.protocol)
  const spoken = askedProtocol({ endpoint, egress, externalCalls }, limits, room.signal)
  return { found: spoken.then(async protocol => (await ask(protocol)).found) }
}

/** Decides, as the only place, which endpoints a session may use. `configured` is the present configuration. */
export function egressOf(
  mode: Mode,
  configured: string | null,
  endpoint: string | null,
  consentBy: string | null,
): Egress {
  return { mode, configured, consented: consentBy === null ? null : endpoint }
}

function consentFor(endpoint: Endpoint, { mode, consentsNow, consented }: ServerWish): string | null {
  if (mode !== "burst" || endpoint.isLocal) return null
  const name = endpointName(endpoint)
  const by = consentsNow ?? (consented?.endpoint === name ? consented.by : null)
  if (by === null) throw consentMissing(`this session has no consent for ${name}`)
  return by
}

async function search(
  { usualServers, signal, externalCalls }: ModelContext,
  protocol: Protocol | null,
  wanted: readonly WantedName[],
): Promise<Omit<FoundServer, "named">> {
  const servers = usualServers.filter(usual => protocol === null || usual.protocol === protocol)
  const egress = egressOf("local-only", null, null, null)
  const { server, loading } = await discover(servers, wanted, { egress, externalCalls }, signal)
  // A server that is about to have a model is preferred to one without the wanted model.
  if (loading !== null) throw serverProblem(loading.failure, loading.endpoint)
  if (server !== null) return { ...server, consentBy: null }
  if (signal.aborted) throw stopped()
  throw noServer(servers, protocol)
}

async function askedProtocol(
  server: UnnamedServer,
  limits: TransportLimits,
  signal: AbortSignal,
): Promise<Protocol> {
  const { spokenProtocol } = await import("./spoken-protocol.ts")
  return spokenProtocol(server, limits, signal)
}

async function listed(
  server: ModelServer,
  limits: TransportLimits,
  signal: AbortSignal,
): Promise<readonly ListedModel[] | null> {
  const answered = await server.models(limits, signal)
  if (answered.failure === undefined) return answered.value
  // Some servers have no list of models.
  if (answered.failure.kind === "notFound") return null
  throw serverProblem(answered.failure, server.endpoint)
}

function stopped(): Failure {
  const message = "stopped while searching for a model server"
  return new Failure({
    kind: "interrupted",
    code: "ACODE-MODEL-001",
    message,
    hint: "no session was started",
  })
}

interface DiscoveredServer {
  readonly endpoint: Endpoint
  readonly server: ModelServer
  readonly models: readonly ListedModel[]
}

/** The result of searching the usual servers. */
interface Discovery {
  /** The first that has the wanted models, or else any usable model, or else that answers as a model server does. */
  readonly server: DiscoveredServer | null
  /** The first that is still loading its model, where none has the wanted models. */
  readonly loading: LoadingServer | null
}

interface LoadingServer {
  readonly endpoint: string
  readonly failure: ModelFailure
}

type SearchOptions = Pick<ServerAddress, "egress" | "externalCalls">

const noServerFound: Discovery = { server: null, loading: null }

/**
 * Searches all of them in parallel and returns the first in their order that has all models wanted by name, or any
 * usable model where none is named: many users have an Ollama installed that they never use. None is sent a key,
 * because it is not known which program listens there.
 */
async function discover(
  servers: readonly UsualServer[],
  wanted: readonly WantedName[],
  options: SearchOptions,
  signal: AbortSignal,
): Promise<Discovery> {
  const found = new AbortController()
  const either = AbortSignal.any([signal, found.signal])
  const looks = servers.map(usual => probe(usual, options, either))
  let discovery = noServerFound
  try {
    for (const each of looks) {
      const { server, loading } = await each
      if (server !== null && hasAll(server, wanted)) return { server, loading: null }
      discovery = { server: better(discovery.server, server), loading: discovery.loading ?? loading }
    }
    return discovery
  } finally {
    found.abort()
  }
}

function hasAll({ server, models }: DiscoveredServer, wanted: readonly WantedName[]): boolean {
  if (wanted.length === 0) return models.some(isUsable)
  return wanted.every(name => listedName(name, models, server.protocol) !== null)
}

/** Returns the first one, unless only the other has a usable model. */
function better(before: DiscoveredServer | null, other: DiscoveredServer | null): DiscoveredServer | null {
  const isBetter = other?.models.some(isUsable) === true && before?.models.some(isUsable) !== true
  return isBetter ? other : (before ?? other)
}

async function probe(usual: UsualServer, options: SearchOptions, signal: AbortSignal): Promise<Discovery> {
  const endpoint = readEndpoint(usual.endpoint)
  if (endpoint.problem !== undefined) return noServerFound
  const server = await openServer({ protocol: usual.protocol, endpoint, apiKey: null, ...options })
  const { value: models, failure } = await server.models(quickLimits, signal)
  if (models !== undefined) return { server: { endpoint, server, models }, loading: null }
  return isLoading(failure)
    ? { server: null, loading: { endpoint: server.endpoint, failure } }
    : noServerFound
}

/** Recognises llama.cpp's message: any program may answer 503 on a usual port. */
function isLoading({ kind, message }: ModelFailure): boolean {
  return kind === "overloaded" && /loading model/i.test(message)
}
