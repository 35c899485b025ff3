import { assert } from "../../../../src/base/assert.ts"
import type { Json } from "../../../../src/base/canonical.ts"
import type { ModelItem } from "../../../../src/provider/contract.ts"
import { createOllama } from "../../../../src/provider/protocols/ollama/server.ts"
import type { ModelServer, ModelSettings } from "../../../../src/provider/server.ts"
import type { TransportLimits } from "../../../../src/provider/transport/contract.ts"
import { readEndpoint } from "../../../../src/provider/transport/endpoint.ts"
import { openTransport } from "../../../../src/provider/transport/http.ts"
import { nothingLeaves } from "../../../support/external-calls.ts"
import type { Act, Fault } from "../../../support/model-server/contract.ts"
import { bytes, chunked, chunkedHead, lastChunk, wholeJson } from "../../../support/model-server/http.ts"

/** Long enough for a busy machine. */
export const limits: TransportLimits = {
  connectMs: 10_000,
  firstByteMs: 10_000,
  betweenMs: 10_000,
  wholeMs: 30_000,
}

export function settingsOf(changes: Partial<ModelSettings> = {}): ModelSettings {
  return {
    model: "fake",
    windowTokens: 8192,
    outputTokensMax: 1024,
    temperature: null,
    topP: null,
    keepAlive: "30m",
    streams: true,
    limits,
    ...changes,
  }
}

export function ollamaAt(endpoint: string, now?: () => number): ModelServer {
  const reading = readEndpoint(endpoint)
  assert(reading.problem === undefined, `the endpoint of a test can be used: ${reading.problem}`)
  const egress = { mode: "local-only", configured: endpoint, consented: null } as const
  return createOllama(openTransport({ endpoint: reading, egress, externalCalls: nothingLeaves }), now)
}

/** Lines exactly as they are, each a piece of its own, and then whatever else happens. */
export function streaming(
  lines: readonly (Json | { readonly raw: string })[],
  ...then: readonly Act[]
): Fault {
  const text = (line: Json | { readonly raw: string }) =>
    typeof line === "object" && line !== null && "raw" in line && typeof line.raw === "string"
      ? line.raw
      : JSON.stringify(line)
  const pieces = lines.map(line => ({ send: chunked(bytes(`${text(line)}\n`)) }))
  const after = then.length === 0 ? [{ send: lastChunk }] : then
  return { acts: [{ send: chunkedHead("application/x-ndjson") }, ...pieces, ...after] }
}

export function answering(status: number, body: Json, headers: Record<string, string> = {}): Fault {
  return { acts: [{ send: wholeJson(status, body, headers) }] }
}

export function part(content: string): Json {
  return { model: "fake", message: { role: "assistant", content }, done: false }
}

export function done(more: Record<string, Json> = {}): Json {
  return {
    model: "fake",
    message: { role: "assistant", content: "" },
    done: true,
    done_reason: "stop",
    ...more,
  }
}

export function lastOf(items: readonly ModelItem[]): ModelItem {
  const last = items.at(-1)
  assert(last !== undefined, "a reply has an end")
  return last
}

/** Kind and message, which is what is told of a failure. */
export function failureIn(items: readonly ModelItem[]): { readonly kind: string; readonly message: string } {
  const last = lastOf(items)
  assert(last.kind === "failure", `it ended with a failure: ${JSON.stringify(last)}`)
  return last.failure
}
