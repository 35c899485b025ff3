import { createLiteralScanner, type LiteralScanner } from "./literal-scanner.ts"
import { markerOf } from "./marker.ts"
import { createPlainScanner, plainBytesMax } from "./plain-scanner.ts"
import { concat, copyOf, editsOf, type StageMaker } from "./redaction-stage.ts"

/**
 * Replaces the spellings of known secret values. Holds back at most one byte less than the longest spelling, and
 * only while what arrived could be the beginning of one.
 */
export function createValueStages(spellings: readonly string[]): StageMaker {
  const literals = spellings.map(text => ({ text, ignoreCase: false }))
  const plainScanner = createPlainScanner(literals)
  let tableScanner: LiteralScanner | null = null
  // As with the rules, the tables are built for the first text that is long enough to be worth it.
  const scannerFor = (bytes: Uint8Array): LiteralScanner => {
    if (tableScanner === null && bytes.length <= plainBytesMax) return plainScanner
    tableScanner ??= createLiteralScanner(literals)
    return tableScanner
  }
  const marker = Buffer.from(markerOf("environment"))
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
          const [longest] = scanner.literalsAt(bytes, found)
          edits.keep(copied, found)
          edits.add(marker)
          copied = found + (spellings[longest ?? 0]?.length ?? 0)
          if (copied > open) open = scanner.findOpen(bytes, copied)
        }
        edits.keep(copied, open)
        held = copyOf(bytes, open)
        return edits.result()
      },
    }
  }
}
