import type { Json } from "../../base/canonical.ts"
import { counted } from "../../base/text.ts"
import type { ModelMessage } from "../../provider/contract.ts"
import type { OlderResults } from "../stages/contract.ts"
import { cutInSteps, type RequestSpace } from "./cut-steps.ts"
import { beginningOf, estimateTokens, messageTokens, missing, textTokens } from "./token-estimate.ts"

type TranscriptPart = "results" | "replies" | "arguments" | "newestResult"

/** The same messages in three forms, which differ in how they show the results before the newest one. */
export type Transcripts = Readonly<Record<OlderResults, readonly ModelMessage[]>>

export interface Trimmed {
  readonly messages: readonly ModelMessage[]
  readonly tokens: number
  /** The shortened parts, once for every message. */
  readonly shortened: readonly TranscriptPart[]
}

/**
 * Shortens a transcript to fit: the oldest results of tools first, then the text of the model around its calls, then
 * long arguments of older calls, each in whole steps (`cutInSteps`). The newest result is what the model waits for:
 * it is cut to `newestTokensMin` if that is given, and the newest arguments with it. Calls and their order stay, so
 * the transcript stays valid; messages of a person or of acode are never shortened. The result may still not fit,
 * which its number of tokens shows.
 */
export function trimMessages(
  transcripts: Transcripts,
  room: RequestSpace,
  newestTokensMin: number | null,
): Trimmed {
  let trimmed = withoutOlderResults(transcripts, room)
  for (const cuts of laterCuts(trimmed.messages, newestTokensMin)) {
    if (trimmed.tokens <= room.tokens) break
    trimmed = afterCuts(trimmed, cuts, room)
  }
  return trimmed
}

/**
 * Leaves out older results. A result that is left out looks like an old one, and the number left out is computed as
 * if all were new: so it is the same whether they are old already or not, and the request begins as the one before
 * did when they become old.
 */
function withoutOlderResults({ someOld, allNew, allOld }: Transcripts, room: RequestSpace): Trimmed {
  const places = placesOf(allNew, "tool").slice(0, -1)
  const whole: Trimmed = { messages: allNew, tokens: estimateTokens(allNew), shortened: [] }
  const isNew = (at: number) => someOld[at]?.text === allNew[at]?.text
  const shorten: Cuts["shorten"] = (message, _excess, at) => allOld[at] ?? message
  const cut =
    whole.tokens <= room.tokens
      ? whole
      : afterCuts(whole, { part: "results", places, shorten, isNewest: false }, room)
  const messages = cut.messages.map((message, at) => (isNew(at) ? message : (someOld[at] ?? message)))
  const shortened = places.filter(at => isNew(at) && messages[at] !== allNew[at])
  return { messages, tokens: estimateTokens(messages), shortened: shortened.map(() => "results") }
}

/** The parts to cut one after the other, the oldest first. */
interface Cuts {
  readonly part: TranscriptPart
  readonly places: readonly number[]
  readonly shorten: (message: ModelMessage, excessTokens: number, at: number) => ModelMessage
  /** The end of a request differs each time, so steps save nothing there. */
  readonly isNewest: boolean
}

function afterCuts(
  { messages, tokens: tokensBefore, shortened }: Trimmed,
  { part, places, shorten, isNewest }: Cuts,
  room: RequestSpace,
): Trimmed {
  const kept = [...messages]
  const excess = tokensBefore - room.tokens
  const goal = tokensBefore - (isNewest ? excess : cutInSteps(excess, room))
  let [tokens, count] = [tokensBefore, 0]
  for (const at of places) {
    const message = kept[at]
    if (message === undefined) continue
    const short = shorten(message, tokens - room.tokens, at)
    const gained = messageTokens(message) - messageTokens(short)
    if (gained <= 0) continue
    // A part that need not go stays unless most of it must: a long result may be larger than the whole step.
    if (tokens <= room.tokens && tokens - goal < gained / 2) break
    kept[at] = short
    tokens -= gained
    count += 1
  }
  return { messages: kept, tokens, shortened: [...shortened, ...Array<TranscriptPart>(count).fill(part)] }
}

function laterCuts(messages: readonly ModelMessage[], newestTokensMin: number | null): readonly Cuts[] {
  const replies = placesOf(messages, "assistant")
  const [newestResult, newestReply] = [placesOf(messages, "tool").slice(-1), replies.slice(-1)]
  const older: readonly Cuts[] = [
    { part: "replies", places: replies, shorten: withoutText, isNewest: false },
    { part: "arguments", places: replies.slice(0, -1), shorten: withShortArguments, isNewest: false },
  ]
  if (newestTokensMin === null) return older
  const shorten: Cuts["shorten"] = (message, excess) =>
    withHead(message, Math.max(newestTokensMin, textTokens(message.text) - excess))
  return [
    ...older,
    { part: "newestResult", places: newestResult, shorten, isNewest: true },
    { part: "arguments", places: newestReply, shorten: withShortArguments, isNewest: true },
  ]
}

function placesOf(messages: readonly ModelMessage[], role: ModelMessage["role"]): readonly number[] {
  return messages.flatMap((message, at) => (message.role === role ? [at] : []))
}

/** Removes the text of a message. A reply must not be empty: it has its calls, or a placeholder. */
function withoutText(message: ModelMessage): ModelMessage {
  const hasCalls = message.role === "assistant" && message.calls.length > 0
  return { ...message, text: hasCalls ? "" : "[left out to fit the context]" }
}

function withHead(message: ModelMessage, tokens: number): ModelMessage {
  const text = beginningOf(message.text, tokens, missing(message.text, "; ask for a smaller part to see it"))
  return { ...message, text }
}

/** Shortens arguments: written content is in the files already. */
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
    return `${value.slice(0, argumentTextKept).toWellFormed()}[… ${counted(value.length - argumentTextKept, "character")} left out here]`
  }
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map(withShortTexts)
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withShortTexts(inner)]))
}
