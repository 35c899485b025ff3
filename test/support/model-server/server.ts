import { once } from "node:events"
import { createServer, type Socket } from "node:net"
import { chatActs } from "./chat.ts"
import type { Act, FakeModel, FakeServer, ModelServerOptions, Received } from "./contract.ts"
import { wires } from "./encode.ts"
import { wholeJson } from "./http.ts"
import { type ParsedRequest, requestReader } from "./http-request.ts"
import { listing } from "./listings.ts"
import { refusal, type ServerKind } from "./refusals.ts"

const someModel: FakeModel = {
  name: "fake",
  trainedTokens: 131_072,
  loadedTokens: 8192,
  parameters: "8.0B",
  tools: true,
}

/** A model server on a port of this machine. It speaks HTTP by hand, so that a test decides about every byte. */
export async function startModelServer(options: ModelServerOptions): Promise<FakeServer> {
  const requests: Received[] = []
  const chats: Received[] = []
  const sockets = new Set<Socket>()
  let all = 0
  const server = createServer({ noDelay: true }, socket => {
    all += 1
    sockets.add(socket)
    socket.on("close", () => sockets.delete(socket))
    // The other side may go whenever it likes.
    socket.on("error", () => socket.destroy())
    serve(socket, request => {
      const received = receivedOf(options, request)
      requests.push(received)
      const isChat = request.method === "POST" && request.path === wires[options.protocol].chatPath
      if (isChat) chats.push(received)
      return isChat ? chatActs(options, received, chats.length - 1) : [{ send: sidePath(options, request) }]
    })
  })
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return {
    endpoint: `http://127.0.0.1:${port}`,
    requests,
    chats,
    get connections() {
      return { open: sockets.size, all }
    },
    async [Symbol.asyncDispose]() {
      const ended = [...sockets].map(socket => once(socket, "close"))
      const closed = new Promise<void>(resolve => server.close(() => resolve()))
      for (const socket of sockets) socket.destroy()
      await Promise.all([closed, ...ended])
    },
  }
}

/** Requests of one connection are answered one after the other, as HTTP/1.1 has it. */
function serve(socket: Socket, answer: (request: ParsedRequest) => readonly Act[]): void {
  let before = Promise.resolve()
  const read = requestReader(request => {
    before = before.then(() => perform(socket, answer(request)))
  })
  socket.on("data", read)
}

async function perform(socket: Socket, acts: readonly Act[]): Promise<void> {
  for (const act of acts) {
    if (socket.destroyed) return
    if ("send" in act) await new Promise<void>(resolve => socket.write(act.send, () => resolve()))
    else if ("waitMs" in act) await paused(socket, act.waitMs)
    else if ("close" in act) socket.end()
    else if ("reset" in act) socket.resetAndDestroy()
    else await paused(socket, null)
  }
}

/** Until then or until the connection is gone; null waits for that alone. */
async function paused(socket: Socket, ms: number | null): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = ms === null ? null : setTimeout(resolve, ms)
  socket.once("close", resolve)
  await promise
  socket.off("close", resolve)
  if (timer !== null) clearTimeout(timer)
}

function receivedOf({ protocol, native = true, schemas = true }: ModelServerOptions, request: ParsedRequest) {
  return { ...request, protocol, callsTools: native, followsSchemas: schemas }
}

function sidePath(options: ModelServerOptions, request: ParsedRequest): Uint8Array {
  const kind: ServerKind = { protocol: options.protocol, flavour: options.flavour ?? "plain" }
  if (!hasKey(options, request)) return refusal(kind, 401, "invalid x-api-key")
  const found = listing(kind, request, options.models ?? [someModel])
  if (found !== null) return wholeJson(200, found)
  return refusal(kind, 404, `${request.path} not found`)
}

function hasKey({ key }: ModelServerOptions, { headers }: ParsedRequest): boolean {
  return key === undefined || headers["x-api-key"] === key || headers["authorization"] === `Bearer ${key}`
}
