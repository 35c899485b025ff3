import { systemClock } from "../../base/clock.ts"
import { ExecutionError } from "../../domain/skill/execution-error.ts"
import { externalCallLog } from "../../models/external-call-log.ts"
import type { Provider } from "../../provider/contract.ts"
import { createAnthropic } from "../../provider/protocols/anthropic/server.ts"
import { collect } from "../../provider/reply.ts"
import { endpointName, readEndpoint } from "../../provider/transport/endpoint.ts"
import { openTransport } from "../../provider/transport/http.ts"
import type { ClaudeClient, ClaudeRequest, ClaudeResponse } from "../../skills/contract.ts"
import { modelClient } from "../../skills/model-client.ts"

export interface ClaudeClientConfig {
  readonly apiKey: string
  /** Naming a server consents to what is sent to it; Anthropic's own when left out. */
  readonly baseUrl?: string | undefined
  /** Used by requests without a limit of their own. */
  readonly defaultMaxTokens: number
}

const anthropicUrl = "https://api.anthropic.com"

/** The executor's own deadline ends a request long before. */
const limits = { connectMs: 30_000, firstByteMs: 3_600_000, betweenMs: 3_600_000, wholeMs: 3_600_000 }

/** Asks a server that speaks the Messages API. No reply is streamed and nothing is asked twice. */
export class AnthropicClaudeClient implements ClaudeClient {
  constructor(private readonly config: ClaudeClientConfig) {}

  async complete(request: ClaudeRequest): Promise<ClaudeResponse> {
    const { apiKey, baseUrl = anthropicUrl, defaultMaxTokens } = this.config
    const endpoint = readEndpoint(baseUrl)
    if (endpoint.problem !== undefined)
      throw new ExecutionError(`the base URL cannot be used: ${endpoint.problem}`, "API_BAD_REQUEST", "")
    const externalCalls = externalCallLog(systemClock)
    const egress = { mode: "burst" as const, configured: null, consented: endpointName(endpoint) }
    const server = createAnthropic(openTransport({ endpoint, egress, externalCalls }), apiKey)
    const outputTokensMax = request.maxTokens > 0 ? request.maxTokens : defaultMaxTokens
    const provider = server.provider({
      model: request.model,
      windowTokens: null,
      outputTokensMax,
      temperature: null,
      topP: null,
      keepAlive: "",
      streams: false,
      limits,
    })
    const client = modelClient({
      ask: async (asked, signal) => {
        const reply = await collect(provider.ask(asked, signal), signal)
        return { reply, externalCalls: externalCalls.take().externalCalls }
      },
      replyIndex: () => 0,
    })
    return client.complete({ ...request, maxTokens: outputTokensMax })
  }
}

/** Returns a client that asks the models of any provider. Each request names its model. */
export function providerClient(provider: Provider): ClaudeClient {
  let replyIndex = 0
  return modelClient({
    ask: async (asked, signal) => ({ reply: await collect(provider.ask(asked, signal), signal) }),
    replyIndex: () => replyIndex++,
  })
}
