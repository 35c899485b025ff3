import { createConnection, createServer, type Server, type Socket } from "node:net"
import { messageOf } from "../../base/assert.ts"
import { oneLine } from "../../base/text.ts"
import type { Connection, Connections } from "../../domain/connections.ts"
import { type Host, hostText, isLocalName, isPort, placeText, readHost } from "../../domain/hosts.ts"
import type { ProxySettings } from "./contract.ts"
import { answer, readHead, tunnel, type UnreadableRequest } from "./streams.ts"

/** An HTTP proxy for one command. It connects to what the rules allow, and to nothing else. */
export interface CommandProxy {
  /** Serves a listening socket, which it owns from then on. */
  serve(listener: number, target: ProxyTarget): void
  /** Ends every connection. What the command sent before it ended is still delivered, if that is soon. */
  close(): Promise<Connections>
}

/** `requested`: each client says where to. Else every connection leads to this port of this machine. */
export type ProxyTarget = "requested" | { readonly localPort: number }

export function createProxy(settings: ProxySettings): CommandProxy {
  const log = createConnectionLog(settings.limits.listedMax)
  const servers: Server[] = []
  const clients = new Map<Socket, AbortController>()
  const running = new Set<Promise<void>>()
  const closing = new AbortController()
  const accept = (client: Socket, target: ProxyTarget) => {
    // An error is followed by the end of the connection, which is what counts.
    client.on("error", () => undefined)
    if (clients.size >= settings.limits.connectionsMax) {
      log.add({ ...unread, decision: "refused", reason: "too many connections at once" })
      client.destroy()
      return
    }
    const gone = new AbortController()
    clients.set(client, gone)
    client.once("close", () => gone.abort())
    const served = serveClient(settings, client, target, { gone: gone.signal, closing: closing.signal }).then(
      connection => {
        if (connection !== null) log.add(connection)
        client.destroy()
        clients.delete(client)
        running.delete(served)
      },
    )
    running.add(served)
  }
  return {
    serve: (listener, target) => {
      const server = createServer({ allowHalfOpen: true }, client => accept(client, target))
      servers.push(server)
      // A listening socket that fails takes no more connections, and the command sees that.
      server.on("error", () => undefined)
      server.listen({ fd: listener })
    },
    close: async () => {
      for (const server of servers) server.close()
      await Promise.race([Promise.all(running), Bun.sleep(clients.size === 0 ? 0 : deliveryMs)])
      closing.abort()
      for (const [client, gone] of clients) {
        gone.abort()
        client.destroy()
      }
      await Promise.all(running)
      return log.connections()
    },
  }
}

const deliveryMs = 250
const reasonMax = 300

const unread: Connection = {
  host: "",
  port: 0,
  decision: "allowed",
  reason: null,
  address: null,
  count: 1,
  sentBytes: 0,
  receivedBytes: 0,
  durationMs: 0,
}

/** The signals that end the work for a client: it disconnects, or the command is over. */
interface Ends {
  readonly gone: AbortSignal
  readonly closing: AbortSignal
}

/** The target of a connection, what the server is sent first, and whether the client waits for an answer. */
interface Route {
  readonly host: Host
  readonly port: number
  readonly opening: readonly Buffer[]
  readonly kind: "tunnel" | "forward" | "local"
}

/** Serves one client to its end. Null when it asked for nothing. */
async function serveClient(
  settings: ProxySettings,
  client: Socket,
  target: ProxyTarget,
  { gone, closing }: Ends,
): Promise<Connection | null> {
  const { clock, limits } = settings
  const beganMs = clock.monotonicMs()
  const route = target === "requested" ? await requestedRoute(settings, client) : localRoute(target.localPort)
  if (route === null) return null
  if ("status" in route) {
    await answer(client, route.status, route.problem)
    return { ...unread, decision: "refused", reason: route.problem }
  }
  const { host, port, opening, kind } = route
  const known = { ...unread, host: hostText(host), port }
  const durationMs = () => Math.round(clock.monotonicMs() - beganMs)
  try {
    const { socket: server, address } = await dial(settings, host, port, gone)
    if (kind === "tunnel") client.write("HTTP/1.1 200 Connection established\r\n\r\n")
    const passed = await tunnel(client, server, opening, { idleMs: limits.idleMs, closing })
    return { ...known, address, ...passed, durationMs: durationMs() }
  } catch (error) {
    const isRefused = error instanceof NotReached && error.isRefused
    const reason = oneLine(messageOf(error), reasonMax)
    if (kind !== "local") await answer(client, isRefused ? 403 : 502, `${placeText(host, port)}: ${reason}`)
    return { ...known, decision: isRefused ? "refused" : "failed", reason, durationMs: durationMs() }
  }
}

async function requestedRoute(
  { limits }: ProxySettings,
  client: Socket,
): Promise<Route | UnreadableRequest | null> {
  const read = await readHead(client, limits)
  if (read === null || "status" in read) return read
  const request = readRequestHead(read.head)
  if (request.kind === "malformed") return { status: 400, problem: request.problem }
  const { kind, host, port } = request
  return { kind, host, port, opening: kind === "forward" ? [request.head, read.rest] : [read.rest] }
}

function localRoute(port: number): Route | null {
  const host = readHost("localhost")
  return host === null ? null : { kind: "local", host, port, opening: [] }
}

/** Records the connections of one command. It stays small however many there are. */
interface ConnectionLog {
  add(connection: Connection): void
  connections(): Connections
}

function createConnectionLog(listedMax: number): ConnectionLog {
  const listed: Connection[] = []
  const refusals = new Map<string, number>()
  const more = { count: 0, refused: 0, sentBytes: 0, receivedBytes: 0 }
  return {
    add: connection => {
      const key = connection.decision === "refused" ? keyOf(connection) : null
      const known = key === null ? undefined : refusals.get(key)
      const alike = known === undefined ? undefined : listed[known]
      if (known !== undefined && alike !== undefined) {
        listed[known] = { ...alike, count: alike.count + 1 }
      } else if (listed.length < listedMax) {
        if (key !== null) refusals.set(key, listed.length)
        listed.push(connection)
      } else {
        more.count += 1
        more.refused += connection.decision === "refused" ? 1 : 0
        more.sentBytes += connection.sentBytes
        more.receivedBytes += connection.receivedBytes
      }
    },
    connections: () => ({ listed: [...listed], more: more.count === 0 ? null : { ...more } }),
  }
}

function keyOf({ host, port, reason }: Connection): string {
  return JSON.stringify([host, port, reason])
}

/** The reason why no connection was made: it was refused, or it failed. */
class NotReached extends Error {
  constructor(
    message: string,
    readonly isRefused: boolean,
  ) {
    super(message)
  }
}

interface Dialled {
  readonly socket: Socket
  readonly address: string
}

/**
 * Connects to a host if that is allowed. The name is looked up once, and the connection goes to an address that was
 * checked: what the name stands for a moment later does not matter. One address that is refused is enough to refuse
 * the name, because it says that the name does not lead where it is taken to lead.
 */
async function dial(
  { rules, resolveHost, limits }: ProxySettings,
  host: Host,
  port: number,
  gone: AbortSignal,
): Promise<Dialled> {
  const refusal = rules.refusalOf(host, port)
  if (refusal !== null) throw new NotReached(refusal, true)
  const addresses = await addressesOf(host, name => within(resolveHost(name), limits.resolveMs, gone))
  for (const address of addresses) {
    const why = rules.refusalOfAddress(address, host, port)
    if (why !== null) throw new NotReached(why, true)
  }
  let last: unknown = new Error("it has no address")
  for (const address of addresses.slice(0, addressesMax)) {
    if (gone.aborted) break
    try {
      return { socket: await connected(address, port, limits.connectMs, gone), address }
    } catch (error) {
      last = error
    }
  }
  throw new NotReached(`it cannot be reached: ${messageOf(last)}`, false)
}

/** A name with many addresses must not keep a client waiting for all of them. */
const addressesMax = 6

async function addressesOf(
  host: Host,
  resolve: (name: string) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  if (host.address !== null) return [host.name]
  if (isLocalName(host)) return ["127.0.0.1", "::1"]
  try {
    return [...new Set(await resolve(host.name))]
  } catch (error) {
    throw new NotReached(`the name cannot be resolved: ${messageOf(error)}`, false)
  }
}

function connected(address: string, port: number, timeoutMs: number, gone: AbortSignal): Promise<Socket> {
  const socket = createConnection({ host: address, port, allowHalfOpen: true })
  const connecting = new Promise<Socket>((resolve, reject) => {
    socket.once("connect", () => resolve(socket))
    socket.once("error", reject)
  })
  return within(connecting, timeoutMs, gone).catch((error: unknown) => {
    // Its late errors concern no connection any more.
    socket.on("error", () => undefined)
    socket.destroy()
    throw error
  })
}

/** Waits no longer than this, and only as long as the client is there. */
async function within<Value>(work: Promise<Value>, timeoutMs: number, gone: AbortSignal): Promise<Value> {
  const { promise, reject } = Promise.withResolvers<never>()
  const leave = () => reject(new Error("the client has gone"))
  const timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs / 1000} s`)), timeoutMs)
  gone.addEventListener("abort", leave, { once: true })
  if (gone.aborted) leave()
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
    gone.removeEventListener("abort", leave)
  }
}

/** One request of a client of the proxy. */
type ProxyRequest =
  | { readonly kind: "tunnel"; readonly host: Host; readonly port: number }
  /** One HTTP request, and its head as the server is to see it. */
  | { readonly kind: "forward"; readonly host: Host; readonly port: number; readonly head: Buffer }
  | { readonly kind: "malformed"; readonly problem: string }

/**
 * Reads the head of a request up to and with its empty line. Strict: what two readers could understand differently is
 * refused. The host is the one in the first line; a `Host` header counts for nothing and is replaced by it.
 */
export function readRequestHead(head: Buffer): ProxyRequest {
  const [first = "", ...rest] = head.toString("latin1").split("\r\n")
  const fields = rest.slice(0, -2)
  const line = /^([!#$%&'*+.^_`|~0-9A-Za-z-]{1,32}) (\S+) HTTP\/1\.([01])$/.exec(first)
  if (line === null) return malformed("the first line is not one of HTTP/1.1")
  const wrong = fields.find(field => !fieldPattern.test(field))
  if (wrong !== undefined) return malformed("a header is not of the form NAME: VALUE")
  const [, method = "", target = "", minor = ""] = line
  if (method === "CONNECT") return readTunnel(target)
  return readForward(method, target, minor, fields)
}

const fieldPattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t -~\u0080-\u00ff]*$/
const authority = "(\\[[0-9A-Fa-f:.]+\\]|[^:[\\]/?#@\\\\]+)"
const tunnelTarget = new RegExp(`^${authority}:(\\d{1,5})$`)
const forwardTarget = new RegExp(`^http://${authority}(?::(\\d{1,5}))?((?:[/?][^#]*)?)$`, "i")

function readTunnel(target: string): ProxyRequest {
  const [, name = "", digits = ""] = tunnelTarget.exec(target) ?? []
  const [host, port] = [readHost(name), Number(digits)]
  if (host === null || !isPort(port)) return malformed("CONNECT names no host and port")
  return { kind: "tunnel", host, port }
}

function readForward(method: string, target: string, minor: string, fields: readonly string[]): ProxyRequest {
  const parts = forwardTarget.exec(target)
  if (parts === null) return malformed("the request is neither CONNECT nor for an http:// address")
  const [, name = "", digits = "80", path = ""] = parts
  const [host, port] = [readHost(name), Number(digits)]
  if (host === null || !isPort(port)) return malformed("the request names no host that can be used")
  const place = path.startsWith("/") ? path : `/${path}`
  const shown = port === 80 ? name : `${name}:${port}`
  const kept = fields.filter(field => !ownFields.has(field.slice(0, field.indexOf(":")).toLowerCase()))
  // One request for each connection: the next one may be for another host.
  const lines = [`${method} ${place} HTTP/1.${minor}`, `Host: ${shown}`, ...kept, "Connection: close"]
  return { kind: "forward", host, port, head: Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1") }
}

/** Header fields between the client and the proxy, and the host, which is known from the first line. */
const ownFields: ReadonlySet<string> = new Set([
  "host",
  "connection",
  "proxy-connection",
  "proxy-authorization",
  "keep-alive",
])

function malformed(problem: string): ProxyRequest {
  return { kind: "malformed", problem }
}
