import type { Json } from "../../../base/canonical.ts"
import { type Clock, systemClock } from "../../../base/clock.ts"
import { oneLine } from "../../../base/text.ts"
import type { ModelRequest } from "../../contract.ts"
import { type JsonObject, objectOf, textOrNull, tokenCount } from "../../fields.ts"
import { abortedFailure, failureOf, itemsWithFailure, modelFailure, ReplyFault } from "../../reply-fault.ts"
import { settingsFor } from "../../reply-settings.ts"
import type { Answered, ListedModel, ModelFacts, ModelServer, ModelSettings } from "../../server.ts"
import { streamedItems, wholeItems } from "../../streamed-items.ts"
import { errorText, type HttpAnswer, isEventStream, jsonBody } from "../../transport/body.ts"
import type { Transport, TransportLimits, TransportRequest } from "../../transport/contract.ts"
import { foreignJson } from "../../transport/foreign-json.ts"
import { sseReader } from "../../transport/sse.ts"
import { failureForReply } from "./errors.ts"
import { anthropicReplyReader, readAnthropicReply } from "./reply.ts"
import { messagesRequest } from "./request.ts"

/**
 * Opens a server that speaks the Messages API. The key is removed from every message, also where the server quotes it.
 */
export function createAnthropic(
  transport: Transport,
  apiKey: string,
  clock: Pick<Clock, "now"> = systemClock,
): ModelServer {
  const connection: Connection = { transport, apiKey, clock }
  return {
    protocol: "anthropic",
    endpoint: transport.endpoint,
    models: (limits, signal) =>
      answered(connection, signal, async () => anthropicModels(await listing(connection, limits, signal))),
    facts: (model, limits, signal) =>
      answered(connection, signal, async () => {
        const reply = await sent(
          connection,
          getting(`/v1/models/${encodeURIComponent(model)}`, limits),
          signal,
        )
        if (isSuccess(reply.status)) return factsIn(await jsonBody(reply), model)
        const body = await errorBody(reply)
        if (reply.status !== 404) throw new ReplyFault(failureForReply({ ...reply, body }, clock.now()))
        return factsFromList(connection, model, limits, signal)
      }),
    provider: settings => ({
      name: "anthropic",
      ask: (request, signal) =>
        itemsWithFailure(
          () => replyTo(connection, settings, request, signal),
          signal,
          text => withoutKey(apiKey, text),
        ),
    }),
  }
}

interface Connection {
  readonly transport: Transport
  readonly apiKey: string
  readonly clock: Pick<Clock, "now">
}

/** Returns the result of a request, or the failure. */
async function answered<Value>(
  { apiKey }: Connection,
  signal: AbortSignal,
  ask: () => Promise<Value>,
): Promise<Answered<Value>> {
  try {
    return { value: await ask() }
  } catch (error) {
    if (signal.aborted) return { failure: abortedFailure }
    const failure = failureOf(error)
    return { failure: { ...failure, message: withoutKey(apiKey, failure.message) } }
  }
}

async function replyTo(
  connection: Connection,
  fixed: ModelSettings,
  request: ModelRequest,
  signal: AbortSignal,
) {
  const settings = settingsFor(request, fixed)
  const { body, answerTool } = messagesRequest(request, settings)
  const posting: TransportRequest = {
    method: "POST",
    path: "/v1/messages",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    limits: settings.limits,
  }
  const reply = await succeeded(connection, await sent(connection, posting, signal))
  if (isEventStream(reply, settings.streams))
    return streamedItems(reply.chunks, emit => sseReader(anthropicReplyReader(answerTool, emit)))
  const message = await jsonBody(reply)
  return wholeItems(emit => readAnthropicReply(message, answerTool, emit))
}

/** Reads the list instead, for a server that only speaks the protocol and has no address for one model. */
async function factsFromList(
  connection: Connection,
  model: string,
  limits: TransportLimits,
  signal: AbortSignal,
) {
  const entry = listedModel(await listing(connection, limits, signal), model)
  if (entry === null)
    throw new ReplyFault(modelFailure("notFound", `the server has no model ${nameOf(model)}`))
  return factsIn(entry, model)
}

function nameOf(model: string): string {
  return oneLine(JSON.stringify(model), 100)
}

async function listing(connection: Connection, limits: TransportLimits, signal: AbortSignal): Promise<Json> {
  return jsonBody(
    await succeeded(
      connection,
      await sent(connection, getting(`/v1/models?limit=${modelsMax}`, limits), signal),
    ),
  )
}

function getting(path: string, limits: TransportLimits): TransportRequest {
  return { method: "GET", path, headers: {}, body: null, limits }
}

/** Sends a request. Throws when the transport fails; an error status is returned. */
async function sent(
  { transport, apiKey }: Connection,
  request: TransportRequest,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  if (signal.aborted) throw new ReplyFault(abortedFailure)
  if (!/^[\x21-\x7e]+$/.test(apiKey))
    throw new ReplyFault(modelFailure("auth", "the API key is empty or contains an invalid character"))
  const headers = { ...request.headers, "x-api-key": apiKey, "anthropic-version": "2023-06-01" }
  const reply = await transport.send({ ...request, headers }, signal)
  if (reply.kind === "failed") throw new ReplyFault(reply.failure)
  return reply
}

async function succeeded({ clock }: Connection, reply: HttpAnswer): Promise<HttpAnswer> {
  if (isSuccess(reply.status)) return reply
  throw new ReplyFault(failureForReply({ ...reply, body: await errorBody(reply) }, clock.now()))
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300
}

/** Returns null when the body is not JSON, as from a proxy: then only the status is known. */
async function errorBody(reply: HttpAnswer): Promise<Json> {
  const text = await errorText(reply)
  try {
    return foreignJson(text)
  } catch {
    // An error with an unreadable body is reported by its status.
    return null
  }
}

function withoutKey(apiKey: string, text: string): string {
  return apiKey === "" ? text : text.replaceAll(apiKey, "<key>")
}

/** Reads the list of models. Throws ReplyFault for anything else; entries without a name are left out. */
export function anthropicModels(listing: Json): readonly ListedModel[] {
  return entriesOf(listing).flatMap(model => {
    const name = textOrNull(model["id"])
    if (name === null || name === "") return []
    const window = tokenCount(model["max_input_tokens"])
    const details = [textOrNull(model["display_name"]) ?? "", window === null ? "" : `${window} tokens`]
    const shown = details.filter(part => part !== "").join(", ")
    return [{ name, details: oneLine(shown, 120), isLoaded: null }]
  })
}

/** Returns null when the list has no such model. */
export function listedModel(listing: Json, name: string): JsonObject | null {
  return entriesOf(listing).find(({ id }) => id === name) ?? null
}

/**
 * Returns the facts about one model, with defaults for the company's own: all of them call tools. A server that only
 * speaks the protocol has other models, whose window depends on how they were loaded.
 */
export function factsIn(body: Json, name: string): ModelFacts {
  const isOwn = /^claude/i.test(name)
  const reported = tokenCount(objectOf(body)?.["max_input_tokens"])
  const window = reported === null || reported === 0 ? (isOwn ? usualWindow : null) : reported
  return {
    trainedTokens: window,
    loadedTokens: window,
    declaresTools: isOwn ? true : null,
    parameters: null,
    digest: null,
  }
}

/** The maximum of one page. */
const modelsMax = 1_000
const usualWindow = 200_000

function entriesOf(listing: Json): readonly JsonObject[] {
  const data = objectOf(listing)?.["data"]
  if (!Array.isArray(data))
    throw new ReplyFault(modelFailure("malformed", "the list of models is not a list"))
  return data.slice(0, modelsMax).flatMap((entry: Json) => {
    const model = objectOf(entry)
    return model === null ? [] : [model]
  })
}
