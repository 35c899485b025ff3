import type { Json } from "../../../base/canonical.ts"
import { oneLine, shellQuoted } from "../../../base/text.ts"
import type { ModelFailure } from "../../contract.ts"
import { objectOf } from "../../fields.ts"
import { modelFailure } from "../../reply-fault.ts"
import { refusedAsTooLong } from "./window.ts"

const messageMax = 400

/** The request that failed, for advice. */
export interface OllamaTarget {
  /** Null when the request was not about a model. */
  readonly model: string | null
  readonly windowTokens: number | null
}

/** Returns the failure that an error text means; null when the text alone does not decide. */
export function knownError(message: string, { model, windowTokens }: OllamaTarget): ModelFailure | null {
  const text = message.toLowerCase()
  // First of all, because this message quotes the model's output, which may contain anything.
  if (unreadableCalls.some(words => words.test(text)))
    return modelFailure("malformed", `the model's call of a tool cannot be read: ${message}`)
  if (longPhrases.some(phrase => text.includes(phrase))) return refusedAsTooLong(message, windowTokens)
  if (model !== null && /\bmodel\b.*\bnot found\b/.test(text)) return modelFailure("notFound", missing(model))
  if (text.includes("does not support")) return modelFailure("badRequest", message)
  // Ollama's runner is llama.cpp, which reports this with status 500.
  if (/jinja exception|while executing \w+ at line|failed to parse messages/.test(text))
    return modelFailure("badRequest", `the model's template refuses the request: ${message}`)
  // Sent without a status when the model thought before an answer with a shape.
  if (/failed to (?:parse grammar|initialize samplers)|json schema conversion failed/.test(text))
    return modelFailure("badRequest", `the server cannot force such a shape: ${message}`)
  if (memoryPhrases.some(phrase => text.includes(phrase)))
    return modelFailure("badRequest", `${message}; use a smaller model or a smaller window (num_ctx)`)
  if (text.includes("maximum pending requests")) return modelFailure("overloaded", message)
  return null
}

/** Returns the failure of an error inside a stream, which has no status. */
export function streamError(message: string, target: OllamaTarget): ModelFailure {
  return knownError(message, target) ?? modelFailure("unavailable", `the server gave up: ${message}`)
}

/** Returns the error text of a body, on one line; null when there is none. */
export function ollamaErrorIn(body: Json): string | null {
  const text = wordsOf(objectOf(body)?.["error"] ?? null)
  return text === null || text.trim() === "" ? null : oneLine(text.trim(), messageMax)
}

/** Returns the error text of any body: plain text is used as it is, and a page for browsers contains none. */
export function errorInText(body: string): string {
  const text = body.trim()
  try {
    return ollamaErrorIn(JSON.parse(text)) ?? ""
  } catch {
    // Some servers between acode and the model do not write JSON.
    return text.startsWith("<") ? "" : oneLine(text, messageMax)
  }
}

/** Reads text, an object with a message, or the text of such an object: a server passes on the error of its runner. */
function wordsOf(error: Json, levelsMax = 4): string | null {
  if (levelsMax === 0) return null
  const object = objectOf(error)
  if (object !== null) return wordsOf(object["message"] ?? object["error"] ?? null, levelsMax - 1)
  if (typeof error !== "string") return null
  if (!error.startsWith("{")) return error
  try {
    return wordsOf(JSON.parse(error), levelsMax - 1) ?? error
  } catch {
    // Text that only begins like JSON is plain text.
    return error
  }
}

function missing(model: string): string {
  return `the server has no model ${oneLine(model, 100)}; get it with: ollama pull ${oneLine(shellQuoted(model), 120)}`
}

const longPhrases = [
  "exceeds the context length",
  "exceeds the model's maximum context length",
  "longer than the context length",
  "exceeds the available context",
  "exceed_context_size",
  "context size has been exceeded",
]

/** Phrases of the server and of its runner for lack of memory. */
const memoryPhrases = [
  "more system memory",
  "out of memory",
  "out-of-memory",
  "out of device memory",
  "malloc failed",
  "failed to allocate",
  "not enough memory",
]

/**
 * Errors of Ollama's parsers, one for each family of models; a call that a parser cannot read replaces the whole reply.
 */
const unreadableCalls = [
  /^error parsing tool call|invalid tool call arguments/,
  /^failed to parse (?:json|xml|laguna)|^invalid character|^unexpected end of json|^xml syntax error/,
  /^empty function name|^incomplete glm|^mismatched arg_key|^tool '.*' not found/,
  /does not match the expected \S+ format|failed to parse input/,
]
