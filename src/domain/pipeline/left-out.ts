import type { LongPart } from "../model-choice.ts"

/** What the last request told. */
export interface Told {
  /** Up to which turn. */
  readonly turnSeq: number
  /** For which window of the executor. */
  readonly windowTokens: number | null
  /** What was left out of it, or of one before it, when it was read, and is on record. */
  readonly leftOut: readonly LeftOut[]
}

/** What has more than it may have, whatever room there is, and is not shown from there on. */
export interface LeftOut {
  readonly part: LongPart
  /** Of the file, where it is one. */
  readonly name: string | null
  /** About how much is not shown. */
  readonly tokens: number
}

export const nothingTold: Told = { turnSeq: 0, windowTokens: null, leftOut: [] }

/** What is not on record yet: each thing once, and again only when it is longer or shorter than it was. */
export function newlyLeftOut({ leftOut }: Told, now: readonly LeftOut[]): readonly LeftOut[] {
  return now.filter(each => !leftOut.some(known => isSame(known, each)))
}

/** The newest of each thing is kept. */
export function withLeftOut(told: Told, added: readonly LeftOut[]): Told {
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
