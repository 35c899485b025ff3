import { limitsFor } from "./call-patience.ts"
import type { ModelRequest } from "./contract.ts"
import type { ModelSettings } from "./server.ts"

/** How a model is asked for one reply: what is fixed for the session, and what this request needs otherwise. */
export function settingsFor(request: ModelRequest, settings: ModelSettings): ModelSettings {
  return {
    ...settings,
    outputTokensMax: request.outputTokensMax ?? settings.outputTokensMax,
    limits: limitsFor(request, settings.limits),
  }
}
