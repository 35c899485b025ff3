import type { Json } from "../../../base/canonical.ts"
import { onceFor } from "../../../base/lazy.ts"
import type { ModelCall, ModelMessage, ModelRequest, ToolDescription } from "../../contract.ts"
import type { ModelSettings } from "../../server.ts"
import { templateMessages } from "../../template-messages.ts"

type ChatSettings = Pick<ModelSettings, "model" | "outputTokensMax" | "temperature" | "topP" | "streams">

/**
 * Returns the body of one request, as text. Messages and tools are mostly those of the request before, and serialised
 * only once.
 */
export function chatBody(request: ModelRequest, settings: ChatSettings, isNewest: boolean): string {
  const { model, outputTokensMax, temperature, topP, streams } = settings
  const { messages, tools, format } = request
  const fields: Json = {
    model: request.model ?? model,
    // The old name: all local servers know it, LM Studio only this one, while the company's newest models refuse it.
    [isNewest ? "max_completion_tokens" : "max_tokens"]: outputTokensMax,
    stream: streams,
    ...(streams ? { stream_options: { include_usage: true } } : {}),
    ...(temperature === null ? {} : { temperature }),
    ...(topP === null ? {} : { top_p: topP }),
    ...(format === null ? {} : { response_format: formatOf(format, isNewest) }),
  }
  // Some servers refuse an empty list.
  const offered = tools.length === 0 ? "" : `,"tools":${spelledTools(tools)}`
  const spelled = templateMessages(messages).map(spelledMessage).join(",")
  return `${JSON.stringify(fields).slice(0, -1)},"messages":[${spelled}]${offered}}`
}

const spelledMessage = onceFor((message: ModelMessage) => JSON.stringify(messageOf(message)))
const spelledTools = onceFor((tools: readonly ToolDescription[]) => JSON.stringify(tools.map(toolOf)))

function messageOf(message: ModelMessage): Json {
  // Half a character is not UTF-8, and a strict server would refuse the whole request because of it.
  const content = message.text.toWellFormed()
  if (message.role === "tool") return { role: "tool", tool_call_id: message.callId, content }
  if (message.role !== "assistant" || message.calls.length === 0) return { role: message.role, content }
  return {
    role: "assistant",
    content: content === "" ? null : content,
    tool_calls: message.calls.map(callOf),
  }
}

function callOf({ id, tool, arguments: values }: ModelCall): Json {
  return { id, type: "function", function: { name: tool, arguments: JSON.stringify(values) } }
}

function toolOf({ name, description, parameters }: ToolDescription): Json {
  return { type: "function", function: { name, description, parameters } }
}

/** Returns the format. In strict mode the company itself refuses choices and optional members. */
function formatOf({ name, schema }: NonNullable<ModelRequest["format"]>, isNewest: boolean): Json {
  return { type: "json_schema", json_schema: { name, schema, strict: !isNewest } }
}
