import type { Json } from "../../../base/canonical.ts"
import type { ModelCall, ModelMessage, ModelRequest, ToolDescription } from "../../contract.ts"
import { objectOf } from "../../fields.ts"
import type { ModelSettings } from "../../server.ts"
import { templateMessages } from "../../template-messages.ts"

/**
 * What `/api/chat` is asked. `truncate` and `shift` are refused: without that a server leaves out the beginning of a
 * request that is too long, or forgets it while it answers, and says nothing. Servers before 0.12.4 do not know them,
 * which is why what they counted is looked at as well.
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

/** By its name, which every version understands, and by its id, which newer ones need to tell calls apart. */
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

/** A server refuses the whole request when the arguments of an earlier call are no object. */
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

/** A bare number is seconds only when it is one: as text a server takes it for a duration without a unit. */
function keepAlive(text: string): Json {
  return /^-?\d{1,9}$/.test(text) ? Number(text) : text
}
