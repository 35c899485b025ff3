import type { ModelFailure, ModelRequest } from "../../contract.ts"
import { modelFailure } from "../../reply-fault.ts"

const charactersPerToken = 4

/** The share of the estimate below which a server's count shows that it did not read all of a text or code request. */
const wholeShareMin = 1 / 1.5

/** The smallest share of the estimate that a well-suited tokenizer produces. */
const shareMin = 0.7

/** The share of the window from which on a request may really be longer than the window. */
const nearWindow = 0.75

/** The share of at least this many tokens below which a server's count shows that it cut the request. */
const surelyCut = { tokensMin: 2048, shareMin: 0.55 } as const

/** The least space that a reply needs. */
const replyTokensMin = 8

/** Estimates the tokens of a request by its characters. A schema does not count: it is not part of the prompt. */
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
 * Estimates the part that every model's template includes. Many omit the tools once there are results, and either the
 * text of an answer or its calls. A long run of one character, such as spaces, is a token or two.
 */
export function leastTokens({ messages }: ModelRequest): number {
  let characters = 0
  for (const message of messages) {
    const written = lengthOf(message.text)
    const isCalling = message.role === "assistant" && message.calls.length > 0
    const called = isCalling ? lengthOf(JSON.stringify(message.calls)) : 0
    characters += written === 0 || called === 0 ? written + called : Math.min(written, called)
  }
  return Math.ceil(characters / charactersPerToken)
}

function lengthOf(text: string): number {
  return text.replaceAll(/(.)\1{7,}/gs, "$1$1$1$1").length
}

/** Checks a request before it is sent: returns a failure when it cannot fit, however well the tokenizer suits it. */
export function overWindow(estimated: number, windowTokens: number | null): ModelFailure | null {
  if (windowTokens === null || estimated * shareMin <= windowTokens) return null
  return tooLong(`the request is about ${estimated} tokens long`, windowTokens)
}

/**
 * Checks the reply: returns a failure when the server read less than it was sent. It drops whole messages, the middle
 * of the last one, or enough to make the rest half of the window, and only the tokens it counted show that. The window
 * may also be smaller than requested, because no server gives a model more than it was trained for. A missing count is
 * accepted: old servers omit it when they have the prompt in their cache. From 0.3.14 on they count cached tokens as
 * well; only 0.30.0 did not.
 */
export function cutByServer(
  estimated: number,
  counted: number | null,
  windowTokens: number | null,
  least = estimated,
): ModelFailure | null {
  if (counted === null || counted === 0) return null
  if (windowTokens !== null && counted > windowTokens - replyTokensMin)
    return tooLong(`the request takes ${counted} tokens, which leaves no space for a reply`, windowTokens)
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

/** Returns the failure for the server's own message. */
export function refusedAsTooLong(message: string, windowTokens: number | null): ModelFailure {
  return tooLong(`the server refuses the request as too long: ${message}`, windowTokens)
}

function tooLong(what: string, windowTokens: number | null): ModelFailure {
  const window = windowTokens === null ? "num_ctx is the server's own" : `num_ctx is ${windowTokens}`
  return modelFailure(
    "contextTooLong",
    `${what} (${window}); make the request smaller or the window larger, see --max-context-tokens`,
  )
}
