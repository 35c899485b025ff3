import type { Json } from "../../../base/canonical.ts"
import { type Clock, systemClock } from "../../../base/clock.ts"
import type { ModelFailureKind, ModelRequest, Provider } from "../../contract.ts"
import { unreadable } from "../../fields.ts"
import { abortedFailure, failureOf, ReplyFault, toldItems } from "../../reply-fault.ts"
import { settingsFor } from "../../reply-settings.ts"
import type { Answered, ModelServer, ModelSettings } from "../../server.ts"
import { streamedItems, wholeItems } from "../../streamed-items.ts"
import { errorText, type HttpAnswer, isEventStream, jsonBody } from "../../transport/body.ts"
import type { Transport, TransportLimits, TransportReply } from "../../transport/contract.ts"
import { readEndpoint } from "../../transport/endpoint.ts"
import { sseReader } from "../../transport/sse.ts"
import { errorFailure, type OpenAiTarget, openAiErrorIn } from "./errors.ts"
import { factsOf, type ListedOpenAiModel, listed, openAiModels, tellsEverything } from "./model-list.ts"
import { type Asked, openAiReplyReader, readOpenAiReply } from "./reply.ts"
import { chatBody } from "./request.ts"

/** A server that speaks as OpenAI's does: LM Studio, llama.cpp, vLLM and many others. */
export function createOpenAi(
  transport: Transport,
  apiKey: string | null,
  clock: Clock = systemClock,
): ModelServer {
  const way: Way = {
    transport,
    clock,
    paths: pathsBelow(transport.endpoint),
    headers: apiKey === null || apiKey === "" ? {} : { authorization: `Bearer ${apiKey}` },
    withoutSecret: text => hidden(text, apiKey),
  }
  // Whoever chooses a model asks for the list and then for the facts of one of it.
  let told: Told | null = null
  return {
    protocol: "openai",
    endpoint: transport.endpoint,
    models: (limits, signal) =>
      answered(way, signal, async () => {
        told = await toldModels({ way, limits, signal })
        return listed(told.models)
      }),
    facts: (model, limits, signal) =>
      answered(way, signal, async () => {
        const look = { way, limits, signal }
        // What was asked in passing may have had too little time; then it is asked again.
        if (told === null || told.isHasty) told = await toldModels(look)
        const { models, isForeign } = told
        const props = isForeign ? null : ((await told.props) ?? (await optional("/props", look)))
        return factsOf(models, model, props?.page ?? null)
      }),
    provider: settings => provider(way, settings),
  }
}

interface Way extends Pick<OpenAiTarget, "withoutSecret"> {
  readonly transport: Transport
  readonly clock: Clock
  readonly paths: Paths
  readonly headers: Readonly<Record<string, string>>
}

interface Look {
  readonly way: Way
  readonly limits: TransportLimits
  readonly signal: AbortSignal
}

function provider(way: Way, settings: ModelSettings): Provider {
  return {
    name: "openai",
    ask: (request, signal) =>
      toldItems(() => reply(way, settings, request, signal), signal, way.withoutSecret),
  }
}

async function reply(way: Way, fixed: ModelSettings, request: ModelRequest, signal: AbortSignal) {
  const settings = settingsFor(request, fixed)
  const { transport, paths, headers, withoutSecret } = way
  const { windowTokens, outputTokensMax, streams } = settings
  const model = request.model ?? settings.model
  const { replyIndex, format } = request
  const isShaped = format !== null
  const asked: Asked = { model, replyIndex, windowTokens, outputTokensMax, isShaped, withoutSecret }
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
  const answer = await goodAnswer(sent, way, model)
  if (isEventStream(answer, streams))
    return streamedItems(answer.chunks, tell => sseReader(openAiReplyReader(asked, tell)))
  const body = await jsonBody(answer)
  return wholeItems(tell => readOpenAiReply(body, asked, tell))
}

/** What a server tells of its models, and llama.cpp of itself. */
interface Told {
  readonly models: readonly ListedOpenAiModel[]
  /** Something that the list rests on did not come in time. */
  readonly isHasty: boolean
  /** Of a server that has no such page. */
  readonly isForeign: boolean
  /** Nobody waits for it to have the list. */
  readonly props: Promise<MaybePage>
}

/** All at once: which server it is shows only in what it answers. */
async function toldModels(look: Look): Promise<Told> {
  const { withoutSecret, paths } = look.way
  const props = optional("/props", look)
  const [body, studio] = await Promise.all([pageAt(paths.models, look), optional("/api/v0/models", look)])
  const error = openAiErrorIn(body)
  if (error.isTold) throw new ReplyFault(errorFailure(error, null, { model: null, withoutSecret }))
  const isAll = tellsEverything(body)
  const models = openAiModels(body, isAll ? null : (studio?.page ?? null))
  if (models === null) throw unreadable("the server's list of models cannot be used: there is no list in it")
  const isForeign = models.some(known => known.entry["max_model_len"] !== undefined || known.studio !== null)
  return { models, isForeign, isHasty: !isAll && studio === null, props }
}

/** Null when nobody knows whether there is one; its page is null when there is none, or none that can be read. */
type MaybePage = { readonly page: Json | null } | null

/** A page that only some servers have. Never throws. */
async function optional(path: string, look: Look): Promise<MaybePage> {
  const { outside } = look.way.paths
  if (outside === null) return { page: null }
  try {
    return { page: await pageAt(outside(path), look) }
  } catch (error) {
    // Servers answer in many ways what they do not have, and no fact hangs on it alone.
    return isUnanswered(failureOf(error).kind) ? null : { page: null }
  }
}

function isUnanswered(kind: ModelFailureKind): boolean {
  return kind === "timeout" || kind === "unavailable" || kind === "aborted"
}

async function pageAt(path: string, { way, limits, signal }: Look): Promise<Json> {
  const { headers } = way
  const sent = await way.transport.send({ method: "GET", path, headers, body: null, limits }, signal)
  return jsonBody(await goodAnswer(sent, way, null))
}

/** Throws what the server says went wrong. */
async function goodAnswer(sent: TransportReply, way: Way, model: string | null): Promise<HttpAnswer> {
  if (sent.kind === "failed") throw new ReplyFault(sent.failure)
  const { status, header } = sent
  if (status >= 200 && status < 300) return sent
  const error = openAiErrorIn(jsonOrText(await errorText(sent)))
  const { clock, withoutSecret } = way
  throw new ReplyFault(errorFailure(error, { status, header, nowMs: clock.now() }, { model, withoutSecret }))
}

/** What stands before a server may answer with a page for people. */
function jsonOrText(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    // Then its words are what there is.
    return text
  }
}

async function answered<Value>(
  { withoutSecret }: Pick<Way, "withoutSecret">,
  signal: AbortSignal,
  look: () => Promise<Value>,
): Promise<Answered<Value>> {
  try {
    return { value: await look() }
  } catch (error) {
    if (signal.aborted) return { failure: abortedFailure }
    const failure = failureOf(error)
    return { failure: { ...failure, message: withoutSecret(failure.message) } }
  }
}

/** Short keys are made up, such as `none`, and hiding them would hide ordinary words. */
function hidden(text: string, apiKey: string | null): string {
  return apiKey === null || apiKey.length < 8 ? text : text.replaceAll(apiKey, "[api key]")
}

/** Where below an endpoint things are; null where it has no such place. */
interface Paths {
  readonly chat: string
  readonly models: string
  /** Things that servers of this machine keep outside of the API that they copy. */
  readonly outside: ((path: string) => string) | null
}

/**
 * People configure `http://127.0.0.1:8080` as well as `http://127.0.0.1:8080/v1`, and other versions where a server has
 * them. A path with a version in it is complete as it is.
 */
export function pathsBelow(endpoint: string): Paths {
  // The path of a socket is no part of what is asked for.
  const base = endpoint.startsWith("unix:") ? "" : endpoint.replace(/\/+$/, "")
  const hasVersion = /\/v\d+[a-z]*\d*(?:\/|$)/i.test(base)
  const api = hasVersion ? "" : "/v1"
  const read = readEndpoint(endpoint)
  const outside = outsideOf(base, hasVersion, read.problem === undefined && read.isLocal)
  return { chat: `${api}/chat/completions`, models: `${api}/models`, outside }
}

/** The company's own servers differ from those that copy them: newer names of fields, nothing but the API itself. */
export function isOpenAiItself(endpoint: string): boolean {
  return /^https:\/\/(?:api\.openai\.com|[\w.-]+\.openai\.azure\.com)(?:[:/]|$)/i.test(endpoint)
}

/** llama.cpp and LM Studio have such pages. Who is elsewhere is not sent a key for what it hardly has. */
function outsideOf(base: string, hasVersion: boolean, isLocal: boolean): Paths["outside"] {
  if (!isLocal) return null
  if (!hasVersion) return path => path
  return base.endsWith("/v1") ? path => `/..${path}` : null
}
