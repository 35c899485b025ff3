import type { FileFacts, UnparsedFile } from "../domain/code/symbol.ts"
import type { CodeParser, ParseLimits } from "./contract.ts"
import { errorCountOf, type ParsedTree, ReadingTooSlow, referencesOf, symbolsOf } from "./facts.ts"
import type { CodeLanguage } from "./language.ts"
import { languageOfFile, loadLanguage } from "./language-table.ts"
import { dataFacts } from "./languages/data.ts"
import { decodeSource, type SourceText } from "./source-text.ts"

/** Changes whenever the same file would give other facts: another grammar, query or way to read them. */
const version = "1"

export const usualLimits: ParseLimits = {
  fileBytesMax: 2 * 1024 * 1024,
  lineCharactersMax: 5_000,
  parseMs: 500,
}

/** Returns a parser. The grammar of a language is loaded when its first file comes. */
export function createCodeParser(limits: ParseLimits = usualLimits): CodeParser {
  return {
    version,
    languageOf: (path, bytes) => nameOf(languageOfFile(path, bytes)),
    parse: async (path, bytes) => {
      const language = languageOfFile(path, bytes)
      if (language === null) return null
      const unparsed = (reason: string): UnparsedFile => ({
        kind: "unparsed",
        language: nameOf(language) ?? "",
        reason,
      })
      if (bytes.length > limits.fileBytesMax)
        return unparsed(`it is larger than ${Math.floor(limits.fileBytesMax / 1024)} KiB`)
      const source = decodeSource(bytes, limits.lineCharactersMax)
      if ("reason" in source) return unparsed(source.reason)
      const facts =
        typeof language === "string"
          ? dataFacts(language, source)
          : await parseCode(language, source, limits.parseMs)
      return typeof facts === "string" ? unparsed(facts) : facts
    },
  }
}

function nameOf(language: ReturnType<typeof languageOfFile>): string | null {
  return typeof language === "object" ? (language?.name ?? null) : language
}

/** Returns the reason as text where there are no facts. */
function parseCode(language: CodeLanguage, source: SourceText, parseMs: number): Promise<FileFacts | string> {
  return readParsed(language, source, parseMs, parsed => ({
    kind: "parsed",
    language: language.name,
    symbols: symbolsOf(parsed),
    references: referencesOf(parsed),
    errorCount: errorCountOf(parsed),
  }))
}

/** Parses a text and returns what `read` finds in the tree, or the reason as text where there is no tree. */
export async function readParsed<Found>(
  language: CodeLanguage,
  source: SourceText,
  parseMs: number,
  read: (parsed: ParsedTree) => Found,
): Promise<Found | string> {
  const { parser, queries } = await loadLanguage(language)
  const deadline = performance.now() + parseMs
  const tree = parser.parse(source.text, null, { progressCallback: () => performance.now() > deadline })
  if (tree === null) {
    // Otherwise the next file would be parsed as the rest of this one.
    parser.reset()
    return `parsing took longer than ${parseMs} ms`
  }
  try {
    return read({ tree, language, queries, source, deadline: performance.now() + parseMs })
  } catch (error) {
    if (error instanceof ReadingTooSlow) return `reading the syntax tree took longer than ${parseMs} ms`
    throw error
  } finally {
    tree.delete()
  }
}
