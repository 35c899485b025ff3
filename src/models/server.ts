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
import type { KeptCalls } from "./external-call-log.ts"
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
import { glanceLimits, lookLimits } from "./settings.ts"
import type { UnnamedServer } from "./spoken-protocol.ts"

/** What a look for a model stands on. */
export interface ModelRoom {
  readonly config: Config
  readonly environment: AppEnvironment
  readonly usualServers: readonly UsualServer[]
  readonly notice: (text: string) => void
  readonly signal: AbortSignal
  readonly externalCalls: KeptCalls
  /** For a look that must not take long; the configured ones when there are none. */
  readonly limits?: TransportLimits
}

/** What a person wants, and what they have agreed to. */
export interface ServerWish {
  readonly mode: Mode
  /** As `--model` said it. */
  readonly model: string | null
  /** Who typed `--mode burst` now; null when nobody did. */
  readonly consentsNow: string | null
  /** The endpoint that the session has a consent for, and whose. */
  readonly consented: { readonly endpoint: string; readonly by: string } | null
}

export interface FoundServer {
  readonly server: ModelServer
  readonly endpoint: Endpoint
  /** Null when the server has no list and can be used all the same. */
  readonly models: readonly ListedModel[] | null
  readonly named: NamedModel | null
  /** Who agreed to what leaves this machine; null when nothing does. */
  readonly consentBy: string | null
}

/** Finds the server that is meant and asks it for its models. Throws a Failure that says what to do. */
export async function findServer(room: ModelRoom, wish: ServerWish): Promise<FoundServer> {
  return (await askForServer(room, wish)).found
}

/** As it was written it stays, for a server that has a model of that very name. */
function withTier(named: NamedModel, { models }: Config): NamedModel {
  return { ...named, name: resolveModelName(named.name, models) }
}

/** The same, as soon as a server has been asked: what it answers is still to come. */
export async function askForServer(
  room: ModelRoom,
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
  const limits = room.limits ?? lookLimits(config)
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

/** The only place where it is decided what a session may talk to. `configured` is what the configuration says now. */
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
  if (by === null) throw consentMissing(`nobody has agreed in this session to what leaves for ${name}`)
  return by
}

async function search(
  { usualServers, signal, externalCalls }: ModelRoom,
  protocol: Protocol | null,
  wanted: readonly WantedName[],
): Promise<Omit<FoundServer, "named">> {
  const meant = usualServers.filter(usual => protocol === null || usual.protocol === protocol)
  const egress = egressOf("local-only", null, null, null)
  const { server, loading } = await discover(meant, wanted, { egress, externalCalls }, signal)
  // A server without what is wanted is of less use than one that is about to have a model.
  if (loading !== null) throw serverProblem(loading.failure, loading.endpoint)
  if (server !== null) return { ...server, consentBy: null }
  if (signal.aborted) throw stopped()
  throw noServer(meant, protocol)
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
  // Some servers only answer questions.
  if (answered.failure.kind === "notFound") return null
  throw serverProblem(answered.failure, server.endpoint)
}

function stopped(): Failure {
  const message = "stopped while a model server was looked for"
  return new Failure({ kind: "interrupted", code: "ACODE-MODEL-001", message, hint: "nothing was begun" })
}

interface DiscoveredServer {
  readonly endpoint: Endpoint
  readonly server: ModelServer
  readonly models: readonly ListedModel[]
}

/** What was seen of the usual servers. */
interface Discovery {
  /** The first with what is wanted, or else with a model to talk to, or else that answers as a model server does. */
  readonly server: DiscoveredServer | null
  /** The first that is there and still loads its model, where none has what is wanted. */
  readonly loading: LoadingServer | null
}

interface LoadingServer {
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
async function discover(
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
