import { errnoOf } from "../../base/assert.ts"
import type { ModelFailure, ModelFailureKind } from "../contract.ts"
import { modelFailure } from "../failures.ts"
import { ReplyFault } from "../reply-fault.ts"

/**
 * What went wrong on the way, and what to do. Only the code of an error is told, for its message may quote what was
 * sent.
 */
export function httpFailure(error: unknown, name: string): ModelFailure {
  if (error instanceof ReplyFault) return error.failure
  const code = errnoOf(error) ?? "unknown"
  const [kind, sentence] = known[code] ?? (isAboutTls(code) ? insecure : unreachable)
  const failure = modelFailure(kind, `${sentence.replace("NAME", () => name)} (${code})`)
  return kind === "unavailable" ? { ...failure, isConnection: true } : failure
}

type Told = readonly [kind: ModelFailureKind, sentence: string]

const unknownHost: Told = [
  "unavailable",
  "the host of NAME is not known: check the endpoint and the network's name service",
]
const brokenOff: Told = [
  "unavailable",
  "the connection to NAME broke off: see whether the model server is still running, and what it logged",
]
const noRoute: Told = ["unavailable", "no way leads to NAME: check the network and the endpoint"]
const insecure: Told = [
  "unavailable",
  "no secure connection to NAME: check that it speaks https and who signed its certificate; NODE_EXTRA_CA_CERTS " +
    "names a file of further authorities",
]
const unreadable: Told = ["malformed", "what NAME answers is no HTTP: check that a model server is there"]
const unreachable: Told = ["unavailable", "NAME cannot be talked to"]

const known: Readonly<Record<string, Told>> = {
  ECONNREFUSED: ["unavailable", "nobody listens at NAME: start the model server, or correct the endpoint"],
  ENOENT: ["unavailable", "there is no socket at NAME: start the model server, or correct the endpoint"],
  EACCES: ["unavailable", "NAME may not be connected to: check who may use the socket"],
  EPERM: ["unavailable", "NAME may not be connected to: something on this machine forbids it"],
  ENOTFOUND: unknownHost,
  EAI_AGAIN: unknownHost,
  ENODATA: unknownHost,
  ECONNRESET: brokenOff,
  EPIPE: brokenOff,
  EHOSTUNREACH: noRoute,
  ENETUNREACH: noRoute,
  ETIMEDOUT: noRoute,
  EPROTO: insecure,
  ResponseHeadersTooLarge: unreadable,
  InvalidHTTPResponse: unreadable,
  Malformed_HTTP_Response: unreadable,
}

function isAboutTls(code: string): boolean {
  return /CERT|TLS|SSL|SIGNATURE|ISSUER/.test(code)
}
