import type { Json } from "../../../base/canonical.ts"
import { type Clock, systemClock } from "../../../base/clock.ts"
import { oneLine } from "../../../base/text.ts"
import type { ModelRequest } from "../../contract.ts"
import { type JsonObject, objectOf, textOrNull, tokenCount } from "../../fields.ts"
import { abortedFailure, failureOf, modelFailure, ReplyFault, toldItems } from "../../reply-fault.ts"
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

/** A server that speaks the Messages API. The key is in no message, whoever wrote it there. */
export function createAnthropic(
  transport: Transport,
  apiKey: string,
  clock: Pick<Clock, "now"> = systemClock,
): ModelServer {
  const way: Way = { transport, apiKey, clock }
  return {
    protocol: "anthropic",
    endpoint: transport.endpoint,
    models: (limits, signal) =>
      answered(way, signal, async () => anthropicModels(await listing(way, limits, signal))),
    facts: (model, limits, signal) =>
      answered(way, signal, async () => {
        const reply = await sent(way, getting(`/v1/models/${encodeURIComponent(model)}`, limits), signal)
        if (isSuccess(reply.status)) return factsIn(await jsonBody(reply), model)
        const body = await errorBody(reply)
        if (reply.status !== 404) throw new ReplyFault(failureForReply({ ...reply, body }, clock.now()))
        return factsFromList(way, model, limits, signal)
      }),
    provider: settings => ({
      name: "anthropic",
      ask: (request, signal) =>
        toldItems(
          () => replyTo(way, settings, request, signal),
          signal,
          text => withoutKey(apiKey, text),
        ),
    }),
  }
}

interface Way {
  readonly transport: Transport
  readonly apiKey: string
  readonly clock: Pick<Clock, "now">
}

/** What the request is about, or why it is not to be had. */
async function answered<Value>(
  { apiKey }: Way,
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

async function replyTo(way: Way, fixed: ModelSettings, request: ModelRequest, signal: AbortSignal) {
  const settings = settingsFor(request, fixed)
  const { body, answerTool } = messagesRequest(request, settings)
  const posting: TransportRequest = {
    method: "POST",
    path: "/v1/messages",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    limits: settings.limits,
  }
  const reply = await succeeded(way, await sent(way, posting, signal))
  if (isEventStream(reply, settings.streams))
    return streamedItems(reply.chunks, tell => sseReader(anthropicReplyReader(answerTool, tell)))
  const message = await jsonBody(reply)
  return wholeItems(tell => readAnthropicReply(message, answerTool, tell))
}

/** For a server that only speaks the protocol and has no address for one model. */
async function factsFromList(way: Way, model: string, limits: TransportLimits, signal: AbortSignal) {
  const entry = listedModel(await listing(way, limits, signal), model)
  if (entry === null)
    throw new ReplyFault(modelFailure("notFound", `the server has no model ${nameOf(model)}`))
  return factsIn(entry, model)
}

function nameOf(model: string): string {
  return oneLine(JSON.stringify(model), 100)
}

async function listing(way: Way, limits: TransportLimits, signal: AbortSignal): Promise<Json> {
  return jsonBody(
    await succeeded(way, await sent(way, getting(`/v1/models?limit=${modelsMax}`, limits), signal)),
  )
}

function getting(path: string, limits: TransportLimits): TransportRequest {
  return { method: "GET", path, headers: {}, body: null, limits }
}

/** Throws what went wrong on the way; what the server has to say is another matter. */
async function sent(
  { transport, apiKey }: Way,
  request: TransportRequest,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  if (signal.aborted) throw new ReplyFault(abortedFailure)
  if (!/^[\x21-\x7e]+$/.test(apiKey))
    throw new ReplyFault(modelFailure("auth", "the API key is empty or has characters that no key can have"))
  const headers = { ...request.headers, "x-api-key": apiKey, "anthropic-version": "2023-06-01" }
  const reply = await transport.send({ ...request, headers }, signal)
  if (reply.kind === "failed") throw new ReplyFault(reply.failure)
  return reply
}

async function succeeded({ clock }: Way, reply: HttpAnswer): Promise<HttpAnswer> {
  if (isSuccess(reply.status)) return reply
  throw new ReplyFault(failureForReply({ ...reply, body: await errorBody(reply) }, clock.now()))
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300
}

/** Null when it is no JSON, as from a proxy in between: then the status has to say it all. */
async function errorBody(reply: HttpAnswer): Promise<Json> {
  const text = await errorText(reply)
  try {
    return foreignJson(text)
  } catch {
    // What is wrong with the text of an error matters less than the error.
    return null
  }
}

function withoutKey(apiKey: string, text: string): string {
  return apiKey === "" ? text : text.replaceAll(apiKey, "<key>")
}

/** Throws ReplyFault when it is no list of models. What has no name in it is left out. */
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

/** Null when the list has no such model. */
export function listedModel(listing: Json, name: string): JsonObject | null {
  return entriesOf(listing).find(({ id }) => id === name) ?? null
}

/**
 * What is said about one model, or what all of the company's own have had so far: they call tools by themselves. A
 * server that only speaks the protocol has other models, whose window is whatever they were loaded with.
 */
export function factsIn(body: Json, name: string): ModelFacts {
  const isOwn = /^claude/i.test(name)
  const told = tokenCount(objectOf(body)?.["max_input_tokens"])
  const window = told === null || told === 0 ? (isOwn ? usualWindow : null) : told
  return {
    trainedTokens: window,
    loadedTokens: window,
    declaresTools: isOwn ? true : null,
    parameters: null,
    digest: null,
  }
}

/** As many as one page can have. */
const modelsMax = 1_000
const usualWindow = 200_000

function entriesOf(listing: Json): readonly JsonObject[] {
  const data = objectOf(listing)?.["data"]
  if (!Array.isArray(data)) throw new ReplyFault(modelFailure("malformed", "the list of models is no list"))
  return data.slice(0, modelsMax).flatMap((entry: Json) => {
    const model = objectOf(entry)
    return model === null ? [] : [model]
  })
}
