/** How models that think aloud mark where that begins and ends. */
export const thinkingStarts: readonly string[] = ["<think>", "<thinking>"]
export const thinkingEnds: readonly string[] = ["</think>", "</thinking>"]

/**
 * What a model says besides its thinking; also where the beginning of that was left out by a server, as many chat
 * templates do. Thinking that does not end is all there is.
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
