import type { Protocol } from "../../domain/model-choice.ts"
import type { Endpoint } from "../../provider/transport/contract.ts"
import { endpointName, isNamedBy } from "../../provider/transport/endpoint.ts"
import type { Config } from "../config-schema.ts"
import type { AppEnvironment } from "../environment.ts"
import { noKey } from "./model-problem.ts"

export const keyVariables = { anthropic: "ANTHROPIC_API_KEY", openai: "OPENAI_API_KEY" } as const

/**
 * The key for a server, or null for one that gets none. A server of this machine gets one only when the configuration
 * names it: whatever listens on a usual port is not to collect keys. Throws ACODE-MODEL-008 when one is missing.
 */
export function apiKeyFor(
  protocol: Protocol,
  endpoint: Endpoint,
  { model }: Pick<Config, "model">,
  { anthropicApiKey, openaiApiKey }: AppEnvironment,
): string | null {
  if (protocol === "ollama" || (endpoint.isLocal && !isNamedBy(model.endpoint, endpoint))) return null
  const key = protocol === "anthropic" ? anthropicApiKey : openaiApiKey
  if (key === null && !endpoint.isLocal) throw noKey(keyVariables[protocol], endpointName(endpoint))
  return key
}
