import type { Json } from "../../base/canonical.ts"
import type { ModelRequest } from "../contract.ts"
import type { JsonObject } from "../fields.ts"
import type { ModelSettings } from "../server.ts"
import { type AnswerTool, answerToolFor } from "./answer-tool.ts"
import { traitsOf } from "./model-traits.ts"
import { transcriptOf } from "./transcript.ts"

export interface MessagesRequest {
  readonly body: JsonObject
  /** Where the answer will be, when it has to have a shape. */
  readonly answerTool: AnswerTool | null
}

/** What is posted to `/v1/messages`. */
export function messagesRequest(request: ModelRequest, settings: ModelSettings): MessagesRequest {
  const { model, outputTokensMax, streams } = settings
  const answerTool = answerToolFor(request)
  const traits = traitsOf(model)
  const { system, messages } = transcriptOf(request.messages)
  const isForced = traits.takesForcedTools
  const systemText = answerTool === null || isForced ? system : joined(system, callOnly(answerTool))
  return {
    answerTool,
    body: {
      model,
      max_tokens: Math.max(1, Math.floor(outputTokensMax)),
      stream: streams,
      ...(systemText === "" ? {} : { system: systemText }),
      messages: messages.map(({ role, content }) => ({ role, content })),
      ...toolMembers(request, answerTool, isForced),
      ...(traits.takesSampling ? sampling(settings) : {}),
    },
  }
}

function toolMembers({ tools }: ModelRequest, answerTool: AnswerTool | null, isForced: boolean): JsonObject {
  const sent: Json[] = tools.map(({ name, description, parameters }) => ({
    name,
    description,
    input_schema: parameters,
  }))
  if (answerTool === null) return sent.length === 0 ? {} : { tools: sent }
  const { name, schema } = answerTool
  sent.push({ name, description: "Gives the answer. Call it exactly once.", input_schema: schema })
  return { tools: sent, tool_choice: toolChoice(name, tools.length > 0, isForced) }
}

/** With other tools on offer the model may need them first, and one of them all is enough. */
function toolChoice(name: string, hasOthers: boolean, isForced: boolean): JsonObject {
  if (!isForced) return { type: "auto" }
  if (hasOthers) return { type: "any" }
  return { type: "tool", name, disable_parallel_tool_use: true }
}

/** For a model that cannot be forced. Where it writes the answer as text all the same, that is taken. */
function callOnly({ name }: AnswerTool): string {
  return `Give the answer by calling the tool ${name} exactly once, and write no other text.`
}

function joined(system: string, line: string): string {
  return system === "" ? line : `${system}\n\n${line}`
}

/** Only one of them is accepted, and a temperature from 0 to 1. */
function sampling({ temperature, topP }: ModelSettings): JsonObject {
  if (temperature !== null) return { temperature: Math.min(1, Math.max(0, temperature)) }
  return topP === null ? {} : { top_p: Math.min(1, Math.max(0, topP)) }
}
