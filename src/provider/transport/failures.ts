import { errnoOf } from "../../base/assert.ts"
import { oneLine } from "../../base/text.ts"
import type { ModelFailure, ModelFailureKind } from "../contract.ts"
import { modelFailure, ReplyFault } from "../reply-fault.ts"

/**
 * Returns the failure of a connection, with advice. Only the code of the error is included, because its message may
 * quote the request.
 */
export function httpFailure(error: unknown, name: string): ModelFailure {
  if (error instanceof ReplyFault) return error.failure
  const code = errnoOf(error) ?? "unknown"
  const [kind, sentence] = known[code] ?? (isAboutTls(code) ? insecure : unreachable)
  const failure = modelFailure(kind, `${sentence.replace("NAME", () => name)} (${code})`)
  return kind === "unavailable" ? { ...failure, isConnection: true } : failure
}

type KnownFailure = readonly [kind: ModelFailureKind, sentence: string]

const unknownHost: KnownFailure = [
  "unavailable",
  "the host of NAME cannot be resolved: check the endpoint and the network's name service",
]
const brokenOff: KnownFailure = [
  "unavailable",
  "the connection to NAME broke off: check whether the model server is still running, and its log",
]
const noRoute: KnownFailure = ["unavailable", "no route leads to NAME: check the network and the endpoint"]
const insecure: KnownFailure = [
  "unavailable",
  "no secure connection to NAME: check that it speaks https and who signed its certificate; NODE_EXTRA_CA_CERTS " +
    "names a file of further authorities",
]
const unreadable: KnownFailure = [
  "malformed",
  "the answer of NAME is not HTTP: check that a model server listens there",
]
const unreachable: KnownFailure = ["unavailable", "NAME cannot be reached"]

const known: Readonly<Record<string, KnownFailure>> = {
  ECONNREFUSED: ["unavailable", "no server listens at NAME: start the model server, or correct the endpoint"],
  ENOENT: ["unavailable", "the socket NAME does not exist: start the model server, or correct the endpoint"],
  EACCES: ["unavailable", "permission to connect to NAME was denied: check who may use the socket"],
  EPERM: ["unavailable", "permission to connect to NAME was denied: a rule of this machine forbids it"],
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

/** Returns the failure that a status other than 2xx means. `message` is the server's own, or empty. */
export function failureForStatus(
  status: number,
  header: (name: string) => string | null,
  message: string,
  nowMs: number,
): ModelFailure {
  const suffix = message.trim() === "" ? "" : `: ${oneLine(message.trim(), 500)}`
  const failure = modelFailure(kindOf(status), `the model server answered ${status}${suffix}`)
  return failure.retryable ? { ...failure, retryAfterMs: retryAfterMs(header, nowMs) } : failure
}

const kinds: Readonly<Record<number, ModelFailureKind>> = {
  401: "auth",
  403: "auth",
  404: "notFound",
  408: "timeout",
  410: "notFound",
  413: "contextTooLong",
  429: "rateLimited",
  501: "badRequest",
  503: "overloaded",
  504: "timeout",
  524: "timeout",
  529: "overloaded",
}

function kindOf(status: number): ModelFailureKind {
  const kind = kinds[status]
  if (kind !== undefined) return kind
  if (status >= 500) return "unavailable"
  return status >= 400 ? "badRequest" : "malformed"
}

/** The longest pause to record; the session would not wait that long anyway. */
const retryAfterMsMax = 86_400_000

/** Returns null when the server requests no pause or in an unknown form. */
function retryAfterMs(header: (name: string) => string | null, nowMs: number): number | null {
  const ms = wholeNumber(header("retry-after-ms"), 1) ?? wholeNumber(header("retry-after"), 1000)
  const wanted = ms ?? untilDate(header("retry-after"), nowMs)
  return wanted === null ? null : Math.min(Math.max(0, wanted), retryAfterMsMax)
}

function wholeNumber(text: string | null, unit: number): number | null {
  return text !== null && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Math.ceil(Number(text) * unit) : null
}

/** Parses only the date format of HTTP: `Date.parse` accepts nearly everything. */
function untilDate(text: string | null, nowMs: number): number | null {
  if (text === null || !/^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/.test(text.trim()))
    return null
  const at = Date.parse(text.trim())
  return Number.isNaN(at) ? null : at - nowMs
}
