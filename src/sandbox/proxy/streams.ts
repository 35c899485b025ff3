import type { Socket } from "node:net"
import type { Connection } from "../../domain/connections.ts"
import type { ProxyLimits } from "./contract.ts"

export interface UnreadableRequest {
  readonly status: 400 | 408 | 431
  readonly problem: string
}

const endOfHead = Buffer.from("\r\n\r\n")

/** Reads from a client up to the end of its first head. Null when it went without a word. */
export function readHead(
  client: Socket,
  { headBytesMax, headMs }: Pick<ProxyLimits, "headBytesMax" | "headMs">,
): Promise<{ readonly head: Buffer; readonly rest: Buffer } | UnreadableRequest | null> {
  const { promise, resolve } = Promise.withResolvers<Awaited<ReturnType<typeof readHead>>>()
  let read: Buffer = Buffer.alloc(0)
  const onData = (chunk: Buffer) => {
    const searchFrom = Math.max(0, read.length - endOfHead.length)
    read = read.length === 0 ? chunk : Buffer.concat([read, chunk])
    const end = read.indexOf(endOfHead, searchFrom)
    if (end >= 0 && end <= headBytesMax) {
      const headBytes = end + endOfHead.length
      resolve({ head: read.subarray(0, headBytes), rest: read.subarray(headBytes) })
    } else if (read.length > headBytesMax) {
      resolve({ status: 431, problem: `the head of the request is longer than ${headBytesMax} bytes` })
    }
  }
  const onEnd = () =>
    resolve(read.length === 0 ? null : { status: 400, problem: "the request is incomplete" })
  const timer = setTimeout(
    () => resolve({ status: 408, problem: `the request did not arrive within ${headMs / 1000} s` }),
    headMs,
  )
  client.on("data", onData)
  client.once("end", onEnd)
  client.once("close", onEnd)
  return promise.finally(() => {
    clearTimeout(timer)
    client.pause()
    client.off("data", onData)
    client.off("end", onEnd)
    client.off("close", onEnd)
  })
}

const reasons = {
  400: "Bad Request",
  403: "Forbidden",
  408: "Request Timeout",
  431: "Request Header Fields Too Large",
  502: "Not Reached",
} as const

/** Sends the client an error. It may still be sending: unread bytes would reset the connection before the answer. */
export async function answer(client: Socket, status: keyof typeof reasons, text: string): Promise<void> {
  const body = `acode: ${text}\n`
  const head = [
    `HTTP/1.1 ${status} ${reasons[status]}`,
    "Content-Type: text/plain; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Connection: close",
  ]
  if (client.destroyed) return
  const { promise, resolve } = Promise.withResolvers<void>()
  client.once("close", resolve)
  client.once("end", resolve)
  client.resume()
  client.end(`${head.join("\r\n")}\r\n\r\n${body}`)
  const timer = setTimeout(resolve, lingerMs)
  await promise
  clearTimeout(timer)
}

const lingerMs = 1_000

type Passed = Pick<Connection, "sentBytes" | "receivedBytes" | "reason">

/** Passes bytes in both directions until both ends are done, one fails, or nothing came for too long. */
export function tunnel(
  client: Socket,
  server: Socket,
  opening: readonly Buffer[],
  { idleMs, closing }: { readonly idleMs: number; readonly closing: AbortSignal },
): Promise<Passed> {
  const { promise, resolve } = Promise.withResolvers<Passed>()
  let [sentBytes, receivedBytes, reason]: [number, number, string | null] = [0, 0, null]
  const end = (why: string | null) => {
    reason ??= why
    client.destroy()
    server.destroy()
  }
  const idle = setTimeout(() => end(`nothing was sent for ${idleMs / 1000} s`), idleMs)
  const stop = () => end(null)
  closing.addEventListener("abort", stop, { once: true })
  const closed = (other: Socket) => {
    if (!other.destroyed) return endAfter(other)
    clearTimeout(idle)
    closing.removeEventListener("abort", stop)
    resolve({ sentBytes, receivedBytes, reason })
  }
  client.once("close", () => closed(server))
  server.once("close", () => closed(client))
  for (const socket of [client, server]) socket.once("error", stop)
  for (const chunk of opening) {
    sentBytes += chunk.length
    if (chunk.length > 0) server.write(chunk)
  }
  client.on("data", chunk => {
    sentBytes += chunk.length
    idle.refresh()
  })
  server.on("data", chunk => {
    receivedBytes += chunk.length
    idle.refresh()
  })
  client.pipe(server)
  server.pipe(client)
  if (closing.aborted) stop()
  // It disconnected while the server was connected to: that end is not reported again.
  if (client.destroyed) closed(server)
  return promise
}

/** Ends the socket of a client that has disconnected. What was sent before a proper end is still delivered. */
function endAfter(socket: Socket): void {
  if (!socket.writableEnded || socket.writableFinished) socket.destroy()
  else socket.once("finish", () => socket.destroy())
}
