/** What the messages of a request may take. */
export interface Room {
  readonly tokens: number
  /** How much is cut at a time. */
  readonly stepTokens: number
}

/** The part that goes at a time of what a whole request may take, tools and all. */
const stepShare = 1 / 4

/**
 * The room in a request of so many tokens. The step is not measured by the room itself: that changes a little with
 * every count of a server, and the step must not.
 */
export function roomOf(roomTokens: number, requestTokens: number): Room {
  const tokens = Math.max(0, roomTokens)
  return { tokens, stepTokens: Math.floor(Math.min(requestTokens * stepShare, tokens / 2)) }
}

/**
 * How much to cut of messages that are too long by so much. Servers keep what they have read of a request, as long as
 * the next one begins alike. Cut to what just fits, every turn would begin otherwise; in whole steps the same is
 * missing until one is used up, and that follows from the messages alone, so that a replay makes the same requests.
 */
export function cutInSteps(excessTokens: number, { stepTokens }: Room): number {
  return stepTokens === 0 ? excessTokens : Math.ceil(excessTokens / stepTokens) * stepTokens
}
