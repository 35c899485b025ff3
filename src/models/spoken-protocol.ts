import type { Protocol } from "../domain/model-choice.ts"
import { type ProtocolRow, protocolRows, unmarkedProtocol } from "../provider/protocol.ts"
import { type HttpAnswer, jsonBody } from "../provider/transport/body.ts"
import type { TransportLimits } from "../provider/transport/contract.ts"
import { openTransport } from "../provider/transport/http.ts"
import type { ServerAddress } from "./open-server.ts"

export type UnnamedServer = Pick<ServerAddress, "endpoint" | "egress" | "externalCalls">

/** Returns the protocol of a server whose protocol the configuration does not name, by the marks of the protocols. */
export async function spokenProtocol(
  server: UnnamedServer,
  limits: TransportLimits,
  signal: AbortSignal,
): Promise<Protocol> {
  const transport = openTransport(server)
  for (const [protocol, { mark }] of protocolRows) {
    if (mark === null) continue
    const request = { method: "GET", path: mark.path, headers: {}, body: null, limits } as const
    const reply = await transport.send(request, signal)
    if (reply.kind === "failed") return unmarkedProtocol
    if (await hasMark(reply, mark)) return protocol
  }
  return unmarkedProtocol
}

async function hasMark(reply: HttpAnswer, { isIn }: NonNullable<ProtocolRow["mark"]>): Promise<boolean> {
  try {
    // Reads the body of an error as well: a body that is not read to the end keeps the connection open.
    const body = await jsonBody(reply)
    return reply.status === 200 && isIn(body)
  } catch {
    // The body is not JSON, so it carries no mark; the next request shows whether the server can be used.
    return false
  }
}
