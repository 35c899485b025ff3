import type { Json } from "../../base/canonical.ts"
import { onceFor } from "../../base/lazy.ts"
import { bytesPerToken } from "../../domain/pipeline/token-usage.ts"
import type { ModelMessage, ModelRequest } from "../../provider/contract.ts"

/** The tokens that a protocol adds to a message, a call and a tool. */
const messageOverhead = 4
const callOverhead = 8
const toolOverhead = 15

/** Returns the estimated tokens of a text. A server counts for itself, and its reports correct the next estimates. */
export function textTokens(text: string): number {
  return bytesTokens(Buffer.byteLength(text))
}

export function bytesTokens(bytes: number): number {
  return Math.max(0, Math.ceil(bytes / bytesPerToken))
}

/** Returns the length of the beginning of a text that has about this many tokens. */
export function charactersIn(text: string, tokens: number): number {
  const bytes = Buffer.byteLength(text)
  return bytes === 0 ? 0 : Math.floor((text.length * Math.max(0, tokens) * bytesPerToken) / bytes)
}

export function estimateTokens(messages: readonly ModelMessage[]): number {
  return messages.reduce((sum, message) => sum + messageTokens(message), 0)
}

/**
 * Returns the tokens of a message. Messages, tools, schemas and arguments stay the same objects from turn to turn,
 * and some are long.
 */
export const messageTokens = onceFor((message: ModelMessage): number => {
  const calls = message.role === "assistant" ? message.calls : []
  return calls.reduce(
    (sum, { tool, arguments: args }) => sum + callOverhead + textTokens(tool) + jsonTokens(args),
    messageOverhead + textTokens(message.text),
  )
})

/** Returns the tokens that every request of a stage has besides its messages. */
export function offerTokens({ tools, format }: Pick<ModelRequest, "tools" | "format">): number {
  return listTokens(tools) + (format === null ? 0 : jsonTokens(format.schema))
}

const listTokens = onceFor((tools: ModelRequest["tools"]): number =>
  tools.reduce(
    (sum, { name, description, parameters }) =>
      sum + toolOverhead + textTokens(name) + textTokens(description) + jsonTokens(parameters),
    0,
  ),
)

function jsonTokens(value: Json): number {
  return typeof value === "object" && value !== null ? objectTokens(value) : spelledTokens(value)
}

const objectTokens = onceFor((value: Json & object) => spelledTokens(value))

function spelledTokens(value: Json): number {
  return textTokens(JSON.stringify(value))
}

/** The estimated size of the remark after the beginning. */
const remarkTokens = 30

/** Returns the beginning of a text with a remark, about this many tokens together; the text itself if it fits. */
export function beginningOf(text: string, tokens: number, remark: (kept: string) => string): string {
  if (charactersIn(text, tokens) >= text.length) return text
  const kept = wholeLines(text.slice(0, charactersIn(text, tokens - remarkTokens)))
  return `${kept}${kept === "" || kept.endsWith("\n") ? "" : "\n"}[${remark(kept)}]`
}

/** Returns a function that says how much is missing, and how to read it. */
export function missing(text: string, how: string): (kept: string) => string {
  return kept =>
    `${text.length - kept.length} ${kept === "" ? "" : "more "}characters are left out to fit the context${how}`
}

/** Cuts at the last line end, unless that drops most of the text; never leaves a lone surrogate. */
function wholeLines(text: string): string {
  const end = text.lastIndexOf("\n") + 1
  if (end > text.length / 2) return text.slice(0, end)
  return text.isWellFormed() ? text : text.slice(0, -1)
}
