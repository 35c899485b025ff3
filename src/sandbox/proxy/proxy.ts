import { createServer, type Server, type Socket } from "node:net"
import { messageOf } from "../../base/assert.ts"
import { oneLine } from "../../base/text.ts"
import type { Connection, Connections } from "../../domain/connections.ts"
import { type Host, hostText, placeText, readHost } from "../../domain/hosts.ts"
import { createConnectionLog } from "./connection-log.ts"
import type { ProxySettings } from "./contract.ts"
import { dial, NotReached } from "./dial.ts"
import { readRequestHead } from "./request-head.ts"
import { answer, readHead, tunnel, type Unreadable } from "./streams.ts"

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

/** What ends the work for a client: that it goes, or that the command is over. */
interface Ends {
  readonly gone: AbortSignal
  readonly closing: AbortSignal
}

/** Where a connection is to lead, what the server is sent first, and whether the client waits for a word. */
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

async function requestedRoute({ limits }: ProxySettings, client: Socket): Promise<Route | Unreadable | null> {
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
