import type { Json } from "../../../base/canonical.ts"
import { onceFor } from "../../../base/lazy.ts"
import type { ModelCall, ModelMessage, ModelRequest, ToolDescription } from "../../contract.ts"
import type { ModelSettings } from "../../server.ts"
import { templateMessages } from "../../template-messages.ts"

type ChatSettings = Pick<ModelSettings, "model" | "outputTokensMax" | "temperature" | "topP" | "streams">

/** The body of one request, as text. Messages and tools are mostly those of the one before, and spelled out once. */
export function chatBody(request: ModelRequest, settings: ChatSettings, isNewest: boolean): string {
  const { model, outputTokensMax, temperature, topP, streams } = settings
  const { messages, tools, format } = request
  const asked: Json = {
    model: request.model ?? model,
    // The old name: all of the local servers know it and LM Studio only it, while the newest models of the company
    // itself refuse it.
    [isNewest ? "max_completion_tokens" : "max_tokens"]: outputTokensMax,
    stream: streams,
    ...(streams ? { stream_options: { include_usage: true } } : {}),
    ...(temperature === null ? {} : { temperature }),
    ...(topP === null ? {} : { top_p: topP }),
    ...(format === null ? {} : { response_format: formatOf(format, isNewest) }),
  }
  // An empty list is refused by some servers.
  const offered = tools.length === 0 ? "" : `,"tools":${spelledTools(tools)}`
  const spelled = templateMessages(messages).map(spelledMessage).join(",")
  return `${JSON.stringify(asked).slice(0, -1)},"messages":[${spelled}]${offered}}`
}

const spelledMessage = onceFor((message: ModelMessage) => JSON.stringify(messageOf(message)))
const spelledTools = onceFor((tools: readonly ToolDescription[]) => JSON.stringify(tools.map(toolOf)))

function messageOf(message: ModelMessage): Json {
  // Half a character is no UTF-8, and a server that reads strictly would refuse everything because of it.
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

/** Where it is to be strict, the company itself refuses choices and members that may be left out. */
function formatOf({ name, schema }: NonNullable<ModelRequest["format"]>, isNewest: boolean): Json {
  return { type: "json_schema", json_schema: { name, schema, strict: !isNewest } }
}
