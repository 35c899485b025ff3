import { Database } from "bun:sqlite"
import { sha256Hex } from "../../base/canonical.ts"
import { oneLine } from "../../base/text.ts"
import { Failure } from "../../domain/failure.ts"
import { noHistory } from "../state-directory.ts"
import type { DatabaseConnection } from "./database.ts"
import { applicationId, type Migration, migrations } from "./schema.ts"

/**
 * Migrates the database to the newest schema, forward only. Each step is one transaction that reads the version again
 * once it holds the write lock, so that any number of processes may open a new workspace at once. Checks before and
 * after that the schema is exactly the one that the steps create: a foreign trigger, view or index would take part in
 * the next statement.
 */
export function migrate(connection: DatabaseConnection, now: () => string, steps = migrations): void {
  const version = connection.snapshot(() => ownVersion(connection, steps))
  const missing = steps.filter(step => step.version > version)
  if (connection.readOnly) {
    if (version === 0) throw noHistory(connection.path)
    if (missing.some(step => !step.forWritersOnly)) throw writtenByOlder(connection.path)
  } else if (missing.length > 0) {
    for (const step of missing) apply(connection, step, now)
    connection.snapshot(() => ownVersion(connection, steps))
  }
}

/** Refuses a database whose schema was not made by this or an older acode, before anything is read from its tables. */
export function assertOwnSchema(connection: DatabaseConnection): void {
  ownVersion(connection, migrations)
}

/** Returns the version of the schema; 0 for a new file. */
function ownVersion({ db, path }: DatabaseConnection, steps: readonly Migration[]): number {
  // Pragmas, not the pragma functions: a table could have the name of such a function.
  const application = Number(Object.values(db.query<object, []>("PRAGMA application_id").get() ?? {})[0])
  const version = versionOf(db)
  const found = schemaRows(db)
  const isFresh = version === 0 && found.length === 0
  if (!isFresh && application !== applicationId)
    throw damaged(path, "the file is a database, but not one that acode wrote")
  const newest = steps.at(-1)?.version ?? 0
  if (version > newest) throw writtenByNewer(path, version, newest)
  if (isFresh) return 0
  const applied = steps.filter(step => step.version <= version)
  if (schemaDigest(found) !== applied.at(-1)?.schema)
    throw damaged(path, `the database was changed outside acode: ${schemaProblem(found, applied)}`)
  assertUnedited(db, path, applied)
  return version
}

function versionOf(db: Database): number {
  return Number(Object.values(db.query<object, []>("PRAGMA user_version").get() ?? {})[0])
}

function apply(connection: DatabaseConnection, step: Migration, now: () => string): void {
  connection.transaction("migration", () => {
    if (versionOf(connection.db) >= step.version) return
    connection.db.run(step.sql)
    connection.db
      .query("INSERT INTO migrations (version, name, checksum, applied_at) VALUES (?, ?, ?, ?)")
      .run(step.version, step.name, sha256Hex(step.sql), now())
    connection.db.run(`PRAGMA application_id = ${applicationId}`)
    connection.db.run(`PRAGMA user_version = ${step.version}`)
  })
}

/**
 * Throws if a step differs from the one that made this database, because that one may have filled the tables in another
 * way.
 */
function assertUnedited(db: Database, path: string, steps: readonly Migration[]): void {
  const applied = db
    .query<{ version: number; checksum: string }, []>(
      "SELECT version, checksum FROM migrations ORDER BY version",
    )
    .all()
  const matches =
    applied.length === steps.length &&
    steps.every((step, index) => applied[index]?.checksum === sha256Hex(step.sql))
  if (!matches) throw damaged(path, "the schema of the database differs from the one that this version makes")
}

interface SchemaRow {
  readonly type: string
  readonly name: string
  readonly tableName: string
  /** The SQL that created it; null for an index that SQLite created for a table. */
  readonly sql: string | null
}

function schemaRows(db: Database): readonly SchemaRow[] {
  return db
    .query<SchemaRow, []>(
      "SELECT type, name, tbl_name AS tableName, sql FROM sqlite_schema ORDER BY type, name",
    )
    .all()
}

export function schemaDigest(rows: readonly SchemaRow[]): string {
  return sha256Hex(rows.map(row => JSON.stringify(Object.values(row))).join("\n"))
}

/**
 * Returns the schema that the steps create in an empty database; the `Migration.schema` of the last step is its digest.
 */
export function expectedSchema(steps: readonly Migration[]): readonly SchemaRow[] {
  using db = new Database(":memory:")
  for (const { sql } of steps) db.run(sql)
  return schemaRows(db)
}

/** Describes the first difference between a schema and the one that the steps create. */
function schemaProblem(found: readonly SchemaRow[], steps: readonly Migration[]): string {
  const made = expectedSchema(steps)
  const isIn = (rows: readonly SchemaRow[], row: SchemaRow) => rows.some(other => Bun.deepEquals(other, row))
  const foreign = found.find(row => !isIn(made, row))
  if (foreign !== undefined)
    return `its ${oneLine(foreign.type, 20)} ${oneLine(foreign.name, 80)} was not created by acode`
  const missing = made.filter(row => !isIn(found, row))
  // A missing table takes its indexes and triggers along.
  const first = missing.find(({ type }) => type === "table") ?? missing[0]
  return first === undefined
    ? "its schema contains a duplicate"
    : `its ${first.type} ${first.name} is missing`
}

function damaged(path: string, message: string): Failure {
  const hint = "move the file away to start a new history; acode does not write to it"
  return new Failure({ kind: "integrity", code: "ACODE-DB-005", message, where: path, hint })
}

function writtenByNewer(path: string, version: number, newest: number): Failure {
  return new Failure({
    kind: "general",
    code: "ACODE-DB-006",
    message: `the workspace database was written by a newer acode (schema ${version}, this one supports up to ${newest})`,
    where: path,
    hint: "update acode",
  })
}

/** Refuses an older schema: a reader may not migrate it, and what it lacks would look like an empty history. */
function writtenByOlder(path: string): Failure {
  return new Failure({
    kind: "general",
    code: "ACODE-DB-001",
    message: "the workspace database was written by an older acode and has to be migrated first",
    where: path,
    hint: "`acode runs list` migrates it; nothing recorded is changed",
  })
}
