import type { Json } from "../../../base/canonical.ts"
import { oneLine } from "../../../base/text.ts"
import type { ModelFailure, ModelFailureKind } from "../../contract.ts"
import { type JsonObject, objectOf, textOrNull } from "../../fields.ts"
import { modelFailure } from "../../reply-fault.ts"
import { failureForStatus } from "../../transport/failures.ts"

export interface ErrorReply {
  readonly status: number
  readonly header: (name: string) => string | null
  /** Null when it is not JSON, as from a proxy. */
  readonly body: Json
}

/**
 * Returns the failure of an unsuccessful answer. The error type is more specific than the status and comes first,
 * except for the two types that the server uses for anything without its own type.
 */
export function failureForReply({ status, header, body }: ErrorReply, nowMs: number): ModelFailure {
  const error = objectOf(objectOf(body)?.["error"])
  const byStatus = failureForStatus(status, header, error === null ? "" : wordsOf(error), nowMs)
  const byType = error === null ? null : kindOf(error)
  const kind = byType === null || isGeneral(byType) ? (kindForStatus(status) ?? byStatus.kind) : byType
  const { retryable } = modelFailure(kind, "")
  return { ...byStatus, kind, retryable, retryAfterMs: retryable ? byStatus.retryAfterMs : null }
}

/** Returns the failure of an error inside a stream, after the status 200. */
export function failureForEvent(event: JsonObject): ModelFailure {
  const error = objectOf(event["error"])
  if (error === null) return modelFailure("malformed", "the server sent an error without saying which")
  return modelFailure(kindOf(error) ?? "unavailable", `the server broke off: ${wordsOf(error)}`)
}

const messageMax = 300

function wordsOf(error: JsonObject): string {
  const type = oneLine(textOrNull(error["type"]) ?? "error", 60)
  const message = textOrNull(error["message"])
  return message === null || message === "" ? type : `${type}: ${oneLine(message, messageMax)}`
}

const kinds: ReadonlyMap<string, ModelFailureKind> = new Map([
  ["authentication_error", "auth"],
  ["permission_error", "auth"],
  ["billing_error", "auth"],
  ["not_found_error", "notFound"],
  ["rate_limit_error", "rateLimited"],
  ["overloaded_error", "overloaded"],
  ["api_error", "unavailable"],
  ["conflict_error", "unavailable"],
  ["timeout_error", "timeout"],
  ["request_too_large", "contextTooLong"],
  ["invalid_request_error", "badRequest"],
  // llama.cpp's own type, which it keeps in this protocol.
  ["exceed_context_size_error", "contextTooLong"],
])

/** Returns null for an unknown type. */
function kindOf(error: JsonObject): ModelFailureKind | null {
  const kind = kinds.get(textOrNull(error["type"]) ?? "") ?? null
  if (kind !== "badRequest" && kind !== "rateLimited") return kind
  const message = textOrNull(error["message"]) ?? ""
  // Such a limit lasts until the end of the month or a payment: repeating the request would only fail again.
  if (isSpent(error, message)) return "auth"
  return kind === "badRequest" && tooLong.test(message) ? "contextTooLong" : kind
}

const tooLong =
  /prompt is too long|exceeds? (?:the )?(?:model's )?(?:maximum )?context (?:limit|window|length)/i
const spent = /credit balance is too low|reached your specified (?:\w+ )?API usage limits|spend limit/i

function isSpent(error: JsonObject, message: string): boolean {
  return objectOf(error["details"])?.["error_code"] === "enforced_spend_limit_reached" || spent.test(message)
}

function isGeneral(kind: ModelFailureKind): boolean {
  return kind === "badRequest" || kind === "unavailable"
}

/** Returns the kind of failure for statuses with a special meaning in this protocol, where no error body came. */
function kindForStatus(status: number): ModelFailureKind | null {
  if (status === 402) return "auth"
  return status === 409 ? "unavailable" : null
}
