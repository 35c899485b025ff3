import type { ModelRequest } from "./contract.ts"
import type { ModelSettings } from "./server.ts"
import type { TransportLimits } from "./transport/contract.ts"

/** Returns the settings for one reply: those fixed for the session, with the exceptions of this request. */
export function settingsFor(request: ModelRequest, settings: ModelSettings): ModelSettings {
  return {
    ...settings,
    outputTokensMax: request.outputTokensMax ?? settings.outputTokensMax,
    limits: limitsFor(request, settings.limits),
  }
}

/**
 * Returns the limits of one reply. Ollama, and others for some models, pass on a call only when it is complete and send
 * nothing while the model writes it, which takes minutes for a file. Anthropic's models answer by a call where the
 * answer has a shape. Such a silence counts as a stall only when it is longer than the one allowed before the first
 * byte.
 */
export function limitsFor(
  { tools, format }: Pick<ModelRequest, "tools" | "format">,
  limits: TransportLimits,
): TransportLimits {
  if (tools.length === 0 && format === null) return limits
  return { ...limits, betweenMs: Math.max(limits.betweenMs, limits.firstByteMs) }
}
