import type { Json } from "../../base/canonical.ts"
import type { ModelMessage } from "../../provider/contract.ts"
import { headOf, missing } from "./text-head.ts"
import { estimateTokens, textTokens, tokensOf } from "./token-estimate.ts"

type TranscriptPart = "results" | "replies" | "arguments" | "newestResult"

export interface Trimmed {
  readonly messages: readonly ModelMessage[]
  readonly tokens: number
  /** What was shortened, once for every message. */
  readonly shortened: readonly TranscriptPart[]
}

/**
 * Makes a transcript fit: the oldest results of tools go first, then what the model said around its calls, then long
 * arguments of older calls. The newest result is what the model waits for: it is cut to `newestTokensMin` where that is
 * given, and with it the newest arguments. Calls and their order stay, so the transcript stays valid; what a person or
 * acode said is never touched. May not fit even so, which the number of tokens tells.
 */
export function trimMessages(
  messages: readonly ModelMessage[],
  tokensMax: number,
  newestTokensMin: number | null,
): Trimmed {
  const kept = [...messages]
  let tokens = estimateTokens(messages)
  const shortened: TranscriptPart[] = []
  for (const { part, at, shorten } of cuts(messages, newestTokensMin)) {
    if (tokens <= tokensMax) break
    const message = kept[at]
    if (message === undefined) continue
    const short = shorten(message, tokens - tokensMax)
    const gained = tokensOf(message) - tokensOf(short)
    if (gained <= 0) continue
    kept[at] = short
    tokens -= gained
    shortened.push(part)
  }
  return { messages: kept, tokens, shortened }
}

interface Cut {
  readonly part: TranscriptPart
  readonly at: number
  readonly shorten: (message: ModelMessage, excessTokens: number) => ModelMessage
}

function cuts(messages: readonly ModelMessage[], newestTokensMin: number | null): readonly Cut[] {
  const places = (role: ModelMessage["role"]) =>
    messages.flatMap((message, at) => (message.role === role ? [at] : []))
  const [results, replies] = [places("tool"), places("assistant")]
  const all = (part: TranscriptPart, among: readonly number[], shorten: Cut["shorten"]) =>
    among.map(at => ({ part, at, shorten }))
  const older = [
    ...all("results", results.slice(0, -1), withoutResult),
    ...all("replies", replies, withoutText),
    ...all("arguments", replies.slice(0, -1), withShortArguments),
  ]
  if (newestTokensMin === null) return older
  return [
    ...older,
    ...all("newestResult", results.slice(-1), (message, excess) =>
      withHead(message, Math.max(newestTokensMin, textTokens(message.text) - excess)),
    ),
    ...all("arguments", replies.slice(-1), withShortArguments),
  ]
}

/** Short ones, such as why a call failed, are worth more than their room. */
const shortResultMax = 200

function withoutResult(message: ModelMessage): ModelMessage {
  if (message.text.length <= shortResultMax) return message
  const told = `[left out to fit the context: ${message.text.length} characters; ask for it again if you need it]`
  return { ...message, text: told }
}

/** A reply must not be empty: it has its calls, or a word in the place of its text. */
function withoutText(message: ModelMessage): ModelMessage {
  const hasCalls = message.role === "assistant" && message.calls.length > 0
  return { ...message, text: hasCalls ? "" : "[left out to fit the context]" }
}

function withHead(message: ModelMessage, tokens: number): ModelMessage {
  const text = headOf(message.text, tokens, missing(message.text, "; ask for a smaller part to see it"))
  return { ...message, text }
}

/** What was written is in the files by now. */
function withShortArguments(message: ModelMessage): ModelMessage {
  if (message.role !== "assistant") return message
  return {
    ...message,
    calls: message.calls.map(call => ({ ...call, arguments: withShortTexts(call.arguments) })),
  }
}

const argumentTextMax = 400
const argumentTextKept = 100

function withShortTexts(value: Json): Json {
  if (typeof value === "string") {
    if (value.length <= argumentTextMax) return value
    return `${value.slice(0, argumentTextKept).toWellFormed()}[… ${value.length - argumentTextKept} characters left out here]`
  }
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map(withShortTexts)
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withShortTexts(inner)]))
}
