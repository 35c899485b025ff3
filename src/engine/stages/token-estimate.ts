import type { Json } from "../../base/canonical.ts"
import { bytesPerToken } from "../../domain/pipeline/token-usage.ts"
import type { ModelMessage, ModelRequest } from "../../provider/contract.ts"

/** What a protocol puts around a message, a call and a tool. */
const messageTokens = 4
const callTokens = 8
const toolTokens = 15

/** About how many tokens a text is. A server counts for itself, and what it reports corrects the next estimates. */
export function textTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / bytesPerToken)
}

/** How many characters of a text are about as long as that many tokens. */
export function charactersIn(text: string, tokens: number): number {
  const bytes = Buffer.byteLength(text)
  return bytes === 0 ? 0 : Math.floor((text.length * Math.max(0, tokens) * bytesPerToken) / bytes)
}

export function estimateTokens(messages: readonly ModelMessage[]): number {
  return messages.reduce((sum, message) => sum + tokensOf(message), 0)
}

export function tokensOf(message: ModelMessage): number {
  return measuredOnce(message, () => {
    const calls = message.role === "assistant" ? message.calls : []
    return calls.reduce(
      (sum, { tool, arguments: args }) => sum + callTokens + textTokens(tool) + jsonTokens(args),
      messageTokens + textTokens(message.text),
    )
  })
}

/** What goes along with every request of a stage, however short its messages are. */
export function offerTokens({ tools, format }: Pick<ModelRequest, "tools" | "format">): number {
  const offered = measuredOnce(tools, () =>
    tools.reduce(
      (sum, { name, description, parameters }) =>
        sum + toolTokens + textTokens(name) + textTokens(description) + jsonTokens(parameters),
      0,
    ),
  )
  return offered + (format === null ? 0 : jsonTokens(format.schema))
}

function jsonTokens(value: Json): number {
  const measure = () => textTokens(JSON.stringify(value))
  return typeof value === "object" && value !== null ? measuredOnce(value, measure) : measure()
}

/** Messages, lists of tools, schemas and arguments stay the same objects from turn to turn, and some are long. */
const measured = new WeakMap<object, number>()

function measuredOnce(thing: object, measure: () => number): number {
  const known = measured.get(thing)
  if (known !== undefined) return known
  const tokens = measure()
  measured.set(thing, tokens)
  return tokens
}
