import type { SpliceSymbol } from "../../code/contract.ts"
import { outlineOfCode } from "../../code/outline.ts"
import { createCodeParser } from "../../code/parser.ts"
import { createSplicer } from "../../code/splice.ts"
import { type CodeSymbol, isNamed, type ReferenceRow, type SymbolRow } from "../../domain/code/symbol.ts"
import { Failure } from "../../domain/failure.ts"
import { isDamage } from "../../store/code-index/code-index.ts"
import type { CodeIndex } from "../../store/code-index/contract.ts"
import type { CodeQuestions, Staleness } from "../../tools/contract.ts"
import { type IndexRequest, openUpdatedIndex, parseLimitsOf, sourceBytesMax } from "./code.ts"
import type { Wiring } from "./wire.ts"

/** The time that a question may wait for the index to be updated. */
export const updateMsMax = 2_000

type AskRequest = Omit<IndexRequest, "isRebuilt">

/** Asks the index after updating it, and once more with a new index when the first one was damaged. */
export async function askCode<Answer extends object>(
  wiring: Wiring,
  request: AskRequest,
  question: (index: CodeIndex) => Answer,
): Promise<Answer & Staleness> {
  try {
    return await askOnce(wiring, { ...request, isRebuilt: false }, question)
  } catch (error) {
    if (!isDamage(error) || request.timeMs === 0) throw error
    return askOnce(wiring, { ...request, isRebuilt: true }, question)
  }
}

async function askOnce<Answer extends object>(
  wiring: Wiring,
  request: IndexRequest,
  question: (index: CodeIndex) => Answer,
): Promise<Answer & Staleness> {
  using opened = await openUpdatedIndex(wiring, request)
  const { missing } = opened.update
  return { ...question(opened.index), stale: missing > 0, missingFiles: missing }
}

/** Returns the questions about code that a tool can ask; each one updates the index for at most `timeMs`. */
export function codeQuestions(wiring: Wiring, timeMs: number | null): CodeQuestions {
  const located = async (typed: string) => (await wiring.workspace()).workspace.locate(typed).relative
  return {
    symbolsInFile: async typed => {
      const path = await located(typed)
      return askCode(wiring, { timeMs, first: path }, index => {
        const file = index.files().get(path)
        if (file === undefined || file.unparsed !== null) throw noSymbols(path, file?.unparsed ?? null)
        return { rows: index.symbolsIn(path).map(symbol => symbolRow(path, symbol)) }
      })
    },
    references: async (name, from) => {
      const path = from === null ? undefined : await located(from)
      const request = path === undefined ? { timeMs } : { timeMs, first: path }
      return askCode(wiring, request, index => ({ rows: referenceRows(index, name, path) }))
    },
    symbolsNamed: async (typed, from) => {
      if (from !== null)
        return { rows: await symbolsOfFile(wiring, typed, from), stale: false, missingFiles: 0 }
      const name = ownName(typed)
      return askCode(wiring, { timeMs }, index => ({
        rows: [...index.symbolsNamed(typed), ...(name === typed ? [] : index.symbolsNamed(name))]
          .filter(each => isNamed(each.symbol, typed))
          .map(each => symbolRow(each.path, each.symbol)),
      }))
    },
  }
}

/** Reads the file itself, as a splice does: git may ignore it, and then the index does not know it. */
async function symbolsOfFile(wiring: Wiring, typed: string, from: string): Promise<readonly SymbolRow[]> {
  const { workspace } = await wiring.workspace()
  const limits = await parseLimitsOf(wiring)
  const { path, bytes } = workspace.readBytes(from, sourceBytesMax)
  const facts = await createCodeParser(limits).parse(path, bytes)
  if (facts?.kind !== "parsed") throw noSymbols(path, facts?.reason ?? null)
  return facts.symbols.filter(symbol => isNamed(symbol, typed)).map(symbol => symbolRow(path, symbol))
}

/** The time that the first request of a session may wait for changed files to be parsed. */
const outlineMsMax = 300

/** Returns the most used symbols within a number of tokens; null where the index cannot be asked. */
export async function outlineWithin(wiring: Wiring, tokensMax: number): Promise<string | null> {
  try {
    const request = { timeMs: outlineMsMax }
    const { text } = await askCode(wiring, request, index => outlineOfCode(index.ranked(""), tokensMax))
    return text
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    // The caller uses the outline of file names instead.
    return null
  }
}

/** Returns the function that replaces symbols, within the limits that configuration sets. */
export async function codeSplicer(wiring: Wiring): Promise<SpliceSymbol> {
  const limits = await parseLimitsOf(wiring)
  return createSplicer(createCodeParser(limits), limits)
}

function symbolRow(path: string, symbol: CodeSymbol): SymbolRow {
  const { name, kind, byteStart, byteEnd, lineStart, lineEnd, container, signature } = symbol
  return {
    symbol_id: symbolId(path, symbol),
    name,
    kind,
    file_path: path,
    byte_start: byteStart,
    byte_end: byteEnd,
    line_start: lineStart,
    line_end: lineEnd,
    container,
    signature,
  }
}

function symbolId(path: string, { byteStart }: CodeSymbol): string {
  return `${path}#${byteStart}`
}

function ownName(typed: string): string {
  const own = typed.slice(typed.lastIndexOf(".") + 1)
  return own === "" ? typed : own
}

/** `Container.name` asks for the places of `name`, and links them to that one symbol. */
function referenceRows(index: CodeIndex, typed: string, path: string | undefined): readonly ReferenceRow[] {
  const name = index.symbolsNamed(typed).length > 0 ? typed : ownName(typed)
  const defined = index.symbolsNamed(name).filter(({ symbol }) => isNamed(symbol, typed))
  const [only] = defined.length === 1 ? defined : []
  const symbolOf = only === undefined ? null : symbolId(only.path, only.symbol)
  const length = Buffer.byteLength(name)
  return index.references(name, path).flatMap(file =>
    file.places.map(({ byteStart, line }) => ({
      reference_id: `${file.path}#${byteStart}`,
      from_file_path: file.path,
      symbol_id: symbolOf,
      symbol_name: name,
      byte_start: byteStart,
      byte_end: byteStart + length,
      line,
      match: "name" as const,
    })),
  )
}

function noSymbols(path: string, reason: string | null): Failure {
  return new Failure({
    kind: "usage",
    code: "ACODE-CODE-001",
    message: `the file has no symbols: ${reason ?? "it is not indexed, or its language is not known"}`,
    where: path,
    hint: "`acode index --problems` lists the files that could not be parsed",
  })
}
