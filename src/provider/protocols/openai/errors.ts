import type { Json } from "../../../base/canonical.ts"
import { oneLine } from "../../../base/text.ts"
import type { ModelFailure } from "../../contract.ts"
import { type JsonObject, listOf, nonEmptyText, objectOf, windowOf } from "../../fields.ts"
import { modelFailure } from "../../reply-fault.ts"
import { failureForStatus } from "../../transport/failures.ts"

/** An error as a server reports it. */
interface ServerError {
  /** False when the body is not an error, or not a known form of one. */
  readonly isKnown: boolean
  readonly message: string
  /** The two texts as the server spells them, in lower case; empty when they are missing. */
  readonly type: string
  readonly code: string
  /** Token counts of llama.cpp. */
  readonly tokens: { readonly prompt: number; readonly window: number } | null
}

/** Status and headers of the answer; null for an error inside a stream. */
interface ErrorAnswer {
  readonly status: number
  readonly header: (name: string) => string | null
  readonly nowMs: number
}

export interface OpenAiTarget {
  readonly model: string | null
  readonly withoutSecret: (text: string) => string
}

const messageMax = 400

/** Reads `{"error":{…}}`, `{"error":"…"}`, `{"detail":…}`, the older form of vLLM, or plain text. */
export function openAiErrorIn(body: Json): ServerError {
  const object = objectOf(body)
  const error = objectOf(object?.["error"])
  const own = error ?? (object !== null && isBare(object) ? object : null)
  if (own !== null) return errorOf(own)
  const message = nonEmptyText(object?.["error"]) ?? detailIn(object?.["detail"])
  if (message !== null) return { ...silent, isKnown: true, message }
  return { ...silent, message: nonEmptyText(body)?.trim() ?? "" }
}

/** Returns the failure that an error means, for any server. */
export function errorFailure(
  error: ServerError,
  answer: ErrorAnswer | null,
  { model, withoutSecret }: OpenAiTarget,
): ModelFailure {
  // The secret is removed before the text is cut, or half of it would remain.
  const shown = oneLine(withoutSecret(error.message), messageMax)
  const known = answer?.status === 429 || answer?.status === 401 ? null : knownFailure(error, shown, model)
  if (known !== null) return known
  if (answer !== null) return failureForStatus(answer.status, answer.header, shown, answer.nowMs)
  const status = statusIn(error)
  if (status !== null) return failureForStatus(status, () => null, shown, 0)
  return modelFailure(
    "unavailable",
    `the model server gave up: ${shown === "" ? "it does not say why" : shown}`,
  )
}

function knownFailure(error: ServerError, shown: string, model: string | null): ModelFailure | null {
  const { type, code, tokens } = error
  const text = error.message.toLowerCase()
  const isLong = type === "exceed_context_size_error" || code === "context_length_exceeded"
  if (isLong || longWords.some(words => words.test(text))) {
    const counts = tokens === null ? "" : ` (${tokens.prompt} tokens, the window has ${tokens.window})`
    return modelFailure("contextTooLong", `the request is longer than the model's window${counts}: ${shown}`)
  }
  if (toolWords.some(words => words.test(text)))
    return modelFailure("badRequest", `the server does not accept tools for this model: ${shown}`)
  // llama.cpp reports this with status 500 and LM Studio inside a stream; the same request would be refused again.
  if (templateWords.test(text))
    return modelFailure("badRequest", `the model's template refuses the request: ${shown}`)
  // LM Studio reports what its runner refused inside a stream, or with status 500.
  if (schemaWords.test(text))
    return modelFailure("badRequest", `the server cannot force such a shape: ${shown}`)
  if (code === "model_not_found" || missingWords.some(words => words.test(text)))
    return modelFailure("notFound", `${shown}; load ${named(model)} there, or choose another one`)
  // llama.cpp reports a call that it cannot parse with status 500: the server works, the reply was wrong.
  if (/does not match the expected \S+ format|failed to parse (?:input|tool call)/.test(text))
    return modelFailure("malformed", `the model's reply cannot be read: ${shown}`)
  // LM Studio reports this with status 200.
  if (text.startsWith("unexpected endpoint"))
    return modelFailure("notFound", `${shown}; see whether the endpoint is right`)
  return null
}

/** Returns the status for an error inside a stream, by its code or type. */
function statusIn({ type, code }: ServerError): number | null {
  const number = /^[45]\d\d$/.test(code) ? Number(code) : null
  if (number !== null) return number
  if (/rate_limit|too_many_requests|insufficient_quota/.test(`${type} ${code}`)) return 429
  if (/overloaded/.test(type)) return 503
  if (/authentication|permission/.test(type) || code === "invalid_api_key") return 401
  return /invalid_request|badrequest|not_supported/.test(type) ? 400 : null
}

/** Reports whether the object itself is an error, as vLLM and llama.cpp had it. */
function isBare(object: JsonObject): boolean {
  return (
    nonEmptyText(object["message"]) !== null && object["code"] !== undefined && object["type"] !== undefined
  )
}

function errorOf(error: JsonObject): ServerError {
  const { type, code } = error
  const prompt = windowOf(error["n_prompt_tokens"])
  const window = windowOf(error["n_ctx"])
  return {
    isKnown: true,
    message: nonEmptyText(error["message"]) ?? nonEmptyText(type) ?? "",
    type: typeof type === "string" ? type.toLowerCase() : "",
    code: typeof code === "string" || typeof code === "number" ? String(code).toLowerCase() : "",
    tokens: prompt === null || window === null ? null : { prompt, window },
  }
}

/** Returns text, or the messages of a validator's findings. */
function detailIn(detail: Json | undefined): string | null {
  const findings = listOf(detail).map(finding => nonEmptyText(objectOf(finding)?.["msg"]) ?? "")
  return nonEmptyText(detail) ?? nonEmptyText(findings.filter(words => words !== "").join("; "))
}

function named(model: string | null): string {
  return model === null ? "the model" : oneLine(model, 100)
}

const silent: ServerError = { isKnown: false, message: "", type: "", code: "", tokens: null }

/** Phrases of OpenAI, vLLM before and now, llama.cpp and LM Studio, each from more than one version. */
const longWords = [
  /maximum context length/,
  /context length is only|context length of only/,
  /available context size|max context size|context size has been exceeded/,
  /longer than the maximum\s+model length/,
  /reached context length of|greater than the context length|does not fit in (?:the )?context length/,
  /context (?:length|window|size)\b.{0,40}\bexceed/,
  /\bexceed\w*\b.{0,60}\bcontext (?:length|window|size)/,
  /context (?:the )?overflow/,
]

const toolWords = [
  /tools? param\w* requires/,
  /unsupported param\w*: tool/,
  /tool choice requires|--enable-auto-tool-choice|--tool-call-parser/,
  /not support.{0,30}\b(?:tool|function)/,
  /\b(?:tools?|tool calling|tool use|function calling)\b.{0,30}not.{0,5} supported/,
]

/** Phrases of llama.cpp now and before, and of LM Studio. */
const templateWords =
  /jinja (?:exception|template)|while executing \w+ at line|at row \d+, column \d+:|failed to parse messages/

/** Phrases of llama.cpp, LM Studio that runs it, and vLLM. */
const schemaWords =
  /failed to (?:parse grammar|initialize samplers)|json schema conversion failed|grammar error|not supported by xgrammar/

const missingWords = [
  /\bmodel\b.{0,200}\b(?:not found|does not exist|is not loaded|not running|is unloaded)/,
  /invalid model identifier/,
  /no models? (?:is |are )?(?:currently )?loaded/,
  /\bmodel (?:has been )?unloaded/,
]
