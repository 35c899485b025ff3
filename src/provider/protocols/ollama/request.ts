import type { Json } from "../../../base/canonical.ts"
import type { ModelCall, ModelMessage, ModelRequest, ToolDescription } from "../../contract.ts"
import { objectOf } from "../../fields.ts"
import type { ModelSettings } from "../../server.ts"
import { templateMessages } from "../../template-messages.ts"

/**
 * Builds the request for `/api/chat`. `truncate` and `shift` are off: otherwise a server silently drops the beginning
 * of a request that is too long, or forgets it while it answers. Servers before 0.12.4 do not know them, so the token
 * count of the reply is checked as well.
 */
export function chatRequest({ messages, tools, format }: ModelRequest, settings: ModelSettings): Json {
  return {
    model: settings.model,
    messages: chatMessages(messages),
    stream: settings.streams,
    ...(tools.length === 0 ? {} : { tools: tools.map(chatTool) }),
    ...(format === null ? {} : { format: format.schema }),
    options: chatOptions(settings),
    keep_alive: keepAlive(settings.keepAlive),
    truncate: false,
    shift: false,
  }
}

function chatMessages(messages: readonly ModelMessage[]): Json {
  const toolOf = new Map<string, string>()
  return templateMessages(messages).map((message): Json => {
    if (message.role === "tool") return toolMessage(message, toolOf.get(message.callId))
    const { role, text: content } = message
    if (role !== "assistant" || message.calls.length === 0) return { role, content }
    for (const { id, tool } of message.calls) toolOf.set(id, tool)
    return { role, content, tool_calls: message.calls.map(chatCall) }
  })
}

/**
 * Identifies the tool by its name, which every version understands, and by the id of the call, which newer ones need.
 */
function toolMessage(
  { callId, text }: Extract<ModelMessage, { role: "tool" }>,
  tool: string | undefined,
): Json {
  return {
    role: "tool",
    content: text,
    ...(tool === undefined ? {} : { tool_name: tool }),
    tool_call_id: callId,
  }
}

/** Wraps arguments that are not an object: with those of an earlier call a server refuses the whole request. */
function chatCall({ id, tool, arguments: args }: ModelCall, index: number): Json {
  return { id, function: { index, name: tool, arguments: objectOf(args) ?? { arguments: args } } }
}

function chatTool({ name, description, parameters }: ToolDescription): Json {
  return { type: "function", function: { name, description, parameters } }
}

function chatOptions({ windowTokens, outputTokensMax, temperature, topP }: ModelSettings): Json {
  return {
    ...(windowTokens === null ? {} : { num_ctx: windowTokens }),
    num_predict: outputTokensMax,
    ...(temperature === null ? {} : { temperature }),
    ...(topP === null ? {} : { top_p: topP }),
  }
}

/** Sends a bare number as a number, which means seconds: as text a server reads it as a duration without a unit. */
function keepAlive(text: string): Json {
  return /^-?\d{1,9}$/.test(text) ? Number(text) : text
}
