import { type Alphabet, wordBytes } from "../base/byte-sets.ts"
import type { RedactionKind } from "./marker.ts"

/**
 * What a matcher may look at. Before `floor` there is nothing to see: a marker, or the beginning of the text, stands
 * there, and `floorByte` is its last byte. This is what makes a second redaction find what the first one found.
 */
export interface Scene {
  readonly bytes: Buffer
  readonly floor: number
  readonly floorByte: number
  readonly end: number
  /** True when nothing comes after `end`. */
  readonly final: boolean
}

/** Where a secret lies, and which bytes go on being part of it when it reaches the end of what has arrived. */
export interface Found {
  readonly start: number
  readonly end: number
  readonly extent: Extent | null
  /** Further secrets of the same kind behind it, in order; what goes on is the last of them. */
  readonly also?: readonly { readonly start: number; readonly end: number }[]
}

/** How long a secret goes on: as long as its bytes are members; a backslash can carry the next byte along. */
export interface Extent {
  readonly members: Alphabet
  readonly escapes: boolean
  /** Bytes that are part of it when a shell's backslash stands before them. Counts in the judged part only. */
  readonly marks?: Alphabet
}

/** Tells whether a secret begins at or behind the anchor at `at`. Reads at most `lookaheadBytes` from there. */
export type Matcher = (scene: Scene, at: number, anchorLength: number) => Found | null

/**
 * One way to recognise a secret. Only where one of its anchors stands is it tried at all, so a rule costs nothing on
 * text that has none. Where several begin at one place, the longest anchor is tried first.
 */
export interface RedactionRule {
  readonly kind: RedactionKind
  readonly anchors: readonly string[]
  readonly ignoreCase: boolean
  readonly match: Matcher
  /** For secrets of several lines: true while more has to arrive before they can be judged. */
  readonly isOpen?: (scene: Scene, at: number) => boolean
}

/** No matcher but the one for key blocks needs more than this behind its anchor, or looks beyond the line. */
export const lookaheadBytes = 1024
/** How much of a secret is read to judge it; what follows belongs to it unseen. Bounds the work for each anchor. */
export const judgedBytes = 512
/** How far a matcher may look back. */
export const contextBytes = 256

export const newline = 10

export function byteBefore(scene: Scene, at: number): number {
  return at > scene.floor ? (scene.bytes[at - 1] ?? newline) : scene.floorByte
}

export function byteAt(scene: Scene, at: number): number {
  return at < scene.end ? (scene.bytes[at] ?? newline) : newline
}

export function textAt(scene: Scene, from: number, to: number): string {
  return scene.bytes.toString("latin1", from, Math.min(to, scene.end))
}

/** The first position that no longer belongs to the secret; one beyond the end when an escape is cut in two. */
export function extentEnd(bytes: Uint8Array, from: number, end: number, extent: Extent): number {
  const { members, escapes } = extent
  let at = from
  while (at < end) {
    const byte = bytes[at] ?? 0
    if (escapes && byte === backslash && bytes[at + 1] !== newline) at += 2
    else if (members[byte] === 1) at += 1
    else break
  }
  return at
}

const backslash = 92

/** The part of a value that is judged. */
export function judgedEnd(scene: Scene, from: number, extent: Extent, bytesMax = judgedBytes): number {
  const end = Math.min(scene.end, from + bytesMax)
  let at = extentEnd(scene.bytes, from, end, extent)
  while (at + 2 <= end && isMarked(scene, at, extent)) at = extentEnd(scene.bytes, at + 2, end, extent)
  return at
}

/** A backslash and what it makes part of a word. Of a quote that is so when the word goes on, else it ends a string. */
function isMarked(scene: Scene, at: number, { marks }: Extent): boolean {
  if (marks === undefined || byteAt(scene, at) !== backslash) return false
  const next = byteAt(scene, at + 1)
  return marks[next] === 1 || (isQuote(next) && wordBytes[byteAt(scene, at + 2)] === 1)
}

function isQuote(byte: number): boolean {
  return byte === 34 || byte === 39
}

/** What is judged to be a secret goes on beyond the judged part, and beyond what has arrived. */
export function foundFrom(
  scene: Scene,
  start: number,
  from: number,
  judged: number,
  extent: Extent,
  bytesMax = judgedBytes,
): Found {
  if (judged - from < bytesMax) return { start, end: Math.min(judged, scene.end), extent: null }
  return { start, end: extentEnd(scene.bytes, judged, scene.end, extent), extent }
}
