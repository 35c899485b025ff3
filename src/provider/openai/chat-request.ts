import type { Json } from "../../base/canonical.ts"
import type { ModelCall, ModelMessage, ModelRequest, ToolDescription } from "../contract.ts"
import type { ModelSettings } from "../server.ts"

type ChatSettings = Pick<ModelSettings, "model" | "outputTokensMax" | "temperature" | "topP" | "streams">

/** The body of one request, as text. */
export function chatBody(request: ModelRequest, settings: ChatSettings, isNewest: boolean): string {
  const { model, outputTokensMax, temperature, topP, streams } = settings
  const body: Json = {
    model: request.model ?? model,
    messages: request.messages.map(messageOf),
    // The old name: all of the local servers know it and LM Studio only it, while the newest models of the company
    // itself refuse it.
    [isNewest ? "max_completion_tokens" : "max_tokens"]: outputTokensMax,
    stream: streams,
    ...(streams ? { stream_options: { include_usage: true } } : {}),
    ...(temperature === null ? {} : { temperature }),
    ...(topP === null ? {} : { top_p: topP }),
    // An empty list is refused by some servers.
    ...(request.tools.length === 0 ? {} : { tools: request.tools.map(toolOf) }),
    ...(request.format === null ? {} : { response_format: formatOf(request.format, isNewest) }),
  }
  return JSON.stringify(body)
}

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
