import type { Json } from "../../base/canonical.ts"
import { onceFor } from "../../base/lazy.ts"
import { bytesPerToken } from "../../domain/pipeline/token-usage.ts"
import type { ModelMessage, ModelRequest } from "../../provider/contract.ts"

/** What a protocol puts around a message, a call and a tool. */
const messageOverhead = 4
const callOverhead = 8
const toolOverhead = 15

/** About how many tokens a text is. A server counts for itself, and what it reports corrects the next estimates. */
export function textTokens(text: string): number {
  return bytesTokens(Buffer.byteLength(text))
}

export function bytesTokens(bytes: number): number {
  return Math.max(0, Math.ceil(bytes / bytesPerToken))
}

/** How many characters of a text are about as long as that many tokens. */
export function charactersIn(text: string, tokens: number): number {
  const bytes = Buffer.byteLength(text)
  return bytes === 0 ? 0 : Math.floor((text.length * Math.max(0, tokens) * bytesPerToken) / bytes)
}

export function estimateTokens(messages: readonly ModelMessage[]): number {
  return messages.reduce((sum, message) => sum + messageTokens(message), 0)
}

/** Messages, lists of tools, schemas and arguments stay the same objects from turn to turn, and some are long. */
export const messageTokens = onceFor((message: ModelMessage): number => {
  const calls = message.role === "assistant" ? message.calls : []
  return calls.reduce(
    (sum, { tool, arguments: args }) => sum + callOverhead + textTokens(tool) + jsonTokens(args),
    messageOverhead + textTokens(message.text),
  )
})

/** What goes along with every request of a stage, however short its messages are. */
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

/** About what the remark behind a head takes. */
const remarkTokens = 30

/** The beginning of a text that takes about so many tokens with the remark behind it; the text itself when it fits. */
export function beginningOf(text: string, tokens: number, remark: (kept: string) => string): string {
  if (charactersIn(text, tokens) >= text.length) return text
  const kept = wholeLines(text.slice(0, charactersIn(text, tokens - remarkTokens)))
  return `${kept}${kept === "" || kept.endsWith("\n") ? "" : "\n"}[${remark(kept)}]`
}

/** How much is missing behind a head, and what to do about it. */
export function missing(text: string, how: string): (kept: string) => string {
  return kept =>
    `${text.length - kept.length} ${kept === "" ? "" : "more "}characters are left out to fit the context${how}`
}

/** Up to the last line end, unless that is most of it; never half of a character. */
function wholeLines(text: string): string {
  const end = text.lastIndexOf("\n") + 1
  if (end > text.length / 2) return text.slice(0, end)
  return text.isWellFormed() ? text : text.slice(0, -1)
}
