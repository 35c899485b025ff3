import { fileFailure } from "../failures.ts"

/** Whether a character (as code point) is meant. */
export type CharacterTest = (code: number) => boolean

/** A pattern, how far it is read, and what holds there. */
export interface PatternReader {
  readonly pattern: string
  at: number
  ignoreCase: boolean
  depth: number
}

export function badPattern(pattern: string, why: string) {
  return fileFailure("malformed", pattern, `is no pattern: it ${why}`)
}
