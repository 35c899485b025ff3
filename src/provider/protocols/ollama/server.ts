import type { Json } from "../../../base/canonical.ts"
import { systemClock } from "../../../base/clock.ts"
import type { ModelFailure, ModelRequest, Provider } from "../../contract.ts"
import { failureOf, ReplyFault, toldItems } from "../../reply-fault.ts"
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

/** Ollama by its own protocol: the one like OpenAI's cannot set the window, and cuts what does not fit it. */
export function createOllama(transport: Transport, now: () => number = systemClock.now): ModelServer {
  const way: Way = { transport, now }
  // Whoever chooses a model asks for the list and at once for the facts of one of it. Later it may be loaded anew.
  let justTold: Told | null = null
  return {
    protocol: "ollama",
    endpoint: transport.endpoint,
    models: (limits, signal) =>
      answered(async () => {
        const [tags, loaded] = await Promise.all([
          jsonFrom(way, get("/api/tags", limits), null, signal),
          jsonOrNull(way, get("/api/ps", limits), signal),
        ])
        justTold = loaded === null ? null : { tags, loaded }
        return listedModels(tags, loaded)
      }),
    facts: (model, limits, signal) =>
      answered(async () => {
        if (isCloudName(model)) throw new ReplyFault(refusedCloud(model, "ollama.com"))
        const told = justTold
        justTold = null
        const [show, tags, loaded] = await Promise.all([
          jsonFrom(way, post("/api/show", { model }, limits), model, signal),
          told === null ? jsonOrNull(way, get("/api/tags", limits), signal) : told.tags,
          told === null ? jsonOrNull(way, get("/api/ps", limits), signal) : told.loaded,
        ])
        const host = remoteHost(show)
        if (host !== null) throw new ReplyFault(refusedCloud(model, host))
        return modelFacts(model, show, tags, loaded)
      }),
    provider: settings => chatProvider(way, settings),
  }
}

interface Way {
  readonly transport: Transport
  readonly now: () => number
}

interface Told {
  readonly tags: Json
  readonly loaded: Json
}

type Limits = TransportRequest["limits"]

function chatProvider(way: Way, settings: ModelSettings): Provider {
  return {
    name: "ollama",
    ask: (request, signal) => toldItems(() => replyTo(way, settings, request, signal), signal),
  }
}

async function replyTo(way: Way, fixed: ModelSettings, request: ModelRequest, signal: AbortSignal) {
  const settings = settingsFor(request, fixed)
  const { model, windowTokens, streams, limits } = settings
  const estimated = estimatedTokens(request)
  const refused = isCloudName(model) ? refusedCloud(model, "ollama.com") : overWindow(estimated, windowTokens)
  if (refused !== null) throw new ReplyFault(refused)
  const least = leastTokens(request)
  const asked = { model, windowTokens, estimated, least, replyIndex: request.replyIndex }
  const answer = await answerTo(way, post("/api/chat", chatRequest(request, settings), limits), asked, signal)
  if (streams) return streamedItems(answer.chunks, tell => jsonLineReader(ollamaReplyReader(asked, tell)))
  const body = await jsonBody(answer)
  return wholeItems(tell => {
    const reader = ollamaReplyReader(asked, tell)
    reader.take(body)
    reader.end()
  })
}

/** Throws `ReplyFault` for every answer that is none. */
async function answerTo(
  { transport, now }: Way,
  request: TransportRequest,
  asked: OllamaTarget,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  const reply = await transport.send(request, signal)
  if (reply.kind === "failed") throw new ReplyFault(reply.failure)
  if (reply.status === 200) return reply
  throw new ReplyFault(await errorOf(reply, asked, now()))
}

async function errorOf(answer: HttpAnswer, asked: OllamaTarget, nowMs: number): Promise<ModelFailure> {
  const said = errorInText(await errorText(answer))
  const byStatus = failureForStatus(answer.status, answer.header, said, nowMs)
  const known = knownError(said, asked)
  return known === null
    ? byStatus
    : { ...known, retryAfterMs: known.retryable ? byStatus.retryAfterMs : null }
}

async function jsonFrom(way: Way, request: TransportRequest, model: string | null, signal: AbortSignal) {
  return jsonBody(await answerTo(way, request, { model, windowTokens: null }, signal))
}

/** For what a server may be too old to know, and without which it can be used all the same. */
async function jsonOrNull(way: Way, request: TransportRequest, signal: AbortSignal): Promise<Json> {
  try {
    return await jsonFrom(way, request, null, signal)
  } catch (error) {
    if (failureOf(error).kind === "aborted") throw error
    // The facts that it would have told stay unknown.
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
