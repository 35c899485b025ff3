import { expect } from "bun:test"
import { createServer } from "node:net"
import type { ModelItem, ModelReply, ModelRequest } from "../../../src/provider/contract.ts"
import { collect } from "../../../src/provider/reply.ts"
import type { ModelServer, ModelSettings } from "../../../src/provider/server.ts"
import type { Transport, TransportLimits } from "../../../src/provider/transport/contract.ts"
import { readEndpoint } from "../../../src/provider/transport/endpoint.ts"
import { openTransport } from "../../../src/provider/transport/http.ts"
import { eventually } from "../../support/eventually.ts"
import { nothingLeaves } from "../../support/external-calls.ts"
import { startModelServer } from "../../support/model-server/server.ts"
import type { Bench, FaultCase, Outcome } from "./fault-case.ts"
import { apiKey } from "./status-cases.ts"

export type Create = (transport: Transport) => ModelServer

const patient: TransportLimits = { connectMs: 5000, firstByteMs: 5000, betweenMs: 5000, wholeMs: 10_000 }

/** Has a real provider meet one case over real HTTP, and looks at what came of it. */
export async function runCase(bench: Bench, create: Create, fault: FaultCase): Promise<void> {
  const controller = new AbortController()
  if (fault.abort === "before") controller.abort()
  await using server = await startModelServer({
    protocol: bench.protocol,
    flavour: fault.flavour ?? bench.flavour,
    ...(fault.window === undefined ? {} : { window: fault.window }),
    answer: () => {
      if (fault.abort === "sent") controller.abort()
      return fault.fault
    },
  })
  const endpoint = fault.isRefused ? await freeEndpoint() : server.endpoint
  const provider = create(transportTo(endpoint)).provider(settingsOf(bench, fault.limits))
  const items: ModelItem[] = []
  for await (const item of provider.ask(requestOf(fault), controller.signal)) {
    items.push(item)
    if (item.kind === "text" && fault.abort === "text") controller.abort()
  }
  const ends = items.filter(({ kind }) => kind === "end" || kind === "failure")
  expect(ends.length).toBe(1)
  expect(items.at(-1)).toBe(ends[0] as ModelItem)
  const reply = await collect(replayed(items), new AbortController().signal)
  expectOutcome(reply, fault.wanted)
  expect(JSON.stringify(reply.failure)).not.toContain(apiKey)
  expect(server.requests.every(({ path }) => path !== "/elsewhere")).toBe(true)
  expect(server.chats.length).toBe(fault.isRefused || fault.abort === "before" ? 0 : 1)
  if (fault.abort !== "before")
    await eventually("the connection is gone", () => server.connections.open === 0, { everyMs: 1 })
}

export function transportTo(endpoint: string): Transport {
  const read = readEndpoint(endpoint)
  if ("problem" in read) throw new Error(read.problem)
  return openTransport({
    endpoint: read,
    egress: { mode: "local-only", configured: endpoint, consented: null },
    externalCalls: nothingLeaves,
  })
}

export function settingsOf({ streams }: Bench, limits: Partial<TransportLimits> = {}): ModelSettings {
  return {
    model: "fake",
    windowTokens: 8192,
    outputTokensMax: 1000,
    temperature: 0,
    topP: null,
    keepAlive: "5m",
    streams,
    limits: { ...patient, ...limits },
  }
}

export const request: ModelRequest = {
  stage: "executor",
  replyIndex: 3,
  model: "fake",
  messages: [
    { role: "system", text: "Do what is asked." },
    { role: "user", text: "read a.txt" },
  ],
  tools: [
    {
      name: "read_file",
      description: "Reads a file.",
      parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
    },
  ],
  format: null,
  outputTokensMax: null,
}

function requestOf({ window }: FaultCase): ModelRequest {
  if (window === undefined) return request
  return { ...request, messages: [{ role: "user", text: "word ".repeat((window * 12) / 5) }] }
}

/** A port on which nobody listens: one that was free a moment ago. */
async function freeEndpoint(): Promise<string> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  await new Promise<void>(resolve => server.close(() => resolve()))
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`
}

async function* replayed(items: readonly ModelItem[]): AsyncGenerator<ModelItem> {
  yield* items
}

function expectOutcome(reply: ModelReply, wanted: readonly Outcome[]): void {
  const got = shortOf(reply)
  expect(wanted.some(outcome => fits(reply, outcome)) ? wanted : { wanted, got }).toEqual(wanted)
}

function fits(reply: ModelReply, outcome: Outcome): boolean {
  const { failure } = reply
  if ("failure" in outcome) {
    if (failure === null || reply.calls.length > 0) return false
    return (
      failure.kind === outcome.failure &&
      failure.retryable === outcome.retryable &&
      isWithin(failure.retryAfterMs, outcome.retryAfterMs)
    )
  }
  const { end, text, calls, callCount, usage, hasProblems } = outcome
  const ids = new Set(reply.calls.map(({ id }) => id))
  if (failure !== null || reply.end !== end || ids.size < reply.calls.length || ids.has("")) return false
  if (text !== undefined && reply.text !== text) return false
  if (callCount !== undefined && reply.calls.length !== callCount) return false
  if (usage !== undefined && !Bun.deepEquals(reply.usage, usage)) return false
  if (hasProblems !== undefined && reply.problems.length > 0 !== hasProblems) return false
  return calls === undefined || Bun.deepEquals(reply.calls.map(withoutId), calls)
}

function withoutId({ tool, arguments: args }: ModelReply["calls"][number]) {
  return { tool, arguments: args }
}

function isWithin(ms: number | null, wanted: number | null | readonly [number, number]): boolean {
  if (typeof wanted !== "object" || wanted === null) return ms === wanted
  return ms !== null && ms >= wanted[0] && ms <= wanted[1]
}

/** What a person needs to see of a reply that was not wanted. */
function shortOf(reply: ModelReply): unknown {
  const { text, calls, ...others } = reply
  return { ...others, text: text.slice(0, 200), calls: JSON.stringify(calls).slice(0, 300) }
}
