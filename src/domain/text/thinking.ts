/** The marks with which models that think aloud begin and end their thinking. */
export const thinkingStarts: readonly string[] = ["<think>", "<thinking>"]
export const thinkingEnds: readonly string[] = ["</think>", "</thinking>"]

/**
 * Returns the text of a model without its thinking, also if a server left out the opening mark, as many chat
 * templates do. Thinking without an end has no text after it.
 */
export function withoutThinking(text: string): string {
  const end = Math.max(...thinkingEnds.map(each => endOf(text, each)))
  if (end > 0) return text.slice(end)
  const start = text.trimStart()
  return thinkingStarts.some(each => start.startsWith(each)) ? "" : text
}

function endOf(text: string, mark: string): number {
  const at = text.lastIndexOf(mark)
  return at === -1 ? 0 : at + mark.length
}

export function hasThinkingEnd(text: string): boolean {
  return thinkingEnds.some(each => text.includes(each))
}
