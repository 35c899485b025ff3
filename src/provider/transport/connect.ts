import type { Endpoint } from "./contract.ts"

/**
 * Connects once, sends nothing and hangs up, because a request does not tell when it is connected, and a server that
 * is not there is not to be waited for as long as one that thinks. Throws the system's error.
 */
export async function connect(endpoint: Endpoint, signal: AbortSignal): Promise<void> {
  const url = new URL(endpoint.url)
  const port = Number(url.port) || (url.protocol === "https:" ? 443 : 80)
  const host = url.hostname.replace(/^\[|\]$/g, "")
  // Bun's own sockets cannot be called off while they connect, and would keep a finished process waiting. Loaded
  // here, because it takes longer to load than everything else at the start.
  const { createConnection } = await import("node:net")
  signal.throwIfAborted()
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const socket = createConnection(endpoint.socket === null ? { host, port } : { path: endpoint.socket })
  const callOff = () => reject(signal.reason)
  signal.addEventListener("abort", callOff)
  socket.on("connect", resolve)
  socket.on("error", reject)
  try {
    await promise
  } finally {
    signal.removeEventListener("abort", callOff)
    socket.destroy()
  }
}
