import { sha256Hex } from "../base/canonical.ts"
import { onceFor } from "../base/lazy.ts"
import type { ModelMessage } from "./contract.ts"

/** For an answer that was no more than thoughts, or nothing at all. */
const nothingSaid = "[no answer]"

/**
 * The messages as every model's template takes them; a server refuses the whole request where one does not. Those of
 * Mistral's models want users and assistants in turns, calls and results not counted, and no answer that is empty. So
 * what is said right behind a result becomes the end of it. Those of Llama's take one call at a time, so that each has
 * a message of its own before its result. All others stay the same objects.
 */
export function templateMessages(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  const taken: ModelMessage[] = []
  let calling: readonly ModelMessage[] = []
  for (const given of messages) {
    const message = withTakenIds(given)
    // Results come in the order of their calls.
    const due = message.role === "tool" ? calling.slice(0, 1) : calling
    taken.push(...due)
    calling = calling.slice(due.length)
    const last = taken.at(-1)
    if (message.role === "assistant" && message.calls.length > 1) calling = singleCalls(message)
    else if (message.role === "user" && (last?.role === "tool" || last?.role === "user"))
      taken[taken.length - 1] = { ...last, text: `${last.text}\n\n${message.text}` }
    else taken.push(isEmpty(message) ? { ...message, text: nothingSaid } : message)
  }
  return [...taken, ...calling]
}

/** What the model said stays with the first one. */
const singleCalls = onceFor((message: Extract<ModelMessage, { role: "assistant" }>) =>
  message.calls.map(
    (call, index): ModelMessage => ({ ...message, text: index === 0 ? message.text : "", calls: [call] }),
  ),
)

function isEmpty(message: ModelMessage): boolean {
  return message.role === "assistant" && message.calls.length === 0 && message.text.trim() === ""
}

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
