import type { ModelMessage } from "../../provider/contract.ts"

export interface Trimmed {
  readonly messages: readonly ModelMessage[]
  readonly tokensBefore: number
  readonly tokensAfter: number
  /** How many messages were shortened. */
  readonly shortenedCount: number
}

/** About four characters of text make a token; a model server counts for itself. */
export function estimateTokens(messages: readonly ModelMessage[]): number {
  return messages.reduce((sum, message) => sum + tokensOf(message), 0)
}

/**
 * Makes a transcript fit: the oldest results of tools go first, then what the model said around its calls, and the
 * newest result last of all. Calls and their order stay, so the transcript stays valid; what a person or acode said is
 * never touched. May not fit even so, which the number of tokens tells.
 */
export function trimMessages(messages: readonly ModelMessage[], tokensMax: number): Trimmed {
  const tokensBefore = estimateTokens(messages)
  const kept = [...messages]
  let tokens = tokensBefore
  let shortenedCount = 0
  for (const index of inOrder(messages)) {
    if (tokens <= tokensMax) break
    const message = kept[index]
    if (message === undefined) continue
    const short = shortened(message)
    if (tokensOf(short) >= tokensOf(message)) continue
    kept[index] = short
    tokens += tokensOf(short) - tokensOf(message)
    shortenedCount += 1
  }
  return { messages: kept, tokensBefore, tokensAfter: tokens, shortenedCount }
}

function inOrder(messages: readonly ModelMessage[]): readonly number[] {
  const places = (role: ModelMessage["role"]) =>
    messages.flatMap((message, index) => (message.role === role ? [index] : []))
  const results = places("tool")
  return [...results.slice(0, -1), ...places("assistant"), ...results.slice(-1)]
}

function shortened(message: ModelMessage): ModelMessage {
  const told = `[left out to fit the context: ${message.text.length} characters; ask for it again if you need it]`
  return { ...message, text: message.role === "assistant" ? "" : told }
}

function tokensOf(message: ModelMessage): number {
  const calls = message.role === "assistant" ? JSON.stringify(message.calls).length : 0
  return Math.ceil((message.text.length + calls) / 4)
}
