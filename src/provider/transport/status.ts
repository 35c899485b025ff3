import { oneLine } from "../../base/text.ts"
import type { ModelFailure, ModelFailureKind } from "../contract.ts"
import { modelFailure } from "../failures.ts"

/** What a status other than 2xx means to whoever asked. The message is the server's own, or empty. */
export function failureForStatus(
  status: number,
  header: (name: string) => string | null,
  message: string,
  nowMs: number,
): ModelFailure {
  const told = message.trim() === "" ? "" : `: ${oneLine(message.trim(), 500)}`
  const failure = modelFailure(kindOf(status), `the model server answered ${status}${told}`)
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

/** A server that asks for more is not waited for anyway. */
const retryAfterMsMax = 86_400_000

/** Null when the server asks for nothing that can be understood. */
function retryAfterMs(header: (name: string) => string | null, nowMs: number): number | null {
  const ms = wholeNumber(header("retry-after-ms"), 1) ?? wholeNumber(header("retry-after"), 1000)
  const wanted = ms ?? untilDate(header("retry-after"), nowMs)
  return wanted === null ? null : Math.min(Math.max(0, wanted), retryAfterMsMax)
}

function wholeNumber(text: string | null, unit: number): number | null {
  return text !== null && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Math.ceil(Number(text) * unit) : null
}

/** Only the form that HTTP prescribes: the parser of dates makes one of nearly everything. */
function untilDate(text: string | null, nowMs: number): number | null {
  if (text === null || !/^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/.test(text.trim()))
    return null
  const at = Date.parse(text.trim())
  return Number.isNaN(at) ? null : at - nowMs
}
