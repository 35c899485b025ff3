import { canonicalJson, type Json, sha256Hex } from "../base/canonical.ts"
import type { ModelMessage, ModelRequest } from "./contract.ts"

/** What a request was, by the hashes of its parts: enough to say which part of another one differs. */
export interface RequestPrint {
  readonly digest: string
  readonly tools: string
  /** `role:hash` of each message. */
  readonly messages: readonly string[]
}

/**
 * Of the stage, the messages and the names of the tools. Ids of calls are left out: who numbers them may change.
 * `settled` takes out of a text what is different every time.
 */
export function requestPrint(request: ModelRequest, settled: (text: string) => string): RequestPrint {
  const tools = request.tools.map(({ name }) => name).join(",")
  const messages = request.messages.map(message => {
    const content = canonicalJson(mapTexts(contentOf(message), settled))
    return `${message.role}:${sha256Hex(content).slice(0, 16)}`
  })
  const digest = sha256Hex(canonicalJson({ stage: request.stage, tools, messages }))
  return { digest: `sha256:${digest}`, tools, messages }
}

function contentOf(message: ModelMessage): Json {
  if (message.role !== "assistant") return message.text
  const calls = message.calls.map(({ tool, arguments: args }) => ({ tool, arguments: args }))
  return { text: message.text, calls }
}

/** The same value with every text in it changed; names of properties stay. */
export function mapTexts(value: Json, change: (text: string) => string): Json {
  if (typeof value === "string") return change(value)
  if (typeof value !== "object" || value === null) return value
  if (isList(value)) return value.map(member => mapTexts(member, change))
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, mapTexts(member, change)]))
}

/** `Array.isArray` forgets that a list may be read-only. */
function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}
