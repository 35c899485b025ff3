import { sha256Hex } from "../base/canonical.ts"
import { onceFor } from "../base/once-for.ts"
import type { ModelMessage } from "./contract.ts"

/**
 * A message whose ids every model's template takes. Those of Mistral's models refuse any that is not nine letters and
 * digits, and servers that run them give others when the model gives none. An id with other signs in it says something
 * to its model, as Kimi's that name the tool, and stays.
 */
export const withTakenIds = onceFor((message: ModelMessage): ModelMessage => {
  if (message.role === "tool") {
    const callId = takenId(message.callId)
    return callId === message.callId ? message : { ...message, callId }
  }
  if (message.role !== "assistant" || message.calls.every(({ id }) => takenId(id) === id)) return message
  return { ...message, calls: message.calls.map(call => ({ ...call, id: takenId(call.id) })) }
})

/** The same for the same one, in every request. */
function takenId(id: string): string {
  return /^[a-z0-9]{9}$/i.test(id) || /[^\w-]/.test(id) ? id : sha256Hex(id).slice(0, 9)
}
