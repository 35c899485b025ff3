import type { Json } from "../../../src/base/canonical.ts"
import type { Protocol } from "../../../src/domain/model-choice.ts"
import { at, isObject, listAt, objectAt, textAt } from "./json.ts"
import { estimateTokens } from "./wire/wire.ts"

/** The content of a chat request, independent of its protocol. */
export interface RequestFacts {
  readonly model: string
  readonly streams: boolean
  readonly includeUsage: boolean
  readonly tools: readonly OfferedTool[]
  /** The required shape of the reply; the name is empty in a protocol without names. */
  readonly schema: AnswerShape | null
  readonly lastUserText: string
  readonly promptTokens: number
}

export interface AnswerShape {
  readonly name: string
  readonly schema: Json
  /** Anthropic has an answer with a shape given by a tool that must be called; null where it is the text itself. */
  readonly tool: { readonly name: string; readonly isWrapped: boolean } | null
}

export interface OfferedTool {
  readonly name: string
  readonly parameters: Json
}

export function requestFacts(protocol: Protocol, body: Json): RequestFacts {
  const asked = listAt(body, "messages").findLast(message => at(message, "role") === "user") ?? null
  const tools = listAt(body, "tools").map(tool => offeredTool(protocol, tool))
  const schema = protocol === "anthropic" ? forcedAnswer(body, tools) : schemaOf(protocol, body)
  return {
    model: textAt(body, "model"),
    // Ollama streams by default; the others only on request.
    streams: protocol === "ollama" ? at(body, "stream") !== false : at(body, "stream") === true,
    includeUsage: protocol !== "openai" || at(body, "stream_options", "include_usage") === true,
    tools: tools.filter(({ name }) => name !== schema?.tool?.name),
    schema,
    lastUserText: textOf(at(asked, "content")),
    promptTokens: promptTokens(body),
  }
}

function offeredTool(protocol: Protocol, tool: Json): OfferedTool {
  if (protocol === "anthropic") return { name: textAt(tool, "name"), parameters: at(tool, "input_schema") }
  return { name: textAt(tool, "function", "name"), parameters: at(tool, "function", "parameters") }
}

function forcedAnswer(body: Json, tools: readonly OfferedTool[]): AnswerShape | null {
  if (at(body, "tool_choice", "type") !== "tool") return null
  const forced = tools.find(({ name }) => name === textAt(body, "tool_choice", "name"))
  if (forced === undefined) return null
  const inner = at(forced.parameters, "properties", "answer")
  const isWrapped = inner !== null && Object.keys(objectAt(forced.parameters, "properties")).length === 1
  const { name, parameters } = forced
  return { name, schema: isWrapped ? inner : parameters, tool: { name, isWrapped } }
}

function schemaOf(protocol: Protocol, body: Json): AnswerShape | null {
  const place = protocol === "ollama" ? ["format"] : ["response_format", "json_schema", "schema"]
  const schema = at(body, ...place)
  if (!isObject(schema)) return null
  return { name: textAt(body, "response_format", "json_schema", "name"), schema, tool: null }
}

/** Content is a text, or a list of parts some of which are text. */
function textOf(content: Json): string {
  if (typeof content === "string") return content
  return listAt(content)
    .map(part => textAt(part, "text"))
    .join("")
}

function promptTokens(body: Json): number {
  return ["system", "messages", "tools"]
    .map(name => at(body, name))
    .filter(part => part !== null)
    .reduce<number>((sum, part) => sum + estimateTokens(JSON.stringify(part)), 0)
}
