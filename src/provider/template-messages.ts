import { onceFor } from "../base/once-for.ts"
import type { ModelMessage } from "./contract.ts"
import { withTakenIds } from "./template-ids.ts"

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
