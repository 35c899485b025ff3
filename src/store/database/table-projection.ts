import { assert } from "../../base/assert.ts"
import { toIso } from "../../base/clock.ts"
import type { StoredEvent } from "../contract.ts"
import type { DatabaseConnection } from "./database.ts"

export type Cell = string | number | null
export type TableRow = { readonly [column: string]: Cell }

/** Computes the rows of one table from events, and from nothing else. */
export interface TableDefinition<Row extends TableRow> {
  readonly table: string
  /** The types of the events that create a row, and of all events that concern one. */
  readonly createdBy: string
  readonly eventTypes: ReadonlySet<string>
  /** The column with the position of the event that creates a row; in the detail tables it is `position`. */
  readonly positionColumn: string
  /** Returns the id of the row that the event concerns; null if it concerns none. The key is the column `id`. */
  idOf(event: StoredEvent): string | null
  /**
   * Returns the row after the event: null if there is none and the event creates none; the same row if nothing changes.
   */
  next(row: Row | null, event: StoredEvent): Row | null
  /** Returns whether no later event changes the row. */
  isFinal(row: Row): boolean
  /** The tables for values that do not fit into a row. */
  readonly detailTables: readonly string[]
  /** Returns the detail rows that this event creates. They are never changed. */
  detailsOf(row: Row, event: StoredEvent): readonly DetailRow[]
}

export interface DetailRow {
  readonly table: string
  readonly cells: TableRow
}

/** A table that is updated with the log, and can be compared with it. */
export interface TableProjection {
  readonly eventTypes: ReadonlySet<string>
  projector(connection: DatabaseConnection): Projector
  /** Returns a check of the rows that are created by events behind a position, 0 for all. */
  check(connection: DatabaseConnection, report: ReportDifference, behind: number): TableCheck
}

/** Records a difference; the event is null if no event explains it. */
export type ReportDifference = (event: StoredEvent | null, what: string) => void

/** Recomputes the rows from the events and compares them with the table. */
export interface TableCheck {
  apply(event: StoredEvent): void
  /** Compares the rows that may still change. */
  compareOpen(): void
  /** Finishes the check after the last event of the log: also finds rows that no event explains. */
  end(): void
}

export function tableProjection<Row extends TableRow>(definition: TableDefinition<Row>): TableProjection {
  return {
    eventTypes: definition.eventTypes,
    projector: connection => ({ apply: event => applyEvent(connection, definition, event) }),
    check: (connection, report, behind) => new RowCheck(connection, definition, report, behind),
  }
}

/** Returns a cell as a table can hold it: an event may contain half a surrogate pair, which is not valid UTF-8. */
function asStored<Value>(cell: Value): Value | string {
  return typeof cell === "string" ? cell.toWellFormed() : cell
}

/** Returns whether a row that was read equals the expected one as a table holds it. */
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

/**
 * Returns the ids in a column that start or end with `typed`. A complete id matches only itself, even if another one
 * begins with it.
 */
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
  const insertion = insertions.get(table) ?? insertionOf(table, Object.keys(row))
  insertions.set(table, insertion)
  connection.db.query(insertion.sql).run(...insertion.columns.map(column => asStored(row[column] ?? null)))
}

/** The statement of each table, kept because all rows of a table have the same columns. */
const insertions = new Map<string, Insertion>()

interface Insertion {
  readonly sql: string
  readonly columns: readonly string[]
}

function insertionOf(table: string, columns: readonly string[]): Insertion {
  const marks = columns.map(() => "?").join(", ")
  return { sql: `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${marks})`, columns }
}

/** Updates only the changed columns, so that the indexes of the others are not touched. */
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
  /** The rows that may still change: all that the check has to remember. */
  private readonly open = new Map<string, { readonly row: Row; readonly event: StoredEvent }>()
  private readonly counts: Map<string, number>

  constructor(
    private readonly connection: DatabaseConnection,
    private readonly definition: TableDefinition<Row>,
    private readonly report: ReportDifference,
    private readonly behind: number,
  ) {
    this.counts = new Map([definition.table, ...definition.detailTables].map(table => [table, 0]))
  }

  apply(event: StoredEvent): void {
    const { definition } = this
    const id = definition.idOf(event)
    if (id === null) return
    const before = this.open.get(id)
    // The row was created before the first of these events.
    if (before === undefined && event.type !== definition.createdBy) return
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
      const column = table === this.definition.table ? this.definition.positionColumn : "position"
      const found = countRows(this.connection, table, { column, behind: this.behind })
      if (found !== expected)
        this.report(null, `the table ${table} has ${found} rows, but its events make ${expected}`)
    }
  }

  private compare(id: string, expected: Row, event: StoredEvent): void {
    const { table } = this.definition
    this.open.delete(id)
    if (!isStoredRow(readRow<Row>(this.connection, table, id), expected))
      this.report(event, `the table ${table} does not match this event`)
  }

  private compareDetail({ table, cells }: DetailRow, event: StoredEvent): void {
    this.count(table)
    const terms = Object.keys(cells).map(column => `${column} IS ?`)
    const found = this.connection.db
      .query(`SELECT 1 FROM ${table} WHERE ${terms.join(" AND ")}`)
      .get(...Object.values(cells))
    if (found === null) this.report(event, `the table ${table} does not match this event`)
  }

  private count(table: string): void {
    this.counts.set(table, (this.counts.get(table) ?? 0) + 1)
  }
}

/** Counts the rows that events behind a position created. */
export function countRows(
  connection: DatabaseConnection,
  table: string,
  { column, behind }: { readonly column: string; readonly behind: number },
): number {
  const counted = connection.db
    .query<{ count: number }, [number]>(`SELECT count(*) AS count FROM ${table} WHERE ${column} > ?`)
    .get(behind)
  return counted?.count ?? 0
}

/** Updates a table with each event. Called inside the transaction of the append, for every event in order. */
export interface Projector {
  apply(event: StoredEvent): void
}

/** The first sorts before and the second after every time, for ranges that are open on one side. */
const earliest = ""
const latest = "~"

/** Returns a range of times as they are stored; `since` is inclusive, `until` exclusive. */
export function timeRange(range: { readonly since?: string; readonly until?: string }): {
  readonly since: string
  readonly until: string
} {
  return {
    since: range.since === undefined ? earliest : instant(range.since),
    until: range.until === undefined ? latest : instant(range.until),
  }
}

/** Returns a time in the one form in which rows hold it, because rows are compared as text. */
export function instant(time: string): string {
  const epochMs = Date.parse(time)
  assert(Number.isFinite(epochMs), `"${time}" is a time`)
  return toIso(epochMs)
}
