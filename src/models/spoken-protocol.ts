import type { Json } from "../base/canonical.ts"
import type { Protocol } from "../domain/model-choice.ts"
import { jsonBody } from "../provider/transport/body.ts"
import type { TransportLimits } from "../provider/transport/contract.ts"
import { openTransport } from "../provider/transport/http.ts"
import type { ServerAddress } from "./open-server.ts"

export type AskedPlace = Pick<ServerAddress, "endpoint" | "egress" | "externalCalls">

/**
 * What a server speaks that nobody named. Only Ollama tells its version there: llama.cpp has Ollama's lists of models
 * as well and then answers like OpenAI. Everything else that is found on people's machines is like OpenAI's.
 */
export async function spokenProtocol(
  place: AskedPlace,
  limits: TransportLimits,
  signal: AbortSignal,
): Promise<Protocol> {
  const transport = openTransport(place)
  const request = { method: "GET", path: "/api/version", headers: {}, body: null, limits } as const
  const reply = await transport.send(request, signal)
  if (reply.kind === "failed") return "openai"
  try {
    // Read also where it is an error: what is not read to its end keeps the connection.
    const body = await jsonBody(reply)
    return reply.status === 200 && tellsVersion(body) ? "ollama" : "openai"
  } catch {
    // No JSON: whatever it is, it is not Ollama, and the next question tells whether it can be used.
    return "openai"
  }
}

function tellsVersion(body: Json): boolean {
  if (typeof body !== "object" || body === null || !("version" in body)) return false
  return typeof body["version"] === "string"
}
