import { assert } from "../../base/assert.ts"
import { toIso } from "../../base/clock.ts"
import type { StoredEvent } from "../contract.ts"
import type { DatabaseConnection } from "./database.ts"

export type Cell = string | number | null
export type TableRow = { readonly [column: string]: Cell }

/** How the rows of one table come from events, and from nothing else. */
export interface TableDefinition<Row extends TableRow> {
  readonly table: string
  /** Whose row the event concerns; null when it concerns none. The key is the column `id`. */
  idOf(event: StoredEvent): string | null
  /** The row after the event. Null when there is none and the event makes none; the same row when it says nothing. */
  next(row: Row | null, event: StoredEvent): Row | null
  /** No event will change it any more. */
  isFinal(row: Row): boolean
  /** Tables that hold what does not fit into a row. */
  readonly detailTables: readonly string[]
  /** Rows of those that this event makes. They are never changed. */
  detailsOf(row: Row, event: StoredEvent): readonly DetailRow[]
}

export interface DetailRow {
  readonly table: string
  readonly cells: TableRow
}

/** A table that is kept in step with the log, and can be compared with it. */
export interface TableProjection {
  projector(connection: DatabaseConnection): Projector
  check(connection: DatabaseConnection, report: Report): TableCheck
}

/** Told of each difference; the event is null when no event explains it. */
export type Report = (event: StoredEvent | null, what: string) => void

/** Computes the rows a second time and compares them with the table. */
export interface TableCheck {
  see(event: StoredEvent): void
  /** Compares the rows that may still change. */
  compareOpen(): void
  /** After the last event of the log: also looks for rows that no event explains. */
  end(): void
}

export function tableProjection<Row extends TableRow>(definition: TableDefinition<Row>): TableProjection {
  return {
    projector: connection => ({ apply: event => applyEvent(connection, definition, event) }),
    check: (connection, report) => new RowCheck(connection, definition, report),
  }
}

/** A cell as a table can hold it: an event may say half a character, which is no UTF-8. */
function asStored<Value>(cell: Value): Value | string {
  return typeof cell === "string" ? cell.toWellFormed() : cell
}

/** Whether a table holds this row. */
export function isStoredRow(found: object | null, expected: object): boolean {
  if (Bun.deepEquals(found, expected)) return true
  const cells = Object.entries(expected).map(([column, cell]) => [column, asStored(cell)])
  return Bun.deepEquals(found, Object.fromEntries(cells))
}

export function readRow<Row extends TableRow>(
  connection: DatabaseConnection,
  table: string,
  id: string,
): Row | null {
  return connection.db.query<Row, [string]>(`SELECT * FROM ${table} WHERE id = ?`).get(id)
}

/** Ids of a column that start or end with what was typed. A whole id means itself, even if it begins another. */
export function matchingIds(
  connection: DatabaseConnection,
  table: string,
  typed: string,
  column = "id",
): readonly string[] {
  if (typed === "") return []
  const found = connection.db
    .query<{ id: string }, [string]>(
      `SELECT ${column} AS id FROM ${table}
         WHERE ${column} >= ?1 AND ${column} < ?1 || char(1114111) AND substr(${column}, 1, length(?1)) = ?1
       UNION
       SELECT ${column} AS id FROM ${table}
         WHERE ${typed.length < 4 ? "" : `substr(${column}, -4) = substr(?1, -4) AND`}
           substr(${column}, -length(?1)) = ?1
       ORDER BY 1`,
    )
    .all(typed)
    .map(row => row.id)
  return found.includes(typed) ? [typed] : found
}

function applyEvent<Row extends TableRow>(
  connection: DatabaseConnection,
  definition: TableDefinition<Row>,
  event: StoredEvent,
): void {
  const id = definition.idOf(event)
  if (id === null) return
  const before = readRow<Row>(connection, definition.table, id)
  const after = definition.next(before, event)
  if (after === null) return
  if (before === null) insertRow(connection, definition.table, after)
  else if (after !== before) updateRow(connection, definition.table, id, before, after)
  for (const { table, cells } of definition.detailsOf(after, event)) insertRow(connection, table, cells)
}

function insertRow(connection: DatabaseConnection, table: string, row: TableRow): void {
  const known = insertions.get(table) ?? insertionOf(table, Object.keys(row))
  insertions.set(table, known)
  connection.db.query(known.sql).run(...known.columns.map(column => asStored(row[column] ?? null)))
}

/** All rows of a table have the same columns. */
const insertions = new Map<string, Insertion>()

interface Insertion {
  readonly sql: string
  readonly columns: readonly string[]
}

function insertionOf(table: string, columns: readonly string[]): Insertion {
  const marks = columns.map(() => "?").join(", ")
  return { sql: `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${marks})`, columns }
}

/** Only what changed, so that no index is touched that need not be. */
function updateRow(
  connection: DatabaseConnection,
  table: string,
  id: string,
  before: TableRow,
  after: TableRow,
): void {
  const columns = Object.keys(after).filter(column => before[column] !== after[column])
  if (columns.length === 0) return
  const cells = columns.map(column => asStored(after[column] ?? null))
  connection.db.query(`UPDATE ${table} SET ${columns.join(" = ?, ")} = ? WHERE id = ?`).run(...cells, id)
}

class RowCheck<Row extends TableRow> implements TableCheck {
  /** Rows that may still change: all that has to be remembered on the way. */
  private readonly open = new Map<string, { readonly row: Row; readonly event: StoredEvent }>()
  private readonly counts: Map<string, number>

  constructor(
    private readonly connection: DatabaseConnection,
    private readonly definition: TableDefinition<Row>,
    private readonly report: Report,
  ) {
    this.counts = new Map([definition.table, ...definition.detailTables].map(table => [table, 0]))
  }

  see(event: StoredEvent): void {
    const { definition } = this
    const id = definition.idOf(event)
    if (id === null) return
    const before = this.open.get(id)
    const row = definition.next(before?.row ?? null, event)
    if (row === null) return
    if (before === undefined) this.count(definition.table)
    for (const detail of definition.detailsOf(row, event)) this.compareDetail(detail, event)
    this.open.set(id, { row, event })
    if (definition.isFinal(row)) this.compare(id, row, event)
  }

  compareOpen(): void {
    for (const [id, { row, event }] of this.open) this.compare(id, row, event)
  }

  end(): void {
    this.compareOpen()
    for (const [table, expected] of this.counts) {
      const found = countRows(this.connection, table)
      if (found !== expected)
        this.report(null, `the table ${table} has ${found} rows where its events make ${expected}`)
    }
  }

  private compare(id: string, expected: Row, event: StoredEvent): void {
    const { table } = this.definition
    this.open.delete(id)
    if (!isStoredRow(readRow<Row>(this.connection, table, id), expected))
      this.report(event, `the table ${table} does not say what this event says`)
  }

  private compareDetail({ table, cells }: DetailRow, event: StoredEvent): void {
    this.count(table)
    const terms = Object.keys(cells).map(column => `${column} IS ?`)
    const found = this.connection.db
      .query(`SELECT 1 FROM ${table} WHERE ${terms.join(" AND ")}`)
      .get(...Object.values(cells))
    if (found === null) this.report(event, `the table ${table} does not say what this event says`)
  }

  private count(table: string): void {
    this.counts.set(table, (this.counts.get(table) ?? 0) + 1)
  }
}

export function countRows(connection: DatabaseConnection, table: string): number {
  return (
    connection.db.query<{ count: number }, []>(`SELECT count(*) AS count FROM ${table}`).get()?.count ?? 0
  )
}

/** Keeps a table in step with the log. Called inside the transaction of the append, for every event in order. */
export interface Projector {
  apply(event: StoredEvent): void
}

/** Sorts before and after every time there is, for ranges that are open on a side. */
const earliest = ""
const latest = "~"

/** A range of times as they are stored; since is inclusive, until exclusive. */
export function timeRange(range: { readonly since?: string; readonly until?: string }): {
  readonly since: string
  readonly until: string
} {
  return {
    since: range.since === undefined ? earliest : instant(range.since),
    until: range.until === undefined ? latest : instant(range.until),
  }
}

/** One spelling of time, because rows are compared as text. */
export function instant(time: string): string {
  const epochMs = Date.parse(time)
  assert(Number.isFinite(epochMs), `"${time}" is a time`)
  return toIso(epochMs)
}
