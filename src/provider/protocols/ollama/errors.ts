import type { Json } from "../../../base/canonical.ts"
import { oneLine, shellQuoted } from "../../../base/text.ts"
import type { ModelFailure } from "../../contract.ts"
import { objectOf } from "../../fields.ts"
import { modelFailure } from "../../reply-fault.ts"
import { refusedAsTooLong } from "./window.ts"

const messageMax = 400

/** Who was asked, for advice. */
export interface OllamaTarget {
  /** Null when the request was about no model. */
  readonly model: string | null
  readonly windowTokens: number | null
}

/** What an error of the server means, or null when its words alone do not tell. */
export function knownError(said: string, { model, windowTokens }: OllamaTarget): ModelFailure | null {
  const text = said.toLowerCase()
  // Before all others: it quotes what the model wrote, which may say anything.
  if (unreadableCalls.some(words => words.test(text)))
    return modelFailure("malformed", `the model's call of a tool cannot be read: ${said}`)
  if (longPhrases.some(phrase => text.includes(phrase))) return refusedAsTooLong(said, windowTokens)
  if (model !== null && /\bmodel\b.*\bnot found\b/.test(text)) return modelFailure("notFound", missing(model))
  if (text.includes("does not support")) return modelFailure("badRequest", said)
  // Its runner is llama.cpp, and says so with status 500.
  if (/jinja exception|while executing \w+ at line|failed to parse messages/.test(text))
    return modelFailure("badRequest", `the model's template refuses the request: ${said}`)
  // Without a status where the model has thought before it was to answer in a shape.
  if (/failed to (?:parse grammar|initialize samplers)|json schema conversion failed/.test(text))
    return modelFailure("badRequest", `the server cannot force such a shape: ${said}`)
  if (memoryPhrases.some(phrase => text.includes(phrase)))
    return modelFailure("badRequest", `${said}; use a smaller model or a smaller window (num_ctx)`)
  if (text.includes("maximum pending requests")) return modelFailure("overloaded", said)
  return null
}

/** In the middle of a stream there is no status any more. */
export function streamError(said: string, asked: OllamaTarget): ModelFailure {
  return knownError(said, asked) ?? modelFailure("unavailable", `the server gave up: ${said}`)
}

/** What a body says went wrong, on one line; null when it says nothing. */
export function ollamaErrorIn(body: Json): string | null {
  const text = wordsOf(objectOf(body)?.["error"] ?? null)
  return text === null || text.trim() === "" ? null : oneLine(text.trim(), messageMax)
}

/** The same of a body that may be anything: plain words are what is meant, and a page for browsers says nothing. */
export function errorInText(body: string): string {
  const text = body.trim()
  try {
    return ollamaErrorIn(JSON.parse(text)) ?? ""
  } catch {
    // Not every server between here and the model writes JSON.
    return text.startsWith("<") ? "" : oneLine(text, messageMax)
  }
}

/** Text, an object with a message, or the text of such an object: a server hands on what its runner said. */
function wordsOf(error: Json, levelsMax = 4): string | null {
  if (levelsMax === 0) return null
  const object = objectOf(error)
  if (object !== null) return wordsOf(object["message"] ?? object["error"] ?? null, levelsMax - 1)
  if (typeof error !== "string") return null
  if (!error.startsWith("{")) return error
  try {
    return wordsOf(JSON.parse(error), levelsMax - 1) ?? error
  } catch {
    // Words that only begin like JSON are words.
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

/** In the words of the server, and of what its runner said last. */
const memoryPhrases = [
  "more system memory",
  "out of memory",
  "out-of-memory",
  "out of device memory",
  "malloc failed",
  "failed to allocate",
  "not enough memory",
]

/** Each family of models has a reader of its own there; what it cannot read takes the place of the whole reply. */
const unreadableCalls = [
  /^error parsing tool call|invalid tool call arguments/,
  /^failed to parse (?:json|xml|laguna)|^invalid character|^unexpected end of json|^xml syntax error/,
  /^empty function name|^incomplete glm|^mismatched arg_key|^tool '.*' not found/,
  /does not match the expected \S+ format|failed to parse input/,
]
