import { alphabetOf } from "./alphabet.ts"
import { createLiteralScanner, type LiteralScanner } from "./literal-scanner.ts"
import { markerOf } from "./marker.ts"
import { isOpenBlock } from "./match-private-key.ts"
import { createPlainScanner, plainBytesMax } from "./plain-scanner.ts"
import { redactionRules } from "./redaction-rules.ts"
import {
  concat,
  copyOf,
  type Edits,
  editsOf,
  type OnReplaced,
  type RedactionStage,
} from "./redaction-stage.ts"
import {
  byteBefore,
  contextBytes,
  type Extent,
  extentEnd,
  type Found,
  lookaheadBytes,
  newline,
  type Scene,
  textAt,
} from "./scene.ts"

interface Anchor {
  readonly text: string
  readonly ignoreCase: boolean
  readonly marker: Uint8Array
  readonly match: (typeof redactionRules)[number]["match"]
  readonly isBlock: boolean
}

const anchors: readonly Anchor[] = redactionRules.flatMap(rule =>
  rule.anchors.map(text => ({
    text,
    ignoreCase: rule.ignoreCase,
    marker: Buffer.from(markerOf(rule.kind)),
    match: rule.match,
    isBlock: rule.kind === "private-key" && text.startsWith("-----"),
  })),
)
const plainScanner = createPlainScanner(anchors)
let tableScanner: LiteralScanner | null = null

/** The tables are built for the first text that is long enough to be worth it. */
function scannerFor(bytes: Uint8Array): LiteralScanner {
  if (tableScanner === null && bytes.length <= plainBytesMax) return plainScanner
  tableScanner ??= createLiteralScanner(anchors)
  return tableScanner
}

/** What a stage remembers between two pieces of the input. */
interface Progress {
  /** Up to `contextBytes` that are already out, then what is held back. */
  kept: Uint8Array
  /** How much of `kept` is already out. */
  out: number
  floor: number
  floorByte: number
  /** A secret whose marker is out and which goes on. */
  swallowed: { readonly extent: Extent; readonly skip: number } | null
}

/**
 * Finds secrets by the rules. Bytes are held back while an anchor in them may still turn out to begin a secret: to
 * the end of the line, and no more than `lookaheadBytes` of it; key blocks to their END.
 */
export function createRuleStage(onReplaced?: OnReplaced): RedactionStage {
  const progress: Progress = {
    kept: new Uint8Array(0),
    out: 0,
    floor: 0,
    floorByte: newline,
    swallowed: null,
  }
  return {
    push: (chunk, final) => {
      if (chunk.length === 0 && !final) return chunk
      const bytes = concat([progress.kept, chunk])
      const edits = editsOf(bytes, onReplaced)
      const start = swallow(progress, bytes)
      const held = start < bytes.length ? scan(progress, bytes, start, final, edits) : bytes.length
      remember(progress, bytes, held)
      return edits.result()
    },
  }
}

/** Skips what still belongs to a secret whose marker is already out. */
function swallow(progress: Progress, bytes: Uint8Array): number {
  const { out, swallowed } = progress
  if (swallowed === null) return out
  const isEscaped = swallowed.skip > 0 && bytes[out] !== newline
  const from = Math.min(bytes.length, isEscaped ? out + 1 : out)
  const end = extentEnd(bytes, from, bytes.length, swallowed.extent)
  progress.swallowed = end < bytes.length ? null : { extent: swallowed.extent, skip: end - bytes.length }
  progress.floor = Math.min(end, bytes.length)
  return progress.floor
}

/** Writes what is known to be free of secrets, and answers where the rest begins. */
function scan(progress: Progress, bytes: Uint8Array, start: number, final: boolean, edits: Edits): number {
  const end = bytes.length
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, end)
  const scanner = scannerFor(bytes)
  const lastLine = final ? end : bytes.lastIndexOf(newline) + 1
  const { floor, floorByte } = progress
  let scene: Scene = { bytes: view, floor, floorByte, end, final }
  let copied = start
  let at = start
  for (;;) {
    at = scanner.find(bytes, at)
    if (at < 0) break
    const attempt = tryAnchors(scene, at, at < lastLine || end - at >= lookaheadBytes)
    if (attempt === "open") break
    if (attempt === null) {
      at += 1
      continue
    }
    const { found, marker } = attempt
    edits.keep(copied, found.start)
    edits.add(marker)
    at = Math.min(end, found.end)
    copied = at
    scene = { bytes: view, floor: at, floorByte: closingBracket, end, final }
    if (found.end >= end && found.extent !== null)
      progress.swallowed = { extent: found.extent, skip: found.end - end }
  }
  progress.floor = scene.floor
  progress.floorByte = scene.floorByte
  // No anchor has a carriage return in it: a progress bar is shown before its line ends.
  const lastReturn = bytes.lastIndexOf(carriageReturn) + 1
  const unseen = at >= 0 ? at : Math.max(lastLine, lastReturn, end - scanner.lengthMax + 1)
  const held = final ? end : Math.max(copied, unseen)
  edits.keep(copied, held)
  return held
}

function remember(progress: Progress, bytes: Uint8Array, held: number): void {
  const from = Math.max(0, held - contextBytes)
  progress.kept = copyOf(bytes, from)
  progress.out = held - from
  if (progress.floor < from) progress.floorByte = bytes[from - 1] ?? newline
  progress.floor = Math.max(0, progress.floor - from)
}

const closingBracket = 93
const carriageReturn = 13

function tryAnchors(
  scene: Scene,
  at: number,
  isDecidable: boolean,
): { readonly found: Found; readonly marker: Uint8Array } | "open" | null {
  for (const index of scannerFor(scene.bytes).literalsAt(scene.bytes, at)) {
    const anchor = anchors[index]
    if (anchor === undefined) continue
    const isOpen = anchor.isBlock ? !scene.final && isOpenBlock(scene, at) : !isDecidable
    if (isOpen) return "open"
    const found = anchor.match(scene, at, anchor.text.length)
    if (found !== null) return isInMarker(scene, at) ? null : { found, marker: anchor.marker }
  }
  return null
}

const kindBytes = alphabetOf(/[a-z-]/)
const markerOpening = "[REDACTED:"
const colon = 58

/** `[REDACTED:token] = x` came from a redaction; the word in it is no key. */
function isInMarker(scene: Scene, at: number): boolean {
  let start = at
  while (at - start < kindLengthMax && kindBytes[byteBefore(scene, start)] === 1) start -= 1
  return (
    byteBefore(scene, start) === colon && textAt(scene, start - markerOpening.length, start) === markerOpening
  )
}

const kindLengthMax = 24
