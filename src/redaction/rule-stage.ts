import { alphabetOf } from "../base/byte-sets.ts"
import {
  createLiteralScanner,
  createPlainScanner,
  type LiteralScanner,
  plainBytesMax,
} from "./literal-scanner.ts"
import { markerOf, type RedactionKind } from "./marker.ts"
import { keepText, type ReadableText, readableText } from "./readable-text.ts"
import { redactionRules } from "./rules.ts"
import {
  byteBefore,
  contextBytes,
  type Extent,
  extentEnd,
  lookaheadBytes,
  newline,
  type RedactionRule,
  type Scene,
  type SecretPosition,
  textAt,
} from "./scene.ts"
import { concat, copyOf, type Edits, editsOf, type OnReplaced, type RedactionStage } from "./stage.ts"

interface Anchor {
  readonly text: string
  readonly ignoreCase: boolean
  readonly rule: RedactionRule
  readonly marker: Uint8Array
}

const anchors: readonly Anchor[] = redactionRules.flatMap(rule =>
  rule.anchors.map(text => ({
    text,
    ignoreCase: rule.ignoreCase,
    rule,
    marker: Buffer.from(markerOf(rule.kind)),
  })),
)
const plainScanner = createPlainScanner(anchors)
let tableScanner: LiteralScanner | null = null

/** Returns the scanner. The tables are built for the first text that is long enough to justify them. */
function scannerFor(bytes: Uint8Array): LiteralScanner {
  if (tableScanner === null && bytes.length <= plainBytesMax) return plainScanner
  tableScanner ??= createLiteralScanner(anchors)
  return tableScanner
}

/** Receives the findings of a stage. */
export interface Findings {
  /**
   * Called for a secret: its readable bytes as far as they have arrived, and the output position behind its marker.
   */
  add(kind: RedactionKind, value: Uint8Array, place: number): void
  /** Called when the bytes that are being pushed read differently from their spelling. */
  noteDecoration(source: Uint8Array, text: ReadableText): void
}

/** The state of a stage between two pieces of the input; all positions are positions of the input. */
interface Progress {
  /** The bytes that are held back, preceded by up to `contextBytes` that were returned. */
  kept: Uint8Array
  out: number
  floor: number
  floorByte: number
  /** A secret whose marker was returned and that continues. */
  swallowed: { readonly extent: Extent; readonly skip: number } | null
}

/** The most bytes that are searched again for every line, which bounds the time for hostile input. */
const heldBytesMax = 64 * 1024

/**
 * Finds secrets by the rules, in the text as its reader sees it. Bytes are held back while an anchor in them may
 * begin a secret: to the end of the line, at most `lookaheadBytes`; key blocks to their END.
 */
export function createRuleStage(onReplaced?: OnReplaced, findings?: Findings): RedactionStage {
  const progress: Progress = {
    kept: new Uint8Array(0),
    out: 0,
    floor: 0,
    floorByte: newline,
    swallowed: null,
  }
  let waiting: Uint8Array[] = []
  let waitingBytes = 0
  let written = 0
  return {
    push: (chunk, final) => {
      if (chunk.length === 0 && !final) return chunk
      waitingBytes += chunk.length
      if (!final && progress.kept.length > heldBytesMax && waitingBytes < progress.kept.length / 4) {
        waiting.push(copyOf(chunk, 0))
        return new Uint8Array(0)
      }
      const bytes = concat([progress.kept, ...waiting, chunk])
      waiting = []
      waitingBytes = 0
      const edits = editsOf(bytes, onReplaced)
      const text = readableText(bytes, final)
      if (text.bytes !== bytes) findings?.noteDecoration(bytes, text)
      const start = swallow(progress, text)
      scan({ progress, source: bytes, text, edits, final, written, findings }, start)
      written += edits.length()
      return edits.result()
    },
  }
}

/** Skips bytes of a secret whose marker was returned, and returns where the readable rest begins. */
function swallow(progress: Progress, text: ReadableText): number {
  const out = text.readableAt(progress.out)
  const { swallowed } = progress
  if (swallowed === null) return out
  const { bytes } = text
  const isEscaped = swallowed.skip > 0 && bytes[out] !== newline
  const from = Math.min(bytes.length, isEscaped ? out + 1 : out)
  const end = extentEnd(bytes, from, bytes.length, swallowed.extent)
  progress.swallowed = end < bytes.length ? null : { extent: swallowed.extent, skip: end - bytes.length }
  const start = Math.min(end, bytes.length)
  progress.out = text.endOf(start)
  progress.floor = progress.out
  return start
}

interface Scan {
  readonly progress: Progress
  readonly source: Uint8Array
  readonly text: ReadableText
  readonly edits: Edits
  readonly final: boolean
  /** The number of bytes that were returned before. */
  readonly written: number
  readonly findings: Findings | undefined
}

/** Writes the bytes that are known to be free of secrets, and keeps the rest. */
function scan(run: Scan, start: number): void {
  const { progress, source, text, edits, final, written, findings } = run
  const { bytes } = text
  const end = bytes.length
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, end)
  const scanner = scannerFor(bytes)
  const lastLine = final ? end : bytes.lastIndexOf(newline) + 1
  let scene: Scene = {
    bytes: view,
    floor: text.readableAt(progress.floor),
    floorByte: progress.floorByte,
    end,
    final,
  }
  const redactPayload = (payload: Uint8Array) => {
    const inPayload: Findings = {
      add: (kind, value) => findings?.add(kind, value, written + edits.length()),
      noteDecoration: (_, inside) => findings?.noteDecoration(payload, inside),
    }
    return createRuleStage(undefined, inPayload).push(payload, true)
  }
  let copied = progress.out
  let at = start
  for (;;) {
    at = at < end ? scanner.find(bytes, at) : -1
    if (at < 0) break
    const attempt = tryAnchors(scene, at, at < lastLine || end - at >= lookaheadBytes)
    if (attempt === "open") break
    if (attempt === null) {
      at += 1
      continue
    }
    const { found, anchor } = attempt
    for (const span of [found, ...(found.also ?? [])]) {
      keepText(source, text, edits, copied, text.startOf(span.start), redactPayload)
      edits.add(anchor.marker)
      findings?.add(anchor.rule.kind, bytes.subarray(span.start, span.end), written + edits.length())
      at = Math.min(end, span.end)
      copied = text.endOf(at)
    }
    scene = { bytes: view, floor: at, floorByte: closingBracket, end, final }
    const last = found.also?.at(-1) ?? found
    if (last.end >= end && found.extent !== null)
      progress.swallowed = { extent: found.extent, skip: last.end - end }
  }
  // No anchor contains a carriage return: a progress bar is shown before its line ends.
  const lastReturn = bytes.lastIndexOf(carriageReturn) + 1
  // From here a longer anchor may begin that has not arrived as a whole.
  const last = Math.max(lastLine, lastReturn, end - scanner.lengthMax + 1)
  const unseen = leadStart(bytes, at >= 0 ? Math.min(at, last) : last)
  const held = final ? end : Math.max(text.readableAt(copied), unseen)
  const out = held === end ? text.sourceEnd : Math.max(copied, text.startOf(held))
  keepText(source, text, edits, copied, out, redactPayload)
  remember(run, scene, held, out)
}

/**
 * Returns the start of the characters before a position that may belong to a token whose anchor is in the middle or at
 * its end.
 */
function leadStart(bytes: Uint8Array, at: number): number {
  let start = at
  while (start > 0 && at - start < leadBytesMax && leadBytes[bytes[start - 1] ?? 0] === 1) start -= 1
  return start
}

/** More than the longest lead of a rule. */
const leadBytesMax = 128
const leadBytes = alphabetOf(/[\w.~+/=-]/)

function remember({ progress, source, text }: Scan, scene: Scene, held: number, out: number): void {
  const context = Math.max(0, held - contextBytes)
  const from = Math.min(out, text.startOf(context))
  progress.kept = copyOf(source, from)
  progress.out = out - from
  progress.floorByte = scene.floor < context ? (text.bytes[context - 1] ?? newline) : scene.floorByte
  progress.floor = Math.max(0, text.endOf(scene.floor) - from)
}

const closingBracket = 93
const carriageReturn = 13

function tryAnchors(
  scene: Scene,
  at: number,
  isDecidable: boolean,
): { readonly found: SecretPosition; readonly anchor: Anchor } | "open" | null {
  for (const index of scannerFor(scene.bytes).literalsAt(scene.bytes, at)) {
    const anchor = anchors[index]
    if (anchor === undefined) continue
    const { isOpen, match } = anchor.rule
    if (isOpen === undefined ? !isDecidable : !scene.final && isOpen(scene, at)) return "open"
    const found = match(scene, at, anchor.text.length)
    if (found !== null) return isInMarker(scene, at) ? null : { found, anchor }
  }
  return null
}

const kindBytes = alphabetOf(/[a-z-]/)
const markerOpening = "[REDACTED:"
const colon = 58

/** Reports whether the anchor is in a marker: in `[REDACTED:token] = x` the word is not a key. */
function isInMarker(scene: Scene, at: number): boolean {
  let start = at
  while (at - start < kindLengthMax && kindBytes[byteBefore(scene, start)] === 1) start -= 1
  return (
    byteBefore(scene, start) === colon && textAt(scene, start - markerOpening.length, start) === markerOpening
  )
}

const kindLengthMax = 24
