import type { Json } from "../../../base/canonical.ts"
import { oneLine } from "../../../base/text.ts"
import type { ModelFailure } from "../../contract.ts"
import { type JsonObject, listOf, objectOf, windowOf, wordsOf } from "../../fields.ts"
import { modelFailure } from "../../reply-fault.ts"
import { failureForStatus } from "../../transport/failures.ts"

/** What a server says went wrong. */
interface ServerError {
  /** False when the body is no error, or none that is known. */
  readonly isTold: boolean
  readonly message: string
  /** Both in the server's own words, in lower case; empty when it does not say. */
  readonly type: string
  readonly code: string
  /** Of llama.cpp, which counts. */
  readonly tokens: { readonly prompt: number; readonly window: number } | null
}

/** Status and headers of the answer; null when it was told in the middle of one. */
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

/** `{"error":{…}}`, `{"error":"…"}`, `{"detail":…}`, what vLLM had before, or the text that is there. */
export function openAiErrorIn(body: Json): ServerError {
  const object = objectOf(body)
  const error = objectOf(object?.["error"])
  const own = error ?? (object !== null && isBare(object) ? object : null)
  if (own !== null) return errorOf(own)
  const message = wordsOf(object?.["error"]) ?? detailIn(object?.["detail"])
  if (message !== null) return { ...silent, isTold: true, message }
  return { ...silent, message: wordsOf(body)?.trim() ?? "" }
}

/** What it means, whatever the server is. */
export function errorFailure(
  error: ServerError,
  answer: ErrorAnswer | null,
  { model, withoutSecret }: OpenAiTarget,
): ModelFailure {
  // The secret goes before the text is cut, or half of it would stay.
  const said = oneLine(withoutSecret(error.message), messageMax)
  const known = answer?.status === 429 || answer?.status === 401 ? null : knownFailure(error, said, model)
  if (known !== null) return known
  if (answer !== null) return failureForStatus(answer.status, answer.header, said, answer.nowMs)
  const status = statusIn(error)
  if (status !== null) return failureForStatus(status, () => null, said, 0)
  return modelFailure(
    "unavailable",
    `the model server gave up: ${said === "" ? "it does not say why" : said}`,
  )
}

function knownFailure(error: ServerError, said: string, model: string | null): ModelFailure | null {
  const { type, code, tokens } = error
  const text = error.message.toLowerCase()
  const isLong = type === "exceed_context_size_error" || code === "context_length_exceeded"
  if (isLong || longWords.some(words => words.test(text))) {
    const counts = tokens === null ? "" : ` (${tokens.prompt} tokens, the window has ${tokens.window})`
    return modelFailure("contextTooLong", `the request is longer than the model's window${counts}: ${said}`)
  }
  if (toolWords.some(words => words.test(text)))
    return modelFailure("badRequest", `the server takes no tools for this model: ${said}`)
  // llama.cpp says so with status 500 and LM Studio in the middle of a stream; the same request again is refused again.
  if (templateWords.test(text))
    return modelFailure("badRequest", `the model's template refuses the request: ${said}`)
  // LM Studio tells what its runner refused in a stream, or with status 500.
  if (schemaWords.test(text))
    return modelFailure("badRequest", `the server cannot force such a shape: ${said}`)
  if (code === "model_not_found" || missingWords.some(words => words.test(text)))
    return modelFailure("notFound", `${said}; load ${named(model)} there, or choose another one`)
  // llama.cpp gives up on a call that it cannot read, with status 500: the server is well, the reply was not.
  if (/does not match the expected \S+ format|failed to parse (?:input|tool call)/.test(text))
    return modelFailure("malformed", `the model's reply cannot be read: ${said}`)
  // LM Studio says so with status 200.
  if (text.startsWith("unexpected endpoint"))
    return modelFailure("notFound", `${said}; see whether the endpoint is right`)
  return null
}

/** In the middle of a stream the number of the error is all that is left of a status. */
function statusIn({ type, code }: ServerError): number | null {
  const number = /^[45]\d\d$/.test(code) ? Number(code) : null
  if (number !== null) return number
  if (/rate_limit|too_many_requests|insufficient_quota/.test(`${type} ${code}`)) return 429
  if (/overloaded/.test(type)) return 503
  if (/authentication|permission/.test(type) || code === "invalid_api_key") return 401
  return /invalid_request|badrequest|not_supported/.test(type) ? 400 : null
}

/** vLLM and llama.cpp had it without a name around it. */
function isBare(object: JsonObject): boolean {
  return wordsOf(object["message"]) !== null && object["code"] !== undefined && object["type"] !== undefined
}

function errorOf(error: JsonObject): ServerError {
  const { type, code } = error
  const prompt = windowOf(error["n_prompt_tokens"])
  const window = windowOf(error["n_ctx"])
  return {
    isTold: true,
    message: wordsOf(error["message"]) ?? wordsOf(type) ?? "",
    type: typeof type === "string" ? type.toLowerCase() : "",
    code: typeof code === "string" || typeof code === "number" ? String(code).toLowerCase() : "",
    tokens: prompt === null || window === null ? null : { prompt, window },
  }
}

/** Text, or the findings of a validator, each with its own words. */
function detailIn(detail: Json | undefined): string | null {
  const findings = listOf(detail).map(finding => wordsOf(objectOf(finding)?.["msg"]) ?? "")
  return wordsOf(detail) ?? wordsOf(findings.filter(words => words !== "").join("; "))
}

function named(model: string | null): string {
  return model === null ? "the model" : oneLine(model, 100)
}

const silent: ServerError = { isTold: false, message: "", type: "", code: "", tokens: null }

/** OpenAI, vLLM before and now, llama.cpp and LM Studio, each in the words of more than one version. */
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

/** llama.cpp now and before, and LM Studio. */
const templateWords =
  /jinja (?:exception|template)|while executing \w+ at line|at row \d+, column \d+:|failed to parse messages/

/** llama.cpp, LM Studio that runs it, and vLLM. */
const schemaWords =
  /failed to (?:parse grammar|initialize samplers)|json schema conversion failed|grammar error|not supported by xgrammar/

const missingWords = [
  /\bmodel\b.{0,200}\b(?:not found|does not exist|is not loaded|not running|is unloaded)/,
  /invalid model identifier/,
  /no models? (?:is |are )?(?:currently )?loaded/,
  /\bmodel (?:has been )?unloaded/,
]
