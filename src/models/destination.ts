import { oneLine } from "../base/text.ts"
import type { AppEnvironment } from "../config/environment.ts"
import type { Config } from "../config/schema.ts"
import { Failure } from "../domain/failure.ts"
import type { Mode, Protocol } from "../domain/model-choice.ts"
import type { Endpoint } from "../provider/transport/contract.ts"
import { endpointName, isNamedBy, readEndpoint } from "../provider/transport/endpoint.ts"
import { noKey } from "./problem.ts"

/** What decides where the model server is. */
export interface Wish {
  readonly mode: Mode
  /** Named with `--model`. */
  readonly namedProvider: Protocol | null
  readonly configured: { readonly provider: "auto" | Protocol; readonly endpoint: string | null }
  readonly ollamaHost: string | null
}

export type Destination =
  | {
      readonly kind: "endpoint"
      readonly endpoint: Endpoint
      /** Null when the server has to be asked what it speaks. */
      readonly protocol: Protocol | null
    }
  /** One of the usual servers of this machine. */
  | { readonly kind: "search"; readonly protocol: Protocol | null }

/** Where the server is, as far as words tell. Throws when the mode forbids it. Opens no connection. */
export function destinationOf(wish: Wish): Destination {
  switch (wish.mode) {
    case "local-only":
      return localDestination(wish)
    case "burst":
      return burstDestination(wish)
    case "airgapped":
      return airgappedDestination(wish)
  }
}

function localDestination(wish: Wish): Destination {
  const provider = providerOf(wish)
  const known = configuredEndpoint(wish) ?? environmentEndpoint(wish)
  if (known === null && provider === "anthropic") throw elsewhere(serversElsewhere.anthropic, provider)
  if (known === null) return { kind: "search", protocol: provider }
  if (!known.endpoint.isLocal) throw elsewhere(known.endpoint.url, provider ?? known.protocol)
  return known
}

function burstDestination(wish: Wish): Destination {
  const provider = providerOf(wish)
  if (provider === null) throw consentMissing("none is named, neither with --model nor in model.provider")
  const known = configuredEndpoint(wish) ?? environmentEndpoint(wish)
  if (known !== null && !known.endpoint.isLocal) return { ...known, protocol: provider }
  // Whoever configured a server of this machine does not mean the company's by the name of its protocol.
  if (provider === "ollama" || (known !== null && wish.namedProvider === null))
    throw consentMissing(
      `${known?.endpoint.url ?? "a server of Ollama"} is on this machine, so nothing has to leave`,
    )
  const endpoint = endpointIn(serversElsewhere[provider], "model.endpoint")
  return { kind: "endpoint", endpoint, protocol: provider }
}

function airgappedDestination(wish: Wish): Destination {
  const known = configuredEndpoint(wish)
  const hint =
    "`acode config set model.endpoint http://127.0.0.1:11434` for example, or unix:/run/model.sock; then `acode config trust`"
  if (known === null)
    throw forbidden("an airgapped session talks only to the endpoint that is configured, and none is", hint)
  if (!known.endpoint.isLocal)
    throw forbidden(`an airgapped session cannot use ${known.endpoint.url}: it is not on this machine`, hint)
  return known
}

/** Whether a session may go on at the endpoint it has recorded. Throws ACODE-MODEL-004. */
export function checkRecorded(mode: Mode, recorded: string, configured: string | null): void {
  if (mode !== "airgapped") return
  const now = configured === null ? null : endpointIn(configured, "model.endpoint")
  if (now !== null && isNamedBy(recorded, now)) return
  throw forbidden(
    `an airgapped session talks only to the endpoint that is configured: this one was begun with ` +
      `${oneLine(recorded, 200)}, and now ${now === null ? "none" : endpointName(now)} is`,
    "set model.endpoint back, or choose a model of the one that is configured: `acode resume --model NAME`",
  )
}

const serversElsewhere = { anthropic: "https://api.anthropic.com", openai: "https://api.openai.com" } as const

function providerOf({ namedProvider, configured }: Wish): Protocol | null {
  return namedProvider ?? (configured.provider === "auto" ? null : configured.provider)
}

type Known = Extract<Destination, { kind: "endpoint" }>

/** The endpoint of the configuration, unless it belongs to another provider than the one that was named. */
function configuredEndpoint(wish: Wish): Known | null {
  const { namedProvider, configured } = wish
  if (configured.endpoint === null) return null
  if (namedProvider !== null && configured.provider !== "auto" && configured.provider !== namedProvider)
    return null
  const endpoint = endpointIn(configured.endpoint, "model.endpoint")
  const isAnthropic = endpoint.url.startsWith(serversElsewhere.anthropic)
  const protocol = providerOf(wish) ?? (isAnthropic ? "anthropic" : null)
  return { kind: "endpoint", endpoint, protocol }
}

function environmentEndpoint(wish: Wish): Known | null {
  const provider = providerOf(wish)
  if (wish.ollamaHost === null || (provider !== null && provider !== "ollama")) return null
  const endpoint = endpointIn(ollamaEndpoint(wish.ollamaHost), "OLLAMA_HOST")
  return { kind: "endpoint", endpoint, protocol: "ollama" }
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
    `to let prompts and snippets leave for it, say so: --mode burst --model ${provider ?? "PROVIDER"}/NAME`,
  )
}

function forbidden(message: string, hint: string): Failure {
  return new Failure({ kind: "denied", code: "ACODE-MODEL-004", message, where: "mode", hint })
}

/** Typing `--mode burst` consents only together with the name of who gets what leaves. */
export function consentMissing(why: string): Failure {
  return new Failure({
    kind: "denied",
    code: "ACODE-MODEL-005",
    message: `burst needs a consent that names the provider: ${why}`,
    where: "--mode burst",
    hint: "type it with the provider, for each session: --mode burst --model anthropic/NAME",
  })
}

export const keyVariables = { anthropic: "ANTHROPIC_API_KEY", openai: "OPENAI_API_KEY" } as const

/**
 * The key for a server, or null for one that gets none. A server of this machine gets one only when the configuration
 * names it: whatever listens on a usual port is not to collect keys. Throws ACODE-MODEL-008 when one is missing.
 */
export function apiKeyFor(
  protocol: Protocol,
  endpoint: Endpoint,
  { model }: Pick<Config, "model">,
  { anthropicApiKey, openaiApiKey }: AppEnvironment,
): string | null {
  if (protocol === "ollama" || (endpoint.isLocal && !isNamedBy(model.endpoint, endpoint))) return null
  const key = protocol === "anthropic" ? anthropicApiKey : openaiApiKey
  if (key === null && !endpoint.isLocal) throw noKey(keyVariables[protocol], endpointName(endpoint))
  return key
}

/**
 * The endpoint that OLLAMA_HOST means, read as Ollama's own programs do: without a scheme the port is Ollama's, with
 * one it is the scheme's. An address that a server listens on everywhere is this machine for whoever talks to it.
 */
export function ollamaEndpoint(text: string): string {
  const [, scheme, rest = ""] = /^(?:(https?):\/\/)?(.*)$/i.exec(text) ?? []
  const [authority = ""] = rest.split("/", 1)
  const path = rest.slice(authority.length).replace(/\/+$/, "")
  const { host, port } = partsOf(authority)
  const usual = scheme === undefined ? ":11434" : ""
  return `${scheme?.toLowerCase() ?? "http"}://${reachable(host)}${port === null ? usual : `:${port}`}${path}`
}

function partsOf(authority: string): { readonly host: string; readonly port: string | null } {
  const [, bracketed, port] = /^(\[[^\]]*\])(?::(\d+))?$/.exec(authority) ?? []
  if (bracketed !== undefined) return { host: bracketed, port: port ?? null }
  const parts = authority.split(":")
  // More than one colon and no brackets is an IPv6 address without a port.
  if (parts.length > 2) return { host: `[${authority}]`, port: null }
  const [host = "", second] = parts
  return { host, port: second === undefined || second === "" ? null : second }
}

function reachable(host: string): string {
  if (host === "" || host === "0.0.0.0") return "127.0.0.1"
  return host === "[::]" ? "[::1]" : host.toLowerCase()
}
