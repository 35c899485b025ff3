import { shownPath } from "../base/path-names.ts"
import { oneLine } from "../base/text.ts"
import type { CodeSymbol } from "../domain/code/symbol.ts"

/** A symbol of a workspace, with what it is ranked by. */
interface OutlinedSymbol {
  readonly path: string
  readonly language: string
  readonly symbol: CodeSymbol
  readonly usesElsewhere: number
}

export interface CodeOutline {
  readonly text: string
  readonly shownSymbols: number
  readonly symbols: number
}

/** The assumed length of a token: models differ, and an outline need not be exact. */
const charactersPerToken = 4

/** Kinds that say how a program is built; constants and variables are shown when something else uses them. */
const structural: ReadonlySet<string> = new Set([
  "function",
  "method",
  "class",
  "struct",
  "interface",
  "trait",
  "enum",
  "type",
  "impl",
  "module",
  "macro",
])

/** Returns the symbols that matter most, by file, within a number of tokens. */
export function outlineOfCode(symbols: readonly OutlinedSymbol[], tokensMax: number): CodeOutline {
  const ranked = symbols
    .filter(({ symbol, usesElsewhere }) => structural.has(symbol.kind) || usesElsewhere > 0)
    .filter(({ symbol }) => symbol.kind !== "key")
    .map(item => ({ ...item, score: scoreOf(item) }))
    .sort(
      (a, b) => b.score - a.score || (a.path < b.path ? -1 : 1) || a.symbol.byteStart - b.symbol.byteStart,
    )
  const shown = new Map<string, OutlinedSymbol[]>()
  let characters = 0
  let count = 0
  for (const item of ranked) {
    const inFile = shown.get(item.path)
    const cost = lineOf(item).length + 1 + (inFile === undefined ? headOf(item.path).length + 1 : 0)
    if (characters + cost > tokensMax * charactersPerToken) continue
    characters += cost
    count++
    if (inFile === undefined) shown.set(item.path, [item])
    else inFile.push(item)
  }
  const lines = [...shown].flatMap(([path, items]) => [
    headOf(path),
    ...items.sort((a, b) => a.symbol.byteStart - b.symbol.byteStart).map(lineOf),
  ])
  return { text: lines.join("\n"), shownSymbols: count, symbols: ranked.length }
}

/** Uses in other files first, then whether a symbol can be used there at all, then its size. */
function scoreOf(item: OutlinedSymbol): number {
  const { symbol, usesElsewhere } = item
  const size = Math.min(1, (symbol.lineEnd - symbol.lineStart) / 1000)
  if (!isVisibleElsewhere(item)) return size
  // Members of many unrelated types share a name, and names are all that is compared.
  const weight = symbol.container === null ? 1 : 0.2
  return 1 + usesElsewhere * weight + size
}

function isVisibleElsewhere({
  language,
  symbol: { name, kind, container, signature },
}: OutlinedSymbol): boolean {
  if (container !== null && kind !== "method" && !signature.startsWith("export")) return false
  switch (language) {
    case "typescript":
    case "tsx":
      return kind === "method" || signature.startsWith("export")
    case "rust":
      return kind === "impl" || signature.startsWith("pub")
    case "go":
      return /^\p{Lu}/u.test(name)
    case "c":
    case "cpp":
      return !signature.startsWith("static ")
    default:
      return true
  }
}

function headOf(path: string): string {
  return `${oneLine(shownPath(path), 200)}:`
}

function lineOf({ symbol }: OutlinedSymbol): string {
  const { lineStart, signature, container, name } = symbol
  const inside = container === null ? "" : `${oneLine(container, 60)}: `
  return `  ${lineStart}  ${inside}${signature === "" ? oneLine(name, 80) : signature}`
}
