import type { CodeSymbol, SymbolKind } from "../../domain/code/symbol.ts"
import { type DatabaseConnection, guarded } from "../database/database.ts"
import type { CodeIndex, IndexedFile, RankedSymbol } from "./contract.ts"
import { unpackPlaces } from "./places.ts"

interface SymbolRecord {
  readonly path: string
  readonly name: string
  readonly kind: string
  readonly byte_start: number
  readonly byte_end: number
  readonly line_start: number
  readonly line_end: number
  readonly container: string | null
  readonly signature: string
}

const symbolColumns =
  "files.path, names.name, kind, byte_start, byte_end, line_start, line_end, container, signature"
const symbolTables = "symbols JOIN files ON files.id = symbols.file JOIN names ON names.id = symbols.name"

/** Returns the queries of an open index. */
export function readingCodeIndex(connection: DatabaseConnection): CodeIndex {
  const { db, path: where } = connection
  const query = <Result>(work: () => Result) => guarded(where, work)
  return {
    files: () =>
      query(() => {
        const rows = db.query<IndexedFile, []>(
          "SELECT path, sha256, language, errors AS errorCount, unparsed FROM files",
        )
        return new Map(rows.all().map(row => [row.path, row]))
      }),
    symbolsIn: path =>
      query(() =>
        db
          .query<SymbolRecord, [string]>(
            `SELECT ${symbolColumns} FROM ${symbolTables} WHERE files.path = ? ORDER BY ordinal`,
          )
          .all(path)
          .map(symbolOf),
      ),
    symbolsNamed: name =>
      query(() =>
        db
          .query<SymbolRecord, [string]>(
            `SELECT ${symbolColumns} FROM ${symbolTables} WHERE names.name = ? ORDER BY files.path, ordinal`,
          )
          .all(name)
          .map(row => ({ path: row.path, symbol: symbolOf(row) })),
      ),
    references: (name, path) =>
      query(() =>
        db
          .query<{ path: string; places: Uint8Array }, [string, string | null]>(
            `SELECT files.path, places FROM uses JOIN names ON names.id = uses.name JOIN files ON files.id = uses.file
             WHERE names.name = ?1 AND (?2 IS NULL OR files.path = ?2) ORDER BY files.path`,
          )
          .all(name, path ?? null)
          .map(row => ({ path: row.path, places: unpackPlaces(row.places) })),
      ),
    ranked: prefix => query(() => rankedSymbols(connection, prefix)),
    [Symbol.dispose]: () => connection[Symbol.dispose](),
  }
}

function symbolOf(row: SymbolRecord): CodeSymbol {
  return {
    name: row.name,
    // Written from the same union; a change of the union changes the version of the file.
    kind: row.kind as SymbolKind,
    byteStart: row.byte_start,
    byteEnd: row.byte_end,
    lineStart: row.line_start,
    lineEnd: row.line_end,
    container: row.container,
    signature: row.signature,
  }
}

function rankedSymbols({ db }: DatabaseConnection, prefix: string): readonly RankedSymbol[] {
  return db
    .query<SymbolRecord & { language: string; elsewhere: number }, [string]>(
      `WITH totals AS (SELECT name, count(*) AS files FROM uses GROUP BY name),
            defined AS (SELECT name, count(*) AS count FROM symbols GROUP BY name)
       SELECT ${symbolColumns}, files.language,
              (coalesce(totals.files, 0) - (own.name IS NOT NULL)) * 1.0 / defined.count AS elsewhere
       FROM ${symbolTables}
       JOIN defined ON defined.name = symbols.name
       LEFT JOIN totals ON totals.name = symbols.name
       LEFT JOIN uses AS own ON own.name = symbols.name AND own.file = symbols.file
       WHERE substr(files.path, 1, length(?1)) = ?1 ORDER BY files.path, ordinal`,
    )
    .all(prefix)
    .map(row => ({
      path: row.path,
      language: row.language,
      symbol: symbolOf(row),
      usesElsewhere: row.elsewhere,
    }))
}
