import { type CodeOutline, outlineOfCode } from "../../code/outline.ts"
import { type CodeSymbol, isNamed, type ReferenceRow, type SymbolRow } from "../../domain/code/symbol.ts"
import { Failure } from "../../domain/failure.ts"
import type { CodeIndex, IndexedFile } from "../../store/code-index/contract.ts"
import { type IndexUpdate, openUpdatedIndex } from "../wiring/code.ts"
import type { Wiring } from "../wiring/wire.ts"

/** Questions about what is defined where in the code of the workspace. */
export interface CodeVerbs {
  indexCode(request: { readonly isRebuilt: boolean }): Promise<IndexUpdate>
  /** Files that were not parsed, or only in part. */
  codeProblems(): Promise<CodeAnswer<IndexedFile>>
  symbolsInFile(path: string): Promise<CodeAnswer<SymbolRow>>
  /** Where a name stands: its definitions, uses and properties, by name alone. */
  codeReferences(name: string, from: string | null): Promise<CodeAnswer<ReferenceRow>>
  codeOutline(path: string, tokensMax: number): Promise<CodeOutline & Staleness>
}

export interface Staleness {
  /** Some files changed and could not be parsed in time; how many. */
  readonly stale: boolean
  readonly missingFiles: number
}

export interface CodeAnswer<Row> extends Staleness {
  readonly rows: readonly Row[]
}

/** How long a question may wait for the index to be brought up to date. */
const updateMsMax = 2_000

export function codeVerbs(wiring: Wiring): CodeVerbs {
  const ask = async <Answer extends object>(
    question: (index: CodeIndex) => Answer,
  ): Promise<Answer & Staleness> => {
    using opened = await openUpdatedIndex(wiring, { isRebuilt: false, timeMs: updateMsMax })
    const { missing } = opened.update
    return { ...question(opened.index), stale: missing > 0, missingFiles: missing }
  }
  const located = async (typed: string) => (await wiring.workspace()).workspace.locate(typed)
  return {
    indexCode: async ({ isRebuilt }) => {
      using opened = await openUpdatedIndex(wiring, { isRebuilt, timeMs: null })
      return opened.update
    },
    codeProblems: () =>
      ask(index => ({
        rows: [...index.files().values()]
          .filter(({ unparsed, errorCount }) => unparsed !== null || errorCount > 0)
          .sort((a, b) => (a.path < b.path ? -1 : 1)),
      })),
    symbolsInFile: async typed => {
      const { relative } = await located(typed)
      return ask(index => {
        const file = index.files().get(relative)
        if (file === undefined || file.unparsed !== null) throw noSymbols(relative, file?.unparsed ?? null)
        return { rows: index.symbolsIn(relative).map(symbol => symbolRow(relative, symbol)) }
      })
    },
    codeReferences: async (name, from) => {
      const path = from === null ? undefined : (await located(from)).relative
      return ask(index => ({ rows: referenceRows(index, name, path) }))
    },
    codeOutline: async (typed, tokensMax) => {
      const { relative, kind } = await located(typed)
      const prefix = relative === "." ? "" : kind === "directory" ? `${relative}/` : relative
      return ask(index => outlineOfCode(index.ranked(prefix), tokensMax))
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

/** `Container.name` asks for the places of `name`, and links them to that one symbol. */
function referenceRows(index: CodeIndex, typed: string, path: string | undefined): readonly ReferenceRow[] {
  const own = typed.slice(typed.lastIndexOf(".") + 1)
  const name = index.symbolsNamed(typed).length > 0 || own === "" ? typed : own
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
