import type { ModelRequest } from "./contract.ts"
import type { TransportLimits } from "./transport/contract.ts"

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
