import type { Act, FakeReply, ModelServerOptions, Received } from "./contract.ts"
import { wires } from "./encode.ts"
import { bytes, chunked, chunkedHead, lastChunk, whole } from "./http.ts"
import { at } from "./json.ts"
import { asForced, asText } from "./ladder-text.ts"
import { overflow, refusal, type ServerKind } from "./refusals.ts"
import { type RequestFacts, requestFacts } from "./request-facts.ts"
import { invalidRequest } from "./validate.ts"
import { type Encoding, jsonText } from "./wire/wire.ts"

/** Returns what the server sends for one chat request. */
export function chatActs(options: ModelServerOptions, received: Received, index: number): readonly Act[] {
  const facts = requestFacts(options.protocol, received.body)
  const refused = refusedAtOnce(options, received, facts)
  if (refused !== null) return [{ send: refused }]
  const answer = options.answer(received, index)
  if ("acts" in answer) return answer.acts
  const written = received.callsTools ? answer : asText(answer, facts, received.followsSchemas)
  const reply = received.followsSchemas ? asForced(written, facts) : written
  const encoding = { ...facts, promptTokens: countedTokens(options, facts, received) }
  const acts = encodedActs(options, reply, facts.streams, encoding)
  return reply.delayMs === undefined ? acts : [{ waitMs: reply.delayMs }, ...acts]
}

function refusedAtOnce(
  { protocol, flavour = "plain", models, window, key }: ModelServerOptions,
  { headers, body }: Received,
  facts: RequestFacts,
): Uint8Array | null {
  const kind: ServerKind = { protocol, flavour }
  if (key !== undefined && headers["x-api-key"] !== key && headers["authorization"] !== `Bearer ${key}`)
    return refusal(kind, 401, protocol === "anthropic" ? "invalid x-api-key" : "Incorrect API key provided")
  if (protocol === "anthropic" && headers["anthropic-version"] === undefined)
    return refusal(kind, 400, "anthropic-version: header is required")
  const invalid = invalidRequest(protocol, body)
  if (invalid !== null) return refusal(kind, 400, invalid)
  if (models !== undefined && flavour !== "llamacpp" && !models.some(({ name }) => name === facts.model))
    return refusal(kind, 404, `model '${facts.model}' not found`)
  return window !== undefined && facts.promptTokens > window
    ? overflow(kind, facts.promptTokens, window)
    : null
}

/**
 * Ollama cuts what does not fit into the window it has or was asked for, and counts what is left; the others have
 * refused by now.
 */
function countedTokens(
  { protocol, window = Number.POSITIVE_INFINITY }: ModelServerOptions,
  { promptTokens }: RequestFacts,
  { body }: Received,
): number {
  const asked = at(body, "options", "num_ctx")
  const fits = Math.min(window, protocol === "ollama" && typeof asked === "number" ? asked : window)
  return promptTokens <= fits ? promptTokens : Math.ceil(fits / 2)
}

function encodedActs(
  { protocol }: ModelServerOptions,
  reply: FakeReply,
  streams: boolean,
  encoding: Encoding,
): readonly Act[] {
  const wire = wires[protocol]
  if (!streams) return [{ send: whole(200, bytes(jsonText(wire.whole(reply, encoding)))) }]
  const pieces = wire.events(reply, encoding).map(event => chunked(wire.frame(event)))
  return [chunkedHead(wire.streamType), ...pieces, lastChunk].map(send => ({ send }))
}
