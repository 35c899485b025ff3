import {
  createLiteralScanner,
  createPlainScanner,
  type LiteralScanner,
  plainBytesMax,
} from "./literal-scanner.ts"
import { markerOf, type RedactionKind } from "./marker.ts"
import { concat, copyOf, editsOf, type StageMaker } from "./stage.ts"

/** One spelling of a secret value, and its replacement. */
export interface Spelling {
  readonly text: string
  readonly ignoreCase: false
  readonly marker: Uint8Array
  /** The position in the text from which it is searched for. */
  readonly from: number
}

export interface ValueSet {
  readonly spellings: readonly Spelling[]
  scannerFor(bytes: Uint8Array): LiteralScanner
}

export function valueSetOf(spellings: readonly Spelling[]): ValueSet {
  const plainScanner = createPlainScanner(spellings)
  let tableScanner: LiteralScanner | null = null
  return {
    spellings,
    // As with the rules, the tables are built for the first text that is long enough to justify them.
    scannerFor: bytes => {
      if (tableScanner === null && bytes.length <= plainBytesMax) return plainScanner
      tableScanner ??= createLiteralScanner(spellings)
      return tableScanner
    },
  }
}

export function spellingsAs(kind: RedactionKind, texts: readonly string[], from = 0): Spelling[] {
  const marker = Buffer.from(markerOf(kind))
  return texts.map(text => ({ text, ignoreCase: false, marker, from }))
}

/**
 * Replaces the spellings of known secret values. Holds back at most one byte less than the longest spelling, and only
 * while the last bytes could begin one.
 */
export function createValueStages({ spellings, scannerFor }: ValueSet): StageMaker {
  return onReplaced => {
    let held: Uint8Array = new Uint8Array(0)
    return {
      push: (chunk, final) => {
        const bytes = concat([held, chunk])
        const end = bytes.length
        const scanner = scannerFor(bytes)
        const edits = editsOf(bytes, onReplaced)
        let open = final ? end : scanner.findOpen(bytes, 0)
        let copied = 0
        for (;;) {
          const found = scanner.find(bytes, copied)
          if (found < 0 || found >= open) break
          const longest = spellings[scanner.literalsAt(bytes, found)[0] ?? 0]
          if (longest === undefined) break
          edits.keep(copied, found)
          edits.add(longest.marker)
          copied = found + longest.text.length
          if (copied > open) open = scanner.findOpen(bytes, copied)
        }
        edits.keep(copied, open)
        held = copyOf(bytes, open)
        return edits.result()
      },
    }
  }
}
