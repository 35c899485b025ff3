import type { Json } from "../../../src/base/canonical.ts"
import type { Protocol } from "../../../src/domain/model-choice.ts"
import { at, listAt, textAt } from "./json.ts"

/** Returns why the real server would refuse a chat request; null when it would accept it. */
export function invalidRequest(protocol: Protocol, body: Json): string | null {
  if (textAt(body, "model") === "") return "model: Field required"
  const messages = listAt(body, "messages")
  if (messages.length === 0) return "messages: at least one message is required"
  if (protocol === "anthropic") return invalidAnthropic(body, messages)
  const invalid = protocol === "openai" ? invalidOpenai(messages) : null
  return invalid ?? refusedByTemplate(messages)
}

function invalidAnthropic(body: Json, messages: readonly Json[]): string | null {
  if (typeof at(body, "max_tokens") !== "number") return "max_tokens: Field required"
  if (at(messages[0], "role") !== "user") return "messages: first message must use the user role"
  for (const [index, message] of messages.entries()) {
    const role = at(message, "role")
    if (role !== "user" && role !== "assistant")
      return `messages.${index}.role: Input should be 'user' or 'assistant'`
    if (isEmpty(at(message, "content"))) return `messages.${index}: all messages must have non-empty content`
    const next = messages[index + 1] ?? null
    const answered = idsOf(next, "tool_result", "tool_use_id")
    const missing = idsOf(message, "tool_use", "id").filter(id => !answered.includes(id))
    if (missing.length > 0)
      return `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(", ")}`
    const called = idsOf(messages[index - 1] ?? null, "tool_use", "id")
    const unasked = idsOf(message, "tool_result", "tool_use_id").filter(id => !called.includes(id))
    if (unasked.length > 0)
      return `messages.${index}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${unasked.join(", ")}`
  }
  return null
}

function isEmpty(content: Json): boolean {
  if (typeof content === "string") return content === ""
  const parts = listAt(content)
  return parts.length === 0 || parts.some(part => at(part, "type") === "text" && textAt(part, "text") === "")
}

function idsOf(message: Json, type: string, name: string): string[] {
  return listAt(message, "content")
    .filter(part => at(part, "type") === type)
    .map(part => textAt(part, name))
}

/**
 * Refuses messages like the strictest templates: Llama's accept one call at a time, Mistral's ignore calls and results.
 */
function refusedByTemplate(messages: readonly Json[]): string | null {
  if (messages.some(message => listAt(message, "tool_calls").length > 1))
    return "This model only supports single tool-calls at once!"
  if (messages.flatMap(message => listAt(message, "tool_calls")).some(call => !isTakenId(textAt(call, "id"))))
    return "Tool call IDs should be alphanumeric strings with length 9!"
  const [first] = messages
  const spoken = textAt(first ?? null, "role") === "system" ? messages.slice(1) : messages
  const turns = spoken.filter(
    message => textAt(message, "role") !== "tool" && listAt(message, "tool_calls").length === 0,
  )
  for (const [index, message] of turns.entries()) {
    if ((textAt(message, "role") === "user") !== (index % 2 === 0))
      return "After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results."
    if (textAt(message, "content") === "")
      return "Assistant message must have a string or a list of chunks in content or a list of tool calls."
  }
  return null
}

/** Ids with other signs are of models whose templates want them so. */
function isTakenId(id: string): boolean {
  return /^[a-z0-9]{9}$/i.test(id) || /[^\w-]/.test(id)
}

/** Returns why messages are invalid: the calls of an assistant are followed by exactly their results. */
function invalidOpenai(messages: readonly Json[]): string | null {
  let open: readonly string[] = []
  for (const [index, message] of messages.entries()) {
    const role = textAt(message, "role")
    if (!["system", "developer", "user", "assistant", "tool"].includes(role))
      return `Invalid value: '${role}'. Supported values are: 'system', 'assistant', 'user', 'tool'.`
    if (role === "tool") {
      const id = textAt(message, "tool_call_id")
      if (!open.includes(id))
        return "messages with role 'tool' must be a response to a preceding message with 'tool_calls'."
      open = open.filter(other => other !== id)
      continue
    }
    if (open.length > 0) return unanswered(open)
    const calls = listAt(message, "tool_calls")
    if (calls.some(call => typeof at(call, "function", "arguments") !== "string"))
      return `messages[${index}].tool_calls: arguments must be a string`
    open = calls.map(call => textAt(call, "id"))
  }
  return open.length > 0 ? unanswered(open) : null
}

function unanswered(ids: readonly string[]): string {
  return `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${ids.join(", ")}`
}
