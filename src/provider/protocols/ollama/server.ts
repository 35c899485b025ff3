import type { Json } from "../../../base/canonical.ts"
import { systemClock } from "../../../base/clock.ts"
import type { ModelFailure, ModelRequest, Provider } from "../../contract.ts"
import { failureOf, itemsWithFailure, ReplyFault } from "../../reply-fault.ts"
import { settingsFor } from "../../reply-settings.ts"
import type { Answered, ModelServer, ModelSettings } from "../../server.ts"
import { streamedItems, wholeItems } from "../../streamed-items.ts"
import { errorText, type HttpAnswer, jsonBody } from "../../transport/body.ts"
import type { Transport, TransportRequest } from "../../transport/contract.ts"
import { failureForStatus } from "../../transport/failures.ts"
import { jsonLineReader } from "../../transport/lines.ts"
import { errorInText, knownError, type OllamaTarget } from "./errors.ts"
import { isCloudName, listedModels, modelFacts, refusedCloud, remoteHost } from "./model-facts.ts"
import { ollamaReplyReader } from "./reply.ts"
import { chatRequest } from "./request.ts"
import { estimatedTokens, leastTokens, overWindow } from "./window.ts"

/**
 * Opens Ollama by its own protocol: its protocol like OpenAI's cannot set the window, and cuts off what exceeds it.
 */
export function createOllama(transport: Transport, now: () => number = systemClock.now): ModelServer {
  const connection: Connection = { transport, now }
  // A caller that chooses a model requests the list and right after it the facts of one model. Later the model may be
  // loaded again.
  let latestLists: ModelLists | null = null
  return {
    protocol: "ollama",
    endpoint: transport.endpoint,
    models: (limits, signal) =>
      answered(async () => {
        const [tags, loaded] = await Promise.all([
          jsonFrom(connection, get("/api/tags", limits), null, signal),
          jsonOrNull(connection, get("/api/ps", limits), signal),
        ])
        latestLists = loaded === null ? null : { tags, loaded }
        return listedModels(tags, loaded)
      }),
    facts: (model, limits, signal) =>
      answered(async () => {
        if (isCloudName(model)) throw new ReplyFault(refusedCloud(model, "ollama.com"))
        const lists = latestLists
        latestLists = null
        const [show, tags, loaded] = await Promise.all([
          jsonFrom(connection, post("/api/show", { model }, limits), model, signal),
          lists === null ? jsonOrNull(connection, get("/api/tags", limits), signal) : lists.tags,
          lists === null ? jsonOrNull(connection, get("/api/ps", limits), signal) : lists.loaded,
        ])
        const host = remoteHost(show)
        if (host !== null) throw new ReplyFault(refusedCloud(model, host))
        return modelFacts(model, show, tags, loaded)
      }),
    provider: settings => chatProvider(connection, settings),
  }
}

interface Connection {
  readonly transport: Transport
  readonly now: () => number
}

interface ModelLists {
  readonly tags: Json
  readonly loaded: Json
}

type Limits = TransportRequest["limits"]

function chatProvider(connection: Connection, settings: ModelSettings): Provider {
  return {
    name: "ollama",
    ask: (request, signal) => itemsWithFailure(() => replyTo(connection, settings, request, signal), signal),
  }
}

async function replyTo(
  connection: Connection,
  fixed: ModelSettings,
  request: ModelRequest,
  signal: AbortSignal,
) {
  const settings = settingsFor(request, fixed)
  const { model, windowTokens, streams, limits } = settings
  const estimated = estimatedTokens(request)
  const refused = isCloudName(model) ? refusedCloud(model, "ollama.com") : overWindow(estimated, windowTokens)
  if (refused !== null) throw new ReplyFault(refused)
  const least = leastTokens(request)
  const target = { model, windowTokens, estimated, least, replyIndex: request.replyIndex }
  const answer = await answerTo(
    connection,
    post("/api/chat", chatRequest(request, settings), limits),
    target,
    signal,
  )
  if (streams) return streamedItems(answer.chunks, emit => jsonLineReader(ollamaReplyReader(target, emit)))
  const body = await jsonBody(answer)
  return wholeItems(emit => {
    const reader = ollamaReplyReader(target, emit)
    reader.take(body)
    reader.end()
  })
}

/** Sends a request. Throws `ReplyFault` for every unsuccessful answer. */
async function answerTo(
  { transport, now }: Connection,
  request: TransportRequest,
  target: OllamaTarget,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  const reply = await transport.send(request, signal)
  if (reply.kind === "failed") throw new ReplyFault(reply.failure)
  if (reply.status === 200) return reply
  throw new ReplyFault(await errorOf(reply, target, now()))
}

async function errorOf(answer: HttpAnswer, target: OllamaTarget, nowMs: number): Promise<ModelFailure> {
  const text = errorInText(await errorText(answer))
  const byStatus = failureForStatus(answer.status, answer.header, text, nowMs)
  const known = knownError(text, target)
  return known === null
    ? byStatus
    : { ...known, retryAfterMs: known.retryable ? byStatus.retryAfterMs : null }
}

async function jsonFrom(
  connection: Connection,
  request: TransportRequest,
  model: string | null,
  signal: AbortSignal,
) {
  return jsonBody(await answerTo(connection, request, { model, windowTokens: null }, signal))
}

/** Returns null for a page that an old server may not have, and that is not essential. */
async function jsonOrNull(
  connection: Connection,
  request: TransportRequest,
  signal: AbortSignal,
): Promise<Json> {
  try {
    return await jsonFrom(connection, request, null, signal)
  } catch (error) {
    if (failureOf(error).kind === "aborted") throw error
    // The facts on that page stay unknown.
    return null
  }
}

async function answered<Value>(ask: () => Promise<Value>): Promise<Answered<Value>> {
  try {
    return { value: await ask() }
  } catch (error) {
    return { failure: failureOf(error) }
  }
}

function get(path: string, limits: Limits): TransportRequest {
  return { method: "GET", path, headers: {}, body: null, limits }
}

function post(path: string, body: Json, limits: Limits): TransportRequest {
  const headers = { "content-type": "application/json" }
  return { method: "POST", path, headers, body: JSON.stringify(body), limits }
}
