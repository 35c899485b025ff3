import { alphabetOf } from "./alphabet.ts"
import { createLiteralScanner } from "./literal-scanner.ts"
import { markerOf } from "./marker.ts"
import { isOpenBlock, keyBlockBytesMax } from "./match-private-key.ts"
import { redactionRules } from "./redaction-rules.ts"
import { concat, type Edits, editsOf, type RedactionStage } from "./redaction-stage.ts"
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
const scanner = createLiteralScanner(anchors)

/** The most a stage ever holds back: a key block whose end has not come, and what is needed to see that. */
export const heldBytesMax = keyBlockBytesMax + lookaheadBytes

/**
 * Finds secrets by the rules. Bytes are held back while an anchor in them may still turn out to begin a secret: to
 * the end of the line, and no more than `lookaheadBytes` of it; key blocks to their END.
 */
export function createRuleStage(): RedactionStage {
  /** Up to `contextBytes` that are already out, then what is held back. */
  let kept: Uint8Array = new Uint8Array(0)
  let out = 0
  let floor = 0
  let floorByte = newline
  let swallowed: { readonly extent: Extent; readonly skip: number } | null = null

  function push(chunk: Uint8Array, final: boolean): Uint8Array {
    if (chunk.length === 0 && !final) return chunk
    const bytes = concat([kept, chunk])
    const edits = editsOf(bytes)
    const start = swallow(bytes)
    const held = start < bytes.length ? scan(bytes, start, final, edits) : bytes.length
    const from = Math.max(0, held - contextBytes)
    kept = bytes.slice(from)
    out = held - from
    if (floor < from) floorByte = bytes[from - 1] ?? newline
    floor = Math.max(0, floor - from)
    return edits.result()
  }

  /** Skips what still belongs to a secret whose marker is already out. */
  function swallow(bytes: Uint8Array): number {
    if (swallowed === null) return out
    const isEscaped = swallowed.skip > 0 && bytes[out] !== newline
    const from = Math.min(bytes.length, isEscaped ? out + 1 : out)
    const end = extentEnd(bytes, from, bytes.length, swallowed.extent)
    swallowed = end < bytes.length ? null : { extent: swallowed.extent, skip: end - bytes.length }
    floor = Math.min(end, bytes.length)
    return floor
  }

  /** Writes what is known to be free of secrets, and answers where the rest begins. */
  function scan(bytes: Uint8Array, start: number, final: boolean, edits: Edits): number {
    const end = bytes.length
    const view = Buffer.from(bytes.buffer, bytes.byteOffset, end)
    const lastLine = final ? end : bytes.lastIndexOf(newline) + 1
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
      edits.keep(copied, attempt.found.start)
      edits.add(attempt.marker)
      at = Math.min(end, attempt.found.end)
      copied = at
      floor = at
      floorByte = closingBracket
      scene = { ...scene, floor, floorByte }
      if (attempt.found.end >= end && attempt.found.extent !== null)
        swallowed = { extent: attempt.found.extent, skip: attempt.found.end - end }
    }
    const held = final
      ? end
      : Math.max(copied, at >= 0 ? at : Math.max(lastLine, end - scanner.lengthMax + 1))
    edits.keep(copied, held)
    return held
  }

  return { push }
}

const closingBracket = 93

function tryAnchors(
  scene: Scene,
  at: number,
  isDecidable: boolean,
): { readonly found: Found; readonly marker: Uint8Array } | "open" | null {
  if (isInMarker(scene, at)) return null
  for (const index of scanner.literalsAt(scene.bytes, at)) {
    const anchor = anchors[index]
    if (anchor === undefined) continue
    const isOpen = anchor.isBlock ? !scene.final && isOpenBlock(scene, at) : !isDecidable
    if (isOpen) return "open"
    const found = anchor.match(scene, at, anchor.text.length)
    if (found !== null) return { found, marker: anchor.marker }
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
