import type { ModelMessage } from "./contract.ts"

/** For an answer that was no more than thoughts, or nothing at all. */
const nothingSaid = "[no answer]"

/**
 * The messages as every model's template takes them; a server refuses the whole request where one does not. Those of
 * Mistral's models want users and assistants in turns, calls and results not counted, and no answer that is empty. So
 * what is said right behind a result becomes the end of it. All others stay the same objects.
 */
export function templateMessages(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  const taken: ModelMessage[] = []
  for (const message of messages) {
    const last = taken.at(-1)
    if (message.role === "user" && (last?.role === "tool" || last?.role === "user"))
      taken[taken.length - 1] = { ...last, text: `${last.text}\n\n${message.text}` }
    else taken.push(isEmpty(message) ? { ...message, text: nothingSaid } : message)
  }
  return taken
}

function isEmpty(message: ModelMessage): boolean {
  return message.role === "assistant" && message.calls.length === 0 && message.text.trim() === ""
}
