import { createServer } from "node:net"

/** An address of this machine that no server listens at. */
export async function closedPort(): Promise<string> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  await new Promise<void>(resolve => server.close(() => resolve()))
  return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
}
