import type { Literal, LiteralScanner } from "./literal-scanner.ts"

/** Up to here asking for each literal in turn takes less time than building the tables that make one pass enough. */
export const plainBytesMax = 1024

/** The same answers as the literal scanner's, for the few short texts that are all a short command has. */
export function createPlainScanner(literals: readonly Literal[]): LiteralScanner {
  const entries = literals
    .map(({ text, ignoreCase }, index) => ({
      index,
      ignoreCase,
      text: ignoreCase ? text.toLowerCase() : text,
    }))
    .sort((a, b) => b.text.length - a.text.length)
  const lengthMax = entries[0]?.text.length ?? 0

  return {
    lengthMax,
    find: (bytes, from) => {
      const { exact, folded } = spellings(bytes)
      let earliest = -1
      for (const { text, ignoreCase } of entries) {
        const found = (ignoreCase ? folded : exact).indexOf(text, from)
        if (found >= 0 && (earliest < 0 || found < earliest)) earliest = found
      }
      return earliest
    },
    literalsAt: (bytes, position) => {
      const { exact, folded } = spellings(bytes.subarray(position, position + lengthMax))
      return entries
        .filter(({ text, ignoreCase }) => (ignoreCase ? folded : exact).startsWith(text))
        .map(entry => entry.index)
    },
    findOpen: (bytes, from) => {
      const { exact, folded } = spellings(bytes)
      for (let position = Math.max(from, bytes.length - lengthMax + 1); position < bytes.length; position++) {
        const begun = entries.some(({ text, ignoreCase }) =>
          isBegun(text, (ignoreCase ? folded : exact).slice(position)),
        )
        if (begun) return position
      }
      return bytes.length
    },
  }
}

function isBegun(text: string, end: string): boolean {
  return text.length > end.length && text.startsWith(end)
}

/** Each byte one character, as literals are written. */
function spellings(bytes: Uint8Array): { readonly exact: string; readonly folded: string } {
  const exact = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1")
  return { exact, folded: exact.toLowerCase() }
}
