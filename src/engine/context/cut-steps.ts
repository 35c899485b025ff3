/** The space for the messages of a request. */
export interface RequestSpace {
  readonly tokens: number
  /** The amount that is cut at a time. */
  readonly stepTokens: number
}

/** The share of a whole request, tools included, that is cut at a time. */
const stepShare = 1 / 4

/**
 * Returns the space for messages in a request of this size. The step does not depend on that space, which changes a
 * little with every count of a server: the step must stay the same.
 */
export function roomOf(roomTokens: number, requestTokens: number): RequestSpace {
  const tokens = Math.max(0, roomTokens)
  return { tokens, stepTokens: Math.floor(Math.min(requestTokens * stepShare, tokens / 2)) }
}

/**
 * Returns how much to cut of messages that exceed their space. Servers cache a request as long as the next one begins
 * the same. Cut to the exact size, every turn would begin differently; cut in whole steps, the same part is missing
 * until a step is used up. The result follows from the messages alone, so that a replay makes the same requests.
 */
export function cutInSteps(excessTokens: number, { stepTokens }: RequestSpace): number {
  return stepTokens === 0 ? excessTokens : Math.ceil(excessTokens / stepTokens) * stepTokens
}
