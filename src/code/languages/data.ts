import { isMap, isScalar, isSeq, type Node, parseAllDocuments } from "yaml"
import { oneLine } from "../../base/text.ts"
import type { CodeSymbol, FileFacts } from "../../domain/code/symbol.ts"
import type { DataLanguage } from "../language.ts"
import type { SourceText } from "../source-text.ts"

/** The parser of data cannot be stopped, so that what it is given is small. */
const charactersMax = 512 * 1024
const depthMax = 4
const keysMax = 5_000

/** Returns the keys of a JSON or YAML file as symbols; the reason as text where it is not read. */
export function dataFacts(language: DataLanguage, source: SourceText): FileFacts | string {
  if (source.text.length > charactersMax) return `it is larger than ${charactersMax / 1024} KiB of data`
  const documents = parseAllDocuments(source.text, {
    prettyErrors: false,
    logLevel: "silent",
    // Otherwise each key is compared with all before it.
    uniqueKeys: false,
  })
  const parsed = Array.isArray(documents) ? documents : []
  const symbols: CodeSymbol[] = []
  for (const document of parsed) collect(document.contents, null, 1, source, symbols)
  const errorCount = parsed.reduce((sum, { errors }) => sum + errors.length, 0)
  return { kind: "parsed", language, symbols, references: [], errorCount }
}

function collect(
  node: unknown,
  container: string | null,
  depth: number,
  source: SourceText,
  symbols: CodeSymbol[],
): void {
  if (depth > depthMax) return
  if (isSeq(node)) for (const item of node.items) collect(item, container, depth + 1, source, symbols)
  if (!isMap(node)) return
  for (const { key, value } of node.items) {
    if (!isScalar(key) || symbols.length >= keysMax) continue
    const name = String(key.value)
    const start = key.range?.[0]
    if (start === undefined) continue
    // The parser gives nodes, or null where nothing stands behind the colon.
    const valueEnd = (value as Node | null)?.range?.[1] ?? key.range?.[1] ?? start
    const end = start + source.text.slice(start, valueEnd).trimEnd().length
    const [firstLine = ""] = source.text.slice(start, end).split("\n", 1)
    symbols.push({
      name,
      kind: "key",
      byteStart: source.byteAt(start),
      byteEnd: source.byteAt(end),
      lineStart: source.lineAt(start),
      lineEnd: source.lineAt(Math.max(start, end - 1)),
      container,
      signature: oneLine(firstLine.trim(), 160),
    })
    collect(value, container === null ? name : `${container}.${name}`, depth + 1, source, symbols)
  }
}
