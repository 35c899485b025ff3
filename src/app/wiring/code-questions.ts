import { type CodeSymbol, isNamed, type ReferenceRow, type SymbolRow } from "../../domain/code/symbol.ts"
import { Failure } from "../../domain/failure.ts"
import { isDamage } from "../../store/code-index/code-index.ts"
import type { CodeIndex } from "../../store/code-index/contract.ts"
import type { CodeQuestions, Staleness } from "../../tools/contract.ts"
import { type IndexRequest, openUpdatedIndex } from "./code.ts"
import type { Wiring } from "./wire.ts"

/** How long a question may wait for the index to be brought up to date. */
export const updateMsMax = 2_000

type AskRequest = Omit<IndexRequest, "isRebuilt">

/** Asks the index after bringing it up to date, and once more with a new index where the first one was damaged. */
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

/** Returns what can be asked about the code, each question within a time for updates. */
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
      const path = from === null ? null : await located(from)
      const name = ownName(typed)
      return askCode(wiring, path === null ? { timeMs } : { timeMs, first: path }, index => ({
        rows: [...index.symbolsNamed(typed), ...(name === typed ? [] : index.symbolsNamed(name))]
          .filter(each => isNamed(each.symbol, typed) && (path === null || each.path === path))
          .map(each => symbolRow(each.path, each.symbol)),
      }))
    },
  }
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
