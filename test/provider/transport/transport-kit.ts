import { createServer, type Server, type Socket } from "node:net"
import { join } from "node:path"
import { assert } from "../../../src/base/assert.ts"
import type { ModelFailure } from "../../../src/provider/contract.ts"
import { ReplyFault } from "../../../src/provider/reply-fault.ts"
import type { PieceReader } from "../../../src/provider/streamed-items.ts"
import type {
  Egress,
  Endpoint,
  ExternalCallLog,
  TransportReply,
} from "../../../src/provider/transport/contract.ts"
import { readEndpoint } from "../../../src/provider/transport/endpoint.ts"
import { openTransport } from "../../../src/provider/transport/http.ts"
import { unheard } from "../../support/external-calls.ts"

/** A server that answers with bytes, so that it can answer in ways no HTTP server would. */
export interface RawServer extends Disposable {
  readonly port: number
  /** What each connection said; one that only knocked said nothing. */
  readonly requests: readonly string[]
  /** Connections that are open now. */
  readonly open: () => number
  /** All connections there were. */
  readonly connections: () => number
}

export async function rawServer(
  answer: (socket: Socket, request: string) => void,
  place: { readonly host: string; readonly port?: number } | { readonly path: string } = {
    host: "127.0.0.1",
  },
): Promise<RawServer> {
  const requests: string[] = []
  const sockets = new Set<Socket>()
  let connections = 0
  const server = createServer(socket => {
    connections++
    sockets.add(socket)
    socket.on("close", () => sockets.delete(socket))
    // A client that hangs up in the middle is what many tests are about.
    socket.on("error", () => undefined)
    let request = ""
    socket.on("data", bytes => {
      const isNew = request === ""
      request += bytes.toString()
      if (isNew) queueMicrotask(() => answer(socket, request))
      if (isNew) requests.push(request)
    })
  })
  await new Promise<void>(resolve => server.listen("path" in place ? place : { port: 0, ...place }, resolve))
  const stop = () => {
    for (const socket of sockets) socket.destroy()
    server.close()
  }
  return {
    port: portOf(server),
    requests,
    open: () => sockets.size,
    connections: () => connections,
    [Symbol.dispose]: stop,
  }
}

function portOf(server: Server): number {
  const address = server.address()
  return typeof address === "object" && address !== null ? address.port : 0
}

export function endpointOf(text: string): Endpoint {
  const endpoint = readEndpoint(text)
  assert(endpoint.problem === undefined, `${endpoint.problem}`)
  return endpoint
}

export const localOnly: Egress = { mode: "local-only", configured: null, consented: null }

export const patient = { connectMs: 60_000, firstByteMs: 60_000, betweenMs: 60_000, wholeMs: 60_000 }

export interface Sent {
  readonly path?: string
  readonly method?: "GET" | "POST"
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly limits?: Partial<typeof patient>
  readonly signal?: AbortSignal
}

export function sendTo(
  endpoint: string,
  sent: Sent = {},
  egress: Egress = localOnly,
  externalCalls: ExternalCallLog = unheard,
): Promise<TransportReply> {
  const { path = "/", method = "GET", headers = {}, body = null, limits, signal } = sent
  const transport = openTransport({ endpoint: endpointOf(endpoint), egress, externalCalls })
  return transport.send(
    { method, path, headers, body, limits: { ...patient, ...limits } },
    signal ?? new AbortController().signal,
  )
}

export type Answered = Extract<TransportReply, { kind: "answered" }>

export async function answerOf(reply: Promise<TransportReply>): Promise<Answered> {
  const settled = await reply
  if (settled.kind === "failed") throw new Error(`failed: ${JSON.stringify(settled.failure)}`)
  return settled
}

export async function textOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = []
  for await (const chunk of chunks) parts.push(chunk)
  return Buffer.concat(parts).toString("utf8")
}

/** The failure, whether it came before the answer or in the middle of it. */
export async function failureOfReply(reply: Promise<TransportReply>): Promise<ModelFailure> {
  const settled = await reply
  if (settled.kind === "failed") return settled.failure
  return faultOf(textOf(settled.chunks))
}

export async function faultOf(reading: Promise<unknown> | (() => unknown)): Promise<ModelFailure> {
  const thrown = await Promise.try(() => (typeof reading === "function" ? reading() : reading)).then(
    value => new Error(`nothing was thrown: ${JSON.stringify(value)}`),
    error => error,
  )
  if (thrown instanceof ReplyFault) return thrown.failure
  throw thrown
}

/** What a reader of chunks hands on of these. */
export function takenFrom<Piece>(
  pieces: readonly (string | Uint8Array)[],
  open: (next: PieceReader<Piece>) => PieceReader<Uint8Array>,
): readonly Piece[] {
  const taken: Piece[] = []
  const ends: true[] = []
  const reader = open({ take: piece => void taken.push(piece), end: () => void ends.push(true) })
  for (const piece of pieces) reader.take(typeof piece === "string" ? Buffer.from(piece) : piece)
  const endsBefore = ends.length
  reader.end()
  assert(endsBefore === 0 && ends.length === 1, "whoever comes next is told of the end, and once")
  return taken
}

export async function* chunksOf(...pieces: readonly (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) yield typeof piece === "string" ? Buffer.from(piece) : piece
}

export async function listOf<Value>(values: AsyncIterable<Value>): Promise<Value[]> {
  const list: Value[] = []
  for await (const value of values) list.push(value)
  return list
}

/** The bytes cut at these places, which may be in any order and repeat. */
export function cutAt(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const cuts = [...places.map(place => place % (bytes.length + 1)), bytes.length].sort((a, b) => a - b)
  let from = 0
  return cuts.map(to => {
    const piece = bytes.subarray(from, to)
    from = to
    return piece
  })
}

/** Runs one request in a process of its own and gives what it wrote. */
export async function sendFromProgram(
  sent: { readonly endpoint: string; readonly egress: Egress },
  {
    before = [],
    environment = {},
  }: { before?: readonly string[]; environment?: Record<string, string> } = {},
): Promise<{ readonly told: unknown; readonly stdout: string; readonly stderr: string }> {
  const program = [process.execPath, join(import.meta.dir, "transport-program.ts"), JSON.stringify(sent)]
  const child = Bun.spawn([...before, ...program], {
    env: { PATH: process.env["PATH"] ?? "", ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  })
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()])
  const last = stdout.trim().split("\n").at(-1) ?? ""
  if ((await child.exited) !== 0) throw new Error(`the program failed: ${stdout}${stderr}`)
  return { told: JSON.parse(last), stdout, stderr }
}
