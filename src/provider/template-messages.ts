import { sha256Hex } from "../base/canonical.ts"
import { onceFor } from "../base/lazy.ts"
import type { ModelMessage } from "./contract.ts"

/** Replaces an answer that consists of thoughts only, or of nothing. */
const emptyAnswer = "[no answer]"

/**
 * Returns the messages in the form that every model's template accepts; a server refuses the whole request otherwise.
 * Mistral's templates require users and assistants to alternate, calls and results not counted, and no empty answer.
 * Therefore a user message right behind a result is appended to it. Llama's templates accept one call at a time, so
 * that each call gets its own message before its result. All other messages stay the same objects.
 */
export function templateMessages(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  const accepted: ModelMessage[] = []
  let calling: readonly ModelMessage[] = []
  for (const given of messages) {
    const message = withAcceptedIds(given)
    // Results come in the order of their calls.
    const due = message.role === "tool" ? calling.slice(0, 1) : calling
    accepted.push(...due)
    calling = calling.slice(due.length)
    const last = accepted.at(-1)
    if (message.role === "assistant" && message.calls.length > 1) calling = singleCalls(message)
    else if (message.role === "user" && (last?.role === "tool" || last?.role === "user"))
      accepted[accepted.length - 1] = { ...last, text: `${last.text}\n\n${message.text}` }
    else accepted.push(isEmpty(message) ? { ...message, text: emptyAnswer } : message)
  }
  return [...accepted, ...calling]
}

/** Splits a message into one for each call; the text stays with the first one. */
const singleCalls = onceFor((message: Extract<ModelMessage, { role: "assistant" }>) =>
  message.calls.map(
    (call, index): ModelMessage => ({ ...message, text: index === 0 ? message.text : "", calls: [call] }),
  ),
)

function isEmpty(message: ModelMessage): boolean {
  return message.role === "assistant" && message.calls.length === 0 && message.text.trim() === ""
}

/**
 * Returns the message with ids that every model's template accepts. Mistral's templates refuse ids other than nine
 * letters and digits, and servers that run them produce others when the model produces none. An id with other
 * characters is meaningful to its model, as Kimi's that contain the tool's name, and is kept.
 */
export const withAcceptedIds = onceFor((message: ModelMessage): ModelMessage => {
  if (message.role === "tool") {
    const callId = acceptedId(message.callId)
    return callId === message.callId ? message : { ...message, callId }
  }
  if (message.role !== "assistant" || message.calls.every(({ id }) => acceptedId(id) === id)) return message
  return { ...message, calls: message.calls.map(call => ({ ...call, id: acceptedId(call.id) })) }
})

/** Returns the same replacement for the same id, in every request. */
function acceptedId(id: string): string {
  return /^[a-z0-9]{9}$/i.test(id) || /[^\w-]/.test(id) ? id : sha256Hex(id).slice(0, 9)
}
