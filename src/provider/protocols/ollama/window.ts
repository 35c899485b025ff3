import type { ModelFailure, ModelRequest } from "../../contract.ts"
import { modelFailure } from "../../reply-fault.ts"

const charactersPerToken = 4

/** Less than this of the estimate is no request of text or code that a server has read whole. */
const wholeShareMin = 1 / 1.5

/** The least that a tokenizer which suits the text well makes of the estimate. */
const shareMin = 0.7

/** From this share of the window on, a request may be longer than it in truth. */
const nearWindow = 0.75

/** Of at least this many tokens that a server has to read in any case it counted less than this share: it was cut. */
const surelyCut = { tokensMin: 2048, shareMin: 0.55 } as const

/** With less room than this there is no reply. */
const replyTokensMin = 8

/** What a request takes of the window, by its characters. A schema does not count: it is no part of the prompt. */
export function estimatedTokens({ messages, tools }: ModelRequest): number {
  let characters = tools.length === 0 ? 0 : JSON.stringify(tools).length
  for (const message of messages) {
    characters += message.text.length
    if (message.role === "assistant" && message.calls.length > 0)
      characters += JSON.stringify(message.calls).length
  }
  return Math.ceil(characters / charactersPerToken)
}

/**
 * The part of it that every model's template writes out. Many leave out the tools once there are results, and either
 * the words of an answer or its calls. A long run of one sign, as of spaces, is a token or two.
 */
export function leastTokens({ messages }: ModelRequest): number {
  let characters = 0
  for (const message of messages) {
    const said = lengthOf(message.text)
    const isCalling = message.role === "assistant" && message.calls.length > 0
    const called = isCalling ? lengthOf(JSON.stringify(message.calls)) : 0
    characters += said === 0 || called === 0 ? said + called : Math.min(said, called)
  }
  return Math.ceil(characters / charactersPerToken)
}

function lengthOf(text: string): number {
  return text.replaceAll(/(.)\1{7,}/gs, "$1$1$1$1").length
}

/** Before it is sent: a request that cannot fit however well the tokenizer suits it. */
export function overWindow(estimated: number, windowTokens: number | null): ModelFailure | null {
  if (windowTokens === null || estimated * shareMin <= windowTokens) return null
  return tooLong(`the request is about ${estimated} tokens long`, windowTokens)
}

/**
 * After it was answered: whether the server read less than it was sent. It leaves out whole messages, the middle of
 * the last one, or as much as makes the rest half of the window, and tells it only by the tokens it counted. The window
 * may also be smaller than the one asked for, for no server gives a model more than it was made for. A count that is
 * missing stays unjudged: old servers leave it out when they have the prompt in their cache. From 0.3.14 on they count
 * what is in it as well; only 0.30.0 forgot to.
 */
export function cutByServer(
  estimated: number,
  counted: number | null,
  windowTokens: number | null,
  least = estimated,
): ModelFailure | null {
  if (counted === null || counted === 0) return null
  if (windowTokens !== null && counted > windowTokens - replyTokensMin)
    return tooLong(`the request takes ${counted} tokens, which leaves no room for a reply`, windowTokens)
  if (!isSurelyCut(least, counted) && !isCutNearWindow(estimated, counted, windowTokens)) return null
  return tooLong(
    `the server read only ${counted} tokens of a request of about ${estimated} and left out the rest`,
    windowTokens,
  )
}

function isSurelyCut(least: number, counted: number): boolean {
  return least >= surelyCut.tokensMin && counted < least * surelyCut.shareMin
}

function isCutNearWindow(estimated: number, counted: number, windowTokens: number | null): boolean {
  return (
    windowTokens !== null && estimated >= windowTokens * nearWindow && counted < estimated * wholeShareMin
  )
}

/** What the server itself says about it. */
export function refusedAsTooLong(said: string, windowTokens: number | null): ModelFailure {
  return tooLong(`the server refuses the request as too long: ${said}`, windowTokens)
}

function tooLong(what: string, windowTokens: number | null): ModelFailure {
  const window = windowTokens === null ? "num_ctx is the server's own" : `num_ctx is ${windowTokens}`
  return modelFailure(
    "contextTooLong",
    `${what} (${window}); make the request smaller or the window larger, see --max-context-tokens`,
  )
}
