import type { LongPart } from "../model-choice.ts"

/** The content of the last request. */
export interface RequestContent {
  /** The last turn in it. */
  readonly turnSeq: number
  /** The window of the executor that it was made for. */
  readonly windowTokens: number | null
  /** The recorded parts that were left out of this request or an earlier one. */
  readonly leftOut: readonly LeftOut[]
}

/** A part that exceeds its share, however much space there is, and is cut there. */
export interface LeftOut {
  readonly part: LongPart
  /** The name of the file, if the part is one. */
  readonly name: string | null
  /** The estimated size of the rest, which is not shown. */
  readonly tokens: number
}

export const nothingTold: RequestContent = { turnSeq: 0, windowTokens: null, leftOut: [] }

/** Returns what is not recorded yet: each part once, and again only if its size changed. */
export function newlyLeftOut({ leftOut }: RequestContent, now: readonly LeftOut[]): readonly LeftOut[] {
  return now.filter(each => !leftOut.some(known => isSame(known, each)))
}

/** Returns the request with the newest record of each part. */
export function withLeftOut(told: RequestContent, added: readonly LeftOut[]): RequestContent {
  if (added.length === 0) return told
  const others = told.leftOut.filter(known => !added.some(each => isOfSame(known, each)))
  return { ...told, leftOut: [...others, ...added] }
}

function isSame(a: LeftOut, b: LeftOut): boolean {
  return isOfSame(a, b) && a.tokens === b.tokens
}

function isOfSame(a: LeftOut, b: LeftOut): boolean {
  return a.part === b.part && a.name === b.name
}
