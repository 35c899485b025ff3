import { type Json, sha256Hex } from "../../../base/canonical.ts"
import type { ModelCall, ModelMessage, ModelRequest } from "../../contract.ts"
import { type JsonObject, objectOf } from "../../fields.ts"

interface Transcript {
  /** Empty when there are no system messages. */
  readonly system: string
  readonly messages: readonly SentMessage[]
}

interface SentMessage {
  readonly role: "user" | "assistant"
  readonly content: readonly JsonObject[]
}

/**
 * Returns the messages in the form that the server accepts: system texts apart, users and assistants alternating,
 * beginning and ending with a user, and no empty or blank text. The server refuses all other forms.
 */
export function transcriptOf(messages: readonly ModelMessage[]): Transcript {
  const ids = callIds()
  const sent: SentMessage[] = []
  for (const message of messages) {
    if (message.role === "system") continue
    const role = message.role === "assistant" ? "assistant" : "user"
    const content = blocksOf(message, ids)
    if (content.length === 0) continue
    if (sent.length === 0 && role === "assistant") sent.push(filler)
    const last = sent.at(-1)
    if (last?.role === role) sent[sent.length - 1] = { role, content: [...last.content, ...content] }
    else sent.push({ role, content })
  }
  if (sent.at(-1)?.role !== "user") sent.push(filler)
  const system = messages.flatMap(({ role, text }) => (role === "system" && !isBlank(text) ? [text] : []))
  return { system: system.join("\n\n"), messages: sent }
}

/** Returns a tool name that the server accepts. A model may have called a tool by any name. */
export function sentToolName(name: string): string {
  const cleaned = name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, nameLengthMax)
  return cleaned === "" ? "unnamed" : cleaned
}

const nameLengthMax = 64
const filler: SentMessage = { role: "user", content: [{ type: "text", text: "Continue." }] }

function blocksOf(message: Exclude<ModelMessage, { role: "system" }>, ids: CallIds): readonly JsonObject[] {
  if (message.role === "tool") {
    const result = { type: "tool_result", tool_use_id: ids.of(message.callId) }
    return [isBlank(message.text) ? result : { ...result, content: message.text }]
  }
  const text: readonly JsonObject[] = isBlank(message.text) ? [] : [{ type: "text", text: message.text }]
  if (message.role !== "assistant") return text
  return [...text, ...message.calls.map(call => callBlock(call, ids))]
}

function callBlock({ id, tool, arguments: args }: ModelCall, ids: CallIds): JsonObject {
  return { type: "tool_use", id: ids.add(id), name: sentToolName(tool), input: inputOf(args) }
}

/** Returns an object, because only an object is accepted. */
function inputOf(args: Json): JsonObject {
  return objectOf(args) ?? { arguments: args }
}

interface CallIds {
  add(id: string): string
  of(id: string): string
}

/**
 * Maps ids to those that the server accepts: of few kinds of characters, and unique in a transcript. Ids of calls that
 * another server made, or that were found in a text, are neither.
 */
function callIds(): CallIds {
  const used = new Set<string>()
  const latest = new Map<string, string>()
  return {
    add: id => {
      const plain = /^[a-zA-Z0-9_-]{1,64}$/.test(id) ? id : `call_${sha256Hex(id).slice(0, 32)}`
      let sent = plain
      for (let number = 2; used.has(sent); number++) sent = `${plain}_${number}`
      used.add(sent)
      latest.set(id, sent)
      return sent
    },
    of: id => latest.get(id) ?? `call_${sha256Hex(id).slice(0, 32)}`,
  }
}

function isBlank(text: string): boolean {
  return text.trim() === ""
}

/** The tool by which a model gives an answer that must have a shape. */
export interface AnswerTool {
  readonly name: string
  readonly schema: JsonObject
  /** True when the answer is the member `answer` of the tool's arguments. */
  readonly isWrapped: boolean
}

/** Returns null when the request has no format. */
export function answerToolFor({ format, tools }: ModelRequest): AnswerTool | null {
  if (format === null) return null
  const plain = sentToolName(format.name)
  const name = tools.some(tool => tool.name === plain) ? sentToolName(`answer_${plain}`) : plain
  const schema = objectOf(format.schema)
  if (schema !== null && isPlainObject(schema)) return { name, schema, isWrapped: false }
  return { name, schema: wrapped(format.schema), isWrapped: true }
}

/** Returns the answer as text, as if the model had written it. */
export function answerText({ isWrapped }: AnswerTool, input: JsonObject): string {
  // A model that omits the wrapper still gave its answer.
  const answer = isWrapped && Object.hasOwn(input, answerMember) ? input[answerMember] : input
  return JSON.stringify(answer)
}

const answerMember = "answer"
/** Keywords that the server refuses at the top of a tool's schema, with the whole request. */
const notAtTop = ["anyOf", "oneOf", "allOf", "not", "enum", "const", "$ref"]

function isPlainObject(schema: JsonObject): boolean {
  return schema["type"] === "object" && !notAtTop.some(word => Object.hasOwn(schema, word))
}

/** Wraps a schema in an object. Definitions stay at the top, where references expect them. */
function wrapped(schema: Json): JsonObject {
  const definitions: Record<string, Json> = {}
  const inner: Record<string, Json> = {}
  for (const [key, value] of Object.entries(objectOf(schema) ?? {}))
    (key === "$defs" || key === "definitions" ? definitions : inner)[key] = value
  return {
    type: "object",
    properties: { [answerMember]: inner },
    required: [answerMember],
    additionalProperties: false,
    ...definitions,
  }
}
