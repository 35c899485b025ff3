import { messageOf, unreachable } from "../base/assert.ts"
import { Failure } from "../domain/failure.ts"
import { markerOf } from "./marker.ts"
import { type Automaton, createAutomaton } from "./pattern-automaton.ts"
import { type Pattern, PatternError, parseRedactionPattern } from "./pattern-syntax.ts"
import { createRuleStage } from "./rule-stage.ts"
import { newline } from "./scene.ts"
import { concat, copyOf, editsOf, type StageMaker } from "./stage.ts"

/** The size of the pieces of a longer line; a match that crosses two pieces is missed. */
const patternLineBytesMax = 8192

const sourceLengthMax = 1000

/** Returns the reason why a pattern cannot be used for redaction, or null when it can. */
export function validatePattern(source: string): string | null {
  try {
    compile(source)
    return null
  } catch (error) {
    return messageOf(error)
  }
}

/** Replaces the matches of the configured patterns, line by line. */
export function createPatternStages(sources: readonly string[]): StageMaker {
  const matcher = matcherOf(sources)
  return onReplaced => {
    let held: Uint8Array = new Uint8Array(0)
    return {
      push: (chunk, final) => {
        const bytes = concat([held, chunk])
        const edits = editsOf(bytes, onReplaced)
        let copied = 0
        let from = 0
        for (;;) {
          from = skipClean(bytes, from, matcher)
          const to = pieceEnd(bytes, from, final)
          if (to === from) break
          const piece = bytes.subarray(from, to)
          const redacted = redactPiece(piece, matcher)
          if (redacted !== piece) {
            edits.keep(copied, from)
            edits.add(redacted)
            copied = to
          }
          from = to
        }
        edits.keep(copied, from)
        held = copyOf(bytes, from)
        return edits.result()
      },
    }
  }
}

/** Returns the start of the first line that has a match, or of the last line when none has. */
function skipClean(bytes: Uint8Array, from: number, matcher: PatternMatcher): number {
  const found = matcher.search.run(bytes, from, bytes.length, "first")
  const lineStart = bytes.lastIndexOf(newline, found < 0 ? bytes.length : found - 1) + 1
  return Math.max(from, lineStart)
}

interface PatternMatcher {
  /** Finds where the first match ends. */
  readonly search: Automaton
  /** Finds backwards where the match begins, and forwards where the longest one ends. */
  readonly back: Automaton
  readonly forth: Automaton
}

function matcherOf(sources: readonly string[]): PatternMatcher {
  const items = sources.map((source, index) => {
    const problem = validatePattern(source)
    if (problem !== null) throw refusal(source, index, problem)
    return parseRedactionPattern(source)
  })
  const pattern: Pattern = { kind: "choice", items }
  return {
    search: createAutomaton(pattern, { isReversed: false, isUnanchored: true }),
    back: createAutomaton(pattern, { isReversed: true, isUnanchored: false }),
    forth: createAutomaton(pattern, { isReversed: false, isUnanchored: false }),
  }
}

function refusal(source: string, index: number, problem: string): Failure {
  return new Failure({
    kind: "config",
    code: "ACODE-CFG-003",
    message: `the redaction pattern ${JSON.stringify(source)} cannot be used: ${problem}`,
    where: `execution.redaction.patterns[${index}]`,
    hint: "Use literals, classes and bounded repetitions; (?i) in front ignores case.",
  })
}

function compile(source: string): void {
  if (source.length > sourceLengthMax)
    throw new PatternError(`it is longer than ${sourceLengthMax} characters`)
  const pattern = parseRedactionPattern(source)
  if (canBeEmpty(pattern)) throw new PatternError("it matches the empty text")
  createAutomaton(pattern, { isReversed: false, isUnanchored: false })
}

function canBeEmpty(pattern: Pattern): boolean {
  switch (pattern.kind) {
    case "bytes":
      return false
    case "assertion":
      return true
    case "sequence":
      return pattern.items.every(canBeEmpty)
    case "choice":
      return pattern.items.some(canBeEmpty)
    case "repeat":
      return pattern.min === 0 || canBeEmpty(pattern.item)
    default:
      return unreachable(pattern)
  }
}

/** Returns the end of the next line or of a piece of a too long line, or `from` when neither has arrived. */
function pieceEnd(bytes: Uint8Array, from: number, final: boolean): number {
  const limit = from + patternLineBytesMax
  const lineEnd = bytes.subarray(from, limit).indexOf(newline)
  if (lineEnd >= 0) return from + lineEnd + 1
  if (bytes.length < limit) return final ? bytes.length : from
  const gap = bytes.subarray(limit - gapBytesMax, limit).lastIndexOf(space)
  return gap < 0 ? limit : limit - gapBytesMax + gap + 1
}

/** A long line is cut behind a space if possible, because few secrets contain one. */
const gapBytesMax = 1024
const space = 32

const customMarker = Buffer.from(markerOf("custom"))

/**
 * Repeats until neither the patterns nor the rules find a secret: a marker can remove the letter before a token that
 * hid it from the rules.
 */
function redactPiece(piece: Uint8Array, matcher: PatternMatcher): Uint8Array {
  let current = piece
  for (;;) {
    const replaced = replaceOnce(current, matcher)
    if (replaced === current) return current
    current = createRuleStage().push(replaced, true)
  }
}

/** Replaces every match between existing markers; the line end belongs to no match. */
function replaceOnce(piece: Uint8Array, matcher: PatternMatcher): Uint8Array {
  if (matcher.search.run(piece, 0, piece.length, "first") < 0) return piece
  const edits = editsOf(piece)
  const lineEnd = piece.at(-1) === newline ? piece.length - 1 : piece.length
  const text = Buffer.from(piece.buffer, piece.byteOffset, piece.length).toString("latin1")
  let copied = 0
  let from = 0
  for (const marker of [...text.matchAll(markerPattern), null]) {
    const to = marker?.index ?? lineEnd
    for (;;) {
      const found = matcher.search.run(piece, from, to, "first")
      if (found < 0) break
      const start = matcher.back.run(piece, found, from, "longest")
      edits.keep(copied, start)
      edits.add(customMarker)
      copied = matcher.forth.run(piece, start, to, "longest")
      from = copied
    }
    from = to + (marker?.[0].length ?? 0)
  }
  edits.keep(copied, piece.length)
  return edits.result()
}

const markerPattern = /\[REDACTED:[a-z-]+\]/g
