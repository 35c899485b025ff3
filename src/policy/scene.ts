import type { Alphabet } from "./alphabet.ts"

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
}

/** How long a secret goes on: as long as its bytes are members; a backslash can carry the next byte along. */
export interface Extent {
  readonly members: Alphabet
  readonly escapes: boolean
}

/** Tells whether a secret begins at or behind the anchor at `at`. Reads at most `lookaheadBytes` from there. */
export type Matcher = (scene: Scene, at: number, anchorLength: number) => Found | null

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
export function judgedEnd(scene: Scene, from: number, extent: Extent): number {
  return extentEnd(scene.bytes, from, Math.min(scene.end, from + judgedBytes), extent)
}

/** What is judged to be a secret goes on beyond the judged part, and beyond what has arrived. */
export function foundFrom(scene: Scene, start: number, from: number, judged: number, extent: Extent): Found {
  if (judged - from < judgedBytes) return { start, end: Math.min(judged, scene.end), extent: null }
  return { start, end: extentEnd(scene.bytes, judged, scene.end, extent), extent }
}
