import type { Protocol } from "../domain/model-choice.ts"
import type { ModelServer } from "../provider/server.ts"
import type { Egress, Endpoint, ExternalCallLog } from "../provider/transport/contract.ts"

export interface ServerAddress {
  readonly protocol: Protocol
  readonly endpoint: Endpoint
  /** What may be talked to; made from the session's mode and consent and from nothing else. */
  readonly egress: Egress
  readonly apiKey: string | null
  readonly externalCalls: ExternalCallLog
}

/** Some key has to be sent where the protocol wants one, also to a server that asks for none. */
const noKey = "none"

/** Loads only the protocol that is spoken: most commands speak none. */
export async function openServer({
  protocol,
  endpoint,
  egress,
  apiKey,
  externalCalls,
}: ServerAddress): Promise<ModelServer> {
  const { openTransport } = await import("../provider/transport/http.ts")
  const transport = openTransport({ endpoint, egress, externalCalls })
  switch (protocol) {
    case "ollama":
      return (await import("../provider/protocols/ollama/server.ts")).createOllama(transport)
    case "openai":
      return (await import("../provider/protocols/openai/server.ts")).createOpenAi(transport, apiKey)
    case "anthropic":
      return (await import("../provider/protocols/anthropic/server.ts")).createAnthropic(
        transport,
        apiKey ?? noKey,
      )
  }
}
