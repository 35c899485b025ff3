import { type Alphabet, wordBytes } from "../base/byte-sets.ts"
import type { RedactionKind } from "./marker.ts"

/**
 * The bytes that a matcher may read. `floor` is the first of them: before it is a marker or the start of the text,
 * and `floorByte` is the last byte before. This makes a second redaction find what the first one found.
 */
export interface Scene {
  readonly bytes: Buffer
  readonly floor: number
  readonly floorByte: number
  readonly end: number
  /** True when no bytes come after `end`. */
  readonly final: boolean
}

/** The position of a secret, and the bytes that continue it at the end of the arrived bytes. */
export interface SecretPosition {
  readonly start: number
  readonly end: number
  readonly extent: Extent | null
  /** Secrets of the same kind that follow it, in order; only the last can continue. */
  readonly also?: readonly { readonly start: number; readonly end: number }[]
}

/** The extent of a secret: it continues while its bytes are members; a backslash can include the next byte. */
export interface Extent {
  readonly members: Alphabet
  readonly escapes: boolean
  /** Bytes that belong to it behind a shell's backslash, in the judged part only. */
  readonly marks?: Alphabet
}

/**
 * Returns the secret that begins at or behind the anchor at `at`, if any. Reads at most `lookaheadBytes` from there.
 */
export type Matcher = (scene: Scene, at: number, anchorLength: number) => SecretPosition | null

/**
 * One rule that recognises secrets. It is tried only where one of its anchors occurs, so it costs nothing on other
 * text. Where several begin at one position, the longest anchor is tried first.
 */
export interface RedactionRule {
  readonly kind: RedactionKind
  readonly anchors: readonly string[]
  readonly ignoreCase: boolean
  readonly match: Matcher
  /** Returns true while a secret of several lines needs more bytes to be judged. */
  readonly isOpen?: (scene: Scene, at: number) => boolean
}

/**
 * The most bytes that a matcher other than that of key blocks reads behind its anchor; it never reads beyond the
 * line.
 */
export const lookaheadBytes = 1024
/**
 * The most bytes of a secret that are read to judge it; the rest belongs to it unread. Bounds the work for each
 * anchor.
 */
export const judgedBytes = 512
/** The most bytes that a matcher may read backwards. */
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

/** Returns the first position behind the secret; one beyond the end when an escape is cut in two. */
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

/** Returns the end of the judged part of a value. */
export function judgedEnd(scene: Scene, from: number, extent: Extent, bytesMax = judgedBytes): number {
  const end = Math.min(scene.end, from + bytesMax)
  let at = extentEnd(scene.bytes, from, end, extent)
  while (at + 2 <= end && isMarked(scene, at, extent)) at = extentEnd(scene.bytes, at + 2, end, extent)
  return at
}

/**
 * Reports whether a backslash includes the next character in a word. Before a quote it does if the word continues;
 * otherwise the quote ends a string.
 */
function isMarked(scene: Scene, at: number, { marks }: Extent): boolean {
  if (marks === undefined || byteAt(scene, at) !== backslash) return false
  const next = byteAt(scene, at + 1)
  return marks[next] === 1 || (isQuote(next) && wordBytes[byteAt(scene, at + 2)] === 1)
}

function isQuote(byte: number): boolean {
  return byte === 34 || byte === 39
}

/**
 * Returns the finding of a value that is judged to be a secret, which continues beyond the judged part and beyond the
 * arrived bytes.
 */
export function foundFrom(
  scene: Scene,
  start: number,
  from: number,
  judged: number,
  extent: Extent,
  bytesMax = judgedBytes,
): SecretPosition {
  if (judged - from < bytesMax) return { start, end: Math.min(judged, scene.end), extent: null }
  return { start, end: extentEnd(scene.bytes, judged, scene.end, extent), extent }
}
