import type { Protocol } from "../domain/model-choice.ts"
import { protocolTable } from "../provider/protocol.ts"
import type { ModelServer } from "../provider/server.ts"
import type { Egress, Endpoint, ExternalCallLog } from "../provider/transport/contract.ts"

export interface ServerAddress {
  readonly protocol: Protocol
  readonly endpoint: Endpoint
  /** The endpoints that may be used; derived only from the session's mode and consent. */
  readonly egress: Egress
  readonly apiKey: string | null
  readonly externalCalls: ExternalCallLog
}

/** Opens a server over a transport that keeps to the egress. Loads the transport only now: most commands need none. */
export async function openServer({
  protocol,
  endpoint,
  egress,
  apiKey,
  externalCalls,
}: ServerAddress): Promise<ModelServer> {
  const { openTransport } = await import("../provider/transport/http.ts")
  const transport = openTransport({ endpoint, egress, externalCalls })
  return protocolTable[protocol].open(transport, apiKey)
}
