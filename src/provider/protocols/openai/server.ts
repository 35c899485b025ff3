import type { Json } from "../../../base/canonical.ts"
import { type Clock, systemClock } from "../../../base/clock.ts"
import type { ModelFailureKind, ModelRequest, Provider } from "../../contract.ts"
import { unreadable } from "../../fields.ts"
import { abortedFailure, failureOf, itemsWithFailure, ReplyFault } from "../../reply-fault.ts"
import { settingsFor } from "../../reply-settings.ts"
import type { Answered, ModelServer, ModelSettings } from "../../server.ts"
import { streamedItems, wholeItems } from "../../streamed-items.ts"
import { errorText, type HttpAnswer, isEventStream, jsonBody } from "../../transport/body.ts"
import type { Transport, TransportLimits, TransportReply } from "../../transport/contract.ts"
import { readEndpoint } from "../../transport/endpoint.ts"
import { sseReader } from "../../transport/sse.ts"
import { errorFailure, type OpenAiTarget, openAiErrorIn } from "./errors.ts"
import { factsOf, hasAllFacts, type ListedOpenAiModel, listed, openAiModels } from "./model-list.ts"
import { type OpenAiRequestFacts, openAiReplyReader, readOpenAiReply } from "./reply.ts"
import { chatBody } from "./request.ts"

/** Opens a server that speaks OpenAI's protocol: LM Studio, llama.cpp, vLLM and many others. */
export function createOpenAi(
  transport: Transport,
  apiKey: string | null,
  clock: Clock = systemClock,
): ModelServer {
  const connection: Connection = {
    transport,
    clock,
    paths: pathsBelow(transport.endpoint),
    headers: apiKey === null || apiKey === "" ? {} : { authorization: `Bearer ${apiKey}` },
    withoutSecret: text => hidden(text, apiKey),
  }
  // A caller that chooses a model requests the list and then the facts of one model.
  let reported: ReportedModels | null = null
  return {
    protocol: "openai",
    endpoint: transport.endpoint,
    models: (limits, signal) =>
      answered(connection, signal, async () => {
        reported = await requestModels({ connection, limits, signal })
        return listed(reported.models)
      }),
    facts: (model, limits, signal) =>
      answered(connection, signal, async () => {
        const pageRequest = { connection, limits, signal }
        // A page that was requested along with the list may have had too little time; then it is requested again.
        if (reported === null || reported.isHasty) reported = await requestModels(pageRequest)
        const { models, isForeign } = reported
        const props = isForeign ? null : ((await reported.props) ?? (await optional("/props", pageRequest)))
        return factsOf(models, model, props?.page ?? null)
      }),
    provider: settings => provider(connection, settings),
  }
}

interface Connection extends Pick<OpenAiTarget, "withoutSecret"> {
  readonly transport: Transport
  readonly clock: Clock
  readonly paths: Paths
  readonly headers: Readonly<Record<string, string>>
}

interface PageRequest {
  readonly connection: Connection
  readonly limits: TransportLimits
  readonly signal: AbortSignal
}

function provider(connection: Connection, settings: ModelSettings): Provider {
  return {
    name: "openai",
    ask: (request, signal) =>
      itemsWithFailure(() => reply(connection, settings, request, signal), signal, connection.withoutSecret),
  }
}

async function reply(
  connection: Connection,
  fixed: ModelSettings,
  request: ModelRequest,
  signal: AbortSignal,
) {
  const settings = settingsFor(request, fixed)
  const { transport, paths, headers, withoutSecret } = connection
  const { windowTokens, outputTokensMax, streams } = settings
  const model = request.model ?? settings.model
  const { replyIndex, format } = request
  const isShaped = format !== null
  const facts: OpenAiRequestFacts = {
    model,
    replyIndex,
    windowTokens,
    outputTokensMax,
    isShaped,
    withoutSecret,
  }
  const sent = await transport.send(
    {
      method: "POST",
      path: paths.chat,
      headers: { ...headers, "content-type": "application/json" },
      body: chatBody(request, settings, isOpenAiItself(transport.endpoint)),
      limits: settings.limits,
    },
    signal,
  )
  const answer = await successfulAnswer(sent, connection, model)
  if (isEventStream(answer, streams))
    return streamedItems(answer.chunks, emit => sseReader(openAiReplyReader(facts, emit)))
  const body = await jsonBody(answer)
  return wholeItems(emit => readOpenAiReply(body, facts, emit))
}

/** The facts that a server reports about its models, and llama.cpp about itself. */
interface ReportedModels {
  readonly models: readonly ListedOpenAiModel[]
  /** True when a page that the list needs did not arrive in time. */
  readonly isHasty: boolean
  /** True for a server that has no `/props`. */
  readonly isForeign: boolean
  /** The page `/props`; the list does not wait for it. */
  readonly props: Promise<MaybePage>
}

/** Requests all pages at once: only the answers show which server it is. */
async function requestModels(pageRequest: PageRequest): Promise<ReportedModels> {
  const { withoutSecret, paths } = pageRequest.connection
  const props = optional("/props", pageRequest)
  const [body, studio] = await Promise.all([
    pageAt(paths.models, pageRequest),
    optional("/api/v0/models", pageRequest),
  ])
  const error = openAiErrorIn(body)
  if (error.isKnown) throw new ReplyFault(errorFailure(error, null, { model: null, withoutSecret }))
  const isAll = hasAllFacts(body)
  const models = openAiModels(body, isAll ? null : (studio?.page ?? null))
  if (models === null) throw unreadable("the server's list of models cannot be used: it contains no list")
  const isForeign = models.some(known => known.entry["max_model_len"] !== undefined || known.studio !== null)
  return { models, isForeign, isHasty: !isAll && studio === null, props }
}

/** Null when it is not known whether the page exists; `page` is null when it does not exist or cannot be read. */
type MaybePage = { readonly page: Json | null } | null

/** Requests a page that only some servers have. Never throws. */
async function optional(path: string, pageRequest: PageRequest): Promise<MaybePage> {
  const { outside } = pageRequest.connection.paths
  if (outside === null) return { page: null }
  try {
    return { page: await pageAt(outside(path), pageRequest) }
  } catch (error) {
    // Servers answer a missing page in many ways, and no fact depends on this page alone.
    return isUnanswered(failureOf(error).kind) ? null : { page: null }
  }
}

function isUnanswered(kind: ModelFailureKind): boolean {
  return kind === "timeout" || kind === "unavailable" || kind === "aborted"
}

async function pageAt(path: string, { connection, limits, signal }: PageRequest): Promise<Json> {
  const { headers } = connection
  const sent = await connection.transport.send({ method: "GET", path, headers, body: null, limits }, signal)
  return jsonBody(await successfulAnswer(sent, connection, null))
}

/** Returns a successful answer. Throws the server's error otherwise. */
async function successfulAnswer(
  sent: TransportReply,
  connection: Connection,
  model: string | null,
): Promise<HttpAnswer> {
  if (sent.kind === "failed") throw new ReplyFault(sent.failure)
  const { status, header } = sent
  if (status >= 200 && status < 300) return sent
  const error = openAiErrorIn(jsonOrText(await errorText(sent)))
  const { clock, withoutSecret } = connection
  throw new ReplyFault(errorFailure(error, { status, header, nowMs: clock.now() }, { model, withoutSecret }))
}

/** Parses JSON; a proxy may answer with a page for people instead. */
function jsonOrText(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    // The text is all there is.
    return text
  }
}

async function answered<Value>(
  { withoutSecret }: Pick<Connection, "withoutSecret">,
  signal: AbortSignal,
  pageRequest: () => Promise<Value>,
): Promise<Answered<Value>> {
  try {
    return { value: await pageRequest() }
  } catch (error) {
    if (signal.aborted) return { failure: abortedFailure }
    const failure = failureOf(error)
    return { failure: { ...failure, message: withoutSecret(failure.message) } }
  }
}

/** Removes the key from a text. Short keys are made up, such as `none`, and hiding them would hide ordinary words. */
function hidden(text: string, apiKey: string | null): string {
  return apiKey === null || apiKey.length < 8 ? text : text.replaceAll(apiKey, "[api key]")
}

/** The paths below an endpoint; null where it does not have one. */
interface Paths {
  readonly chat: string
  readonly models: string
  /** Pages that local servers keep outside the API that they imitate. */
  readonly outside: ((path: string) => string) | null
}

/**
 * Returns the paths. People configure `http://127.0.0.1:8080` as well as `http://127.0.0.1:8080/v1`, and other versions
 * where a server has them. A path that contains a version is complete.
 */
export function pathsBelow(endpoint: string): Paths {
  // The path of a socket is not part of the request path.
  const base = endpoint.startsWith("unix:") ? "" : endpoint.replace(/\/+$/, "")
  const hasVersion = /\/v\d+[a-z]*\d*(?:\/|$)/i.test(base)
  const api = hasVersion ? "" : "/v1"
  const read = readEndpoint(endpoint)
  const outside = outsideOf(base, hasVersion, read.problem === undefined && read.isLocal)
  return { chat: `${api}/chat/completions`, models: `${api}/models`, outside }
}

/**
 * Reports whether it is the company's own server, which differs from imitations: newer field names, and only the API
 * itself.
 */
export function isOpenAiItself(endpoint: string): boolean {
  return /^https:\/\/(?:api\.openai\.com|[\w.-]+\.openai\.azure\.com)(?:[:/]|$)/i.test(endpoint)
}

/**
 * Returns the path of pages that llama.cpp and LM Studio have. A server elsewhere is not sent a key for pages that it
 * hardly has.
 */
function outsideOf(base: string, hasVersion: boolean, isLocal: boolean): Paths["outside"] {
  if (!isLocal) return null
  if (!hasVersion) return path => path
  return base.endsWith("/v1") ? path => `/..${path}` : null
}
