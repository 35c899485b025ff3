import { oneLine } from "../base/text.ts"
import type { AppEnvironment } from "../config/environment.ts"
import type { Config } from "../config/schema.ts"
import { Failure } from "../domain/failure.ts"
import type { Mode, Protocol } from "../domain/model-choice.ts"
import { protocolRows, protocolTable } from "../provider/protocol.ts"
import type { Endpoint } from "../provider/transport/contract.ts"
import { endpointName, isNamedBy, readEndpoint } from "../provider/transport/endpoint.ts"
import { noKey } from "./problem.ts"

/** The settings that decide where the model server is. */
export interface DestinationSettings {
  readonly mode: Mode
  /** The provider in `--model`. */
  readonly namedProvider: Protocol | null
  readonly configured: { readonly provider: "auto" | Protocol; readonly endpoint: string | null }
  /** Environment variables that rows of the protocol table name, by name. */
  readonly variables: Readonly<Record<string, string>>
}

export type Destination =
  | {
      readonly kind: "endpoint"
      readonly endpoint: Endpoint
      /** Null when the server has to be queried for its protocol. */
      readonly protocol: Protocol | null
    }
  /** The usual servers of this machine are searched. */
  | { readonly kind: "search"; readonly protocol: Protocol | null }

/** Returns the destination that the settings name. Throws when the mode forbids it. Opens no connection. */
export function destinationOf(wish: DestinationSettings): Destination {
  switch (wish.mode) {
    case "local-only":
      return localDestination(wish)
    case "burst":
      return burstDestination(wish)
    case "airgapped":
      return airgappedDestination(wish)
  }
}

function localDestination(wish: DestinationSettings): Destination {
  const provider = providerOf(wish)
  const known = configuredEndpoint(wish) ?? environmentEndpoint(wish)
  if (known === null && provider !== null) {
    const { company, usualServers } = protocolTable[provider]
    if (company !== null && usualServers.length === 0) throw elsewhere(company.endpoint, provider)
  }
  if (known === null) return { kind: "search", protocol: provider }
  if (!known.endpoint.isLocal) throw elsewhere(known.endpoint.url, provider ?? known.protocol)
  return known
}

function burstDestination(wish: DestinationSettings): Destination {
  const provider = providerOf(wish)
  if (provider === null) throw consentMissing("none is named, neither with --model nor in model.provider")
  const known = configuredEndpoint(wish) ?? environmentEndpoint(wish)
  if (known !== null && !known.endpoint.isLocal) return { ...known, protocol: provider }
  // A local server was configured, so naming the protocol does not mean the company's server.
  const { company } = protocolTable[provider]
  if (company === null || (known !== null && wish.namedProvider === null))
    throw consentMissing(
      `${known?.endpoint.url ?? `a server of ${provider}`} is on this machine, so burst is not needed`,
    )
  const endpoint = endpointIn(company.endpoint, "model.endpoint")
  return { kind: "endpoint", endpoint, protocol: provider }
}

function airgappedDestination(wish: DestinationSettings): Destination {
  const known = configuredEndpoint(wish)
  const hint =
    "`acode config set model.endpoint http://127.0.0.1:11434` for example, or unix:/run/model.sock; then `acode config trust`"
  if (known === null)
    throw forbidden("an airgapped session uses only the configured endpoint, and none is configured", hint)
  if (!known.endpoint.isLocal)
    throw forbidden(`an airgapped session cannot use ${known.endpoint.url}: it is not on this machine`, hint)
  return known
}

/** Throws ACODE-MODEL-004 when a session must not continue at the endpoint it has recorded. */
export function checkRecorded(mode: Mode, recorded: string, configured: string | null): void {
  if (mode !== "airgapped") return
  const now = configured === null ? null : endpointIn(configured, "model.endpoint")
  if (now !== null && isNamedBy(recorded, now)) return
  throw forbidden(
    `an airgapped session uses only the configured endpoint: this one was started with ` +
      `${oneLine(recorded, 200)}, and now ${now === null ? "none" : endpointName(now)} is configured`,
    "restore model.endpoint, or choose a model of the configured one: `acode resume --model NAME`",
  )
}

function providerOf({ namedProvider, configured }: DestinationSettings): Protocol | null {
  return namedProvider ?? (configured.provider === "auto" ? null : configured.provider)
}

type KnownDestination = Extract<Destination, { kind: "endpoint" }>

/** Returns the configured endpoint, unless it belongs to another provider than the named one. */
function configuredEndpoint(wish: DestinationSettings): KnownDestination | null {
  const { namedProvider, configured } = wish
  if (configured.endpoint === null) return null
  if (namedProvider !== null && configured.provider !== "auto" && configured.provider !== namedProvider)
    return null
  const endpoint = endpointIn(configured.endpoint, "model.endpoint")
  return { kind: "endpoint", endpoint, protocol: providerOf(wish) ?? companyProtocol(endpoint) }
}

function environmentEndpoint(wish: DestinationSettings): KnownDestination | null {
  const provider = providerOf(wish)
  for (const [protocol, { addressVariable }] of protocolRows) {
    if (addressVariable === null || (provider !== null && provider !== protocol)) continue
    const value = wish.variables[addressVariable.name]
    if (value === undefined) continue
    return {
      kind: "endpoint",
      endpoint: endpointIn(addressVariable.endpointOf(value), addressVariable.name),
      protocol,
    }
  }
  return null
}

/** Returns the protocol whose company has its own servers at the endpoint; null when it is another server. */
function companyProtocol({ url }: Endpoint): Protocol | null {
  const row = protocolRows.find(([, { company }]) => company !== null && url.startsWith(company.endpoint))
  return row?.[0] ?? null
}

function endpointIn(text: string, where: string): Endpoint {
  const reading = readEndpoint(text)
  if (reading.problem === undefined) return reading
  throw new Failure({
    kind: "config",
    code: "ACODE-CFG-003",
    message: `the address of the model server cannot be used: ${reading.problem}`,
    where,
    hint: "write http://HOST:PORT, https://HOST or unix:/PATH",
  })
}

function elsewhere(url: string, provider: Protocol | null): Failure {
  return forbidden(
    `the mode local-only forbids ${url}: it is not on this machine`,
    `to allow prompts and snippets to be sent there: --mode burst --model ${provider ?? "PROVIDER"}/NAME`,
  )
}

function forbidden(message: string, hint: string): Failure {
  return new Failure({ kind: "denied", code: "ACODE-MODEL-004", message, where: "mode", hint })
}

/**
 * Returns the failure of a consent without a provider: `--mode burst` consents only together with the name of who
 * receives the data.
 */
export function consentMissing(why: string): Failure {
  return new Failure({
    kind: "denied",
    code: "ACODE-MODEL-005",
    message: `burst needs a consent that names the provider: ${why}`,
    where: "--mode burst",
    hint: "give the provider as well, for each session: --mode burst --model anthropic/NAME",
  })
}

/**
 * Returns the key for a server, or null for one that gets none. A server of this machine gets one only when the
 * configuration names it: a program that listens on a usual port must not collect keys. Throws ACODE-MODEL-008 when one
 * is missing.
 */
export function apiKeyFor(
  protocol: Protocol,
  endpoint: Endpoint,
  { model }: Pick<Config, "model">,
  { modelVariables }: Pick<AppEnvironment, "modelVariables">,
): string | null {
  const { keyVariable } = protocolTable[protocol]
  if (keyVariable === null || (endpoint.isLocal && !isNamedBy(model.endpoint, endpoint))) return null
  const key = modelVariables[keyVariable] ?? null
  if (key === null && !endpoint.isLocal) throw noKey(keyVariable, endpointName(endpoint))
  return key
}
