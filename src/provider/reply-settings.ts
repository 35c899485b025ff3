import type { ModelRequest } from "./contract.ts"
import type { ModelSettings } from "./server.ts"
import type { TransportLimits } from "./transport/contract.ts"

/** How a model is asked for one reply: what is fixed for the session, and what this request needs otherwise. */
export function settingsFor(request: ModelRequest, settings: ModelSettings): ModelSettings {
  return {
    ...settings,
    outputTokensMax: request.outputTokensMax ?? settings.outputTokensMax,
    limits: limitsFor(request, settings.limits),
  }
}

/**
 * The limits of one reply. Ollama, and others for some models, hand a call on when it is whole and say nothing while
 * the model writes it, which takes minutes where it is a file. Anthropic's models answer by a call where the answer has
 * a shape. Such a silence is no stall before it is as long as the one before the first word may be.
 */
export function limitsFor(
  { tools, format }: Pick<ModelRequest, "tools" | "format">,
  limits: TransportLimits,
): TransportLimits {
  if (tools.length === 0 && format === null) return limits
  return { ...limits, betweenMs: Math.max(limits.betweenMs, limits.firstByteMs) }
}
