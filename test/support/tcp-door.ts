import { connect, createServer, type Server, type Socket } from "node:net"

/** A way to a server that can be shut and opened again at the same address. */
export interface TcpDoor extends AsyncDisposable {
  /** `http://HOST:PORT` */
  readonly endpoint: string
  /** Stops listening, and closes all connections. */
  shut(): Promise<void>
  open(): Promise<void>
}

export async function tcpDoor(target: string, host = "127.0.0.1"): Promise<TcpDoor> {
  const { port: targetPort } = new URL(target)
  const sockets = new Set<Socket>()
  let server: Server | null = null
  let port = 0
  const shut = async () => {
    const shutting = server
    server = null
    for (const socket of sockets) socket.destroy()
    if (shutting !== null) await new Promise<void>(resolve => shutting.close(() => resolve()))
  }
  const open = async () => {
    const opened = createServer(socket => {
      const behind = connect(Number(targetPort), "127.0.0.1")
      for (const [from, to] of [
        [socket, behind],
        [behind, socket],
      ] as const) {
        sockets.add(from)
        from.pipe(to)
        from.on("error", () => to.destroy())
        from.on("close", () => {
          sockets.delete(from)
          to.destroy()
        })
      }
    })
    await new Promise<void>(resolve => opened.listen(port, host, resolve))
    const address = opened.address()
    port = typeof address === "object" && address !== null ? address.port : 0
    server = opened
  }
  await open()
  return { endpoint: `http://${host}:${port}`, shut, open, [Symbol.asyncDispose]: shut }
}
