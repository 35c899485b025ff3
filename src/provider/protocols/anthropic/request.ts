import type { Json } from "../../../base/canonical.ts"
import type { ModelRequest } from "../../contract.ts"
import type { JsonObject } from "../../fields.ts"
import type { ModelSettings } from "../../server.ts"
import { type AnswerTool, answerToolFor, transcriptOf } from "./transcript.ts"

export interface MessagesRequest {
  readonly body: JsonObject
  /** The tool by which the model answers, when the answer is to have a shape. */
  readonly answerTool: AnswerTool | null
}

/** Builds the request for `/v1/messages`. */
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

/** Forces the answer tool, unless the model may need other tools first; then any tool is accepted. */
function toolChoice(name: string, hasOthers: boolean, isForced: boolean): JsonObject {
  if (!isForced) return { type: "auto" }
  if (hasOthers) return { type: "any" }
  return { type: "tool", name, disable_parallel_tool_use: true }
}

/**
 * Returns a prompt for a model that cannot be forced. If it writes the answer as text nevertheless, that is accepted.
 */
function callOnly({ name }: AnswerTool): string {
  return `Give the answer by calling the tool ${name} exactly once, and write no other text.`
}

function joined(system: string, line: string): string {
  return system === "" ? line : `${system}\n\n${line}`
}

/** Returns one of the two settings, because only one is accepted; the temperature is limited to 0 to 1. */
function sampling({ temperature, topP }: ModelSettings): JsonObject {
  if (temperature !== null) return { temperature: Math.min(1, Math.max(0, temperature)) }
  return topP === null ? {} : { top_p: Math.min(1, Math.max(0, topP)) }
}

/** Features that not all models of this protocol accept; a request that uses a missing one is refused with 400. */
interface ModelTraits {
  /** True when a request may force a tool call. */
  readonly takesForcedTools: boolean
  /** True when a request may set temperature or top_p. Never both: all current models refuse that. */
  readonly takesSampling: boolean
}

/**
 * Derives the traits from the version in the name, because the server does not report them. Both lists are closed:
 * models after 4.6 accept no sampling and those after 5.0 no forced tools, so an unknown newer one gets the request
 * that all accept. A name that is not one of these models belongs to a server that only speaks the protocol, and
 * accepts both.
 */
export function traitsOf(model: string): ModelTraits {
  const name = /claude-(?<rest>.*)/.exec(model.toLowerCase())?.groups?.["rest"]
  if (name === undefined) return { takesForcedTools: true, takesSampling: true }
  const version = versionIn(name)
  return { takesForcedTools: version <= 500, takesSampling: version <= 406 }
}

/**
 * Returns the version in a name: `opus-4-5-20251101` is 405, `3-7-sonnet` is 307, `sonnet-4-20250514` is 400; a name
 * without one is the newest.
 */
function versionIn(name: string): number {
  const found = /(?:^|-)(?<major>\d{1,2})(?:[-.](?<minor>\d{1,2}))?(?![\d])/.exec(name)?.groups
  if (found === undefined) return Number.POSITIVE_INFINITY
  return Number(found["major"]) * 100 + Number(found["minor"] ?? 0)
}
