import type { Database } from "bun:sqlite"
import { sha256Hex } from "../base/canonical.ts"
import { oneLine } from "../base/text.ts"
import { Failure } from "../domain/failure.ts"
import type { Connection } from "./database.ts"
import { applicationId, type Migration, migrations } from "./schema.ts"
import { noHistory } from "./state-directory.ts"

/**
 * Brings the database to the newest schema, forward only. Each step is one transaction that looks again at the
 * version once it holds the write lock, so that any number of processes may open a new workspace at once.
 */
export function migrate(connection: Connection, now: () => string, steps = migrations): void {
  const found = connection.snapshot(() => inspect(connection.db))
  assertOurs(connection.path, found)
  const newest = steps.at(-1)?.version ?? 0
  if (found.version > newest) throw writtenByNewer(connection.path, found.version, newest)
  assertApplied(connection.path, found)
  const missing = steps.filter(step => step.version > found.version)
  if (connection.readOnly) {
    if (found.version === 0) throw noHistory(connection.path)
    if (missing.some(step => !step.forWritersOnly)) throw writtenByOlder(connection.path)
  } else for (const step of missing) apply(connection, step, now)
  assertUnedited(connection, connection.readOnly ? steps.slice(0, steps.length - missing.length) : steps)
}

interface Found {
  readonly application: number
  readonly version: number
  readonly tableCount: number
  /** The last step that it remembers. */
  readonly applied: number
}

function inspect(db: Database): Found {
  const value = (sql: string) => db.query<{ value: number | null }, []>(sql).get()?.value ?? 0
  // A table of the same name with other columns remembers nothing.
  const remembers = value(
    "SELECT count(*) AS value FROM pragma_table_info('migrations') WHERE name IN ('version', 'checksum')",
  )
  return {
    application: value("SELECT application_id AS value FROM pragma_application_id"),
    version: value("SELECT user_version AS value FROM pragma_user_version"),
    tableCount: value("SELECT count(*) AS value FROM sqlite_schema"),
    applied: remembers < 2 ? 0 : value("SELECT max(version) AS value FROM migrations"),
  }
}

function apply(connection: Connection, step: Migration, now: () => string): void {
  connection.transaction("migration", () => {
    if (inspect(connection.db).version >= step.version) return
    connection.db.run(step.sql)
    connection.db
      .query("INSERT INTO migrations (version, name, checksum, applied_at) VALUES (?, ?, ?, ?)")
      .run(step.version, step.name, sha256Hex(step.sql), now())
    connection.db.run(`PRAGMA application_id = ${applicationId}`)
    connection.db.run(`PRAGMA user_version = ${step.version}`)
  })
}

function assertOurs(path: string, found: Found): void {
  const isFresh = found.version === 0 && found.tableCount === 0
  if (isFresh || found.application === applicationId) return
  throw damaged(path, "the file is a database, but not one that acode wrote")
}

/** A step whose text differs from the one that made this database would leave a schema nobody has ever tested. */
function assertUnedited(connection: Connection, steps: readonly Migration[]): void {
  const applied = connection.db
    .query<{ version: number; checksum: string }, []>(
      "SELECT version, checksum FROM migrations ORDER BY version",
    )
    .all()
  const matches =
    applied.length === steps.length &&
    steps.every((step, index) => applied[index]?.checksum === sha256Hex(step.sql))
  if (!matches) throw damaged(connection.path, "the schema of the database is not the one this version made")
  const problem = schemaProblem(connection, steps.slice(0, applied.length))
  if (problem !== null) throw damaged(connection.path, `the database was changed outside acode: ${problem}`)
}

/** Steps that were applied would be applied again to a database that denies it. */
function assertApplied(path: string, { version, applied }: Found): void {
  if (applied !== version)
    throw damaged(
      path,
      `the database says that it has schema ${version}, and was made with schema ${applied}`,
    )
}

/** Of a database that this or an older acode made: a view or a trigger of somebody else's would run when it is read. */
export function assertOwnSchema(connection: Connection): void {
  const problem = schemaProblem(connection, migrations, "older")
  if (problem !== null) throw damaged(connection.path, `the database was changed outside acode: ${problem}`)
}

interface SchemaRow {
  readonly type: string
  readonly name: string
  readonly sql: string
}

/**
 * SQLite keeps the text that made a thing: what stands in no step was made or changed by somebody else. A trigger may
 * be gone: whoever wants to change an event removes it first, and an audit is to name that event.
 */
function schemaProblem(
  { db }: Connection,
  steps: readonly Migration[],
  made: "wholly" | "older" = "wholly",
): string | null {
  const text = steps.map(({ sql }) => sql).join("\n")
  const found = db
    .query<SchemaRow, []>(
      "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite!_%' ESCAPE '!'",
    )
    .all()
  const foreign = found.find(({ sql }) => !text.includes(sql))
  if (foreign !== undefined)
    return `its ${foreign.type} ${oneLine(foreign.name, 80)} is not one that acode made`
  if (made === "older") return null
  const names = new Set(found.map(({ name }) => name))
  const declared = [...text.matchAll(/^CREATE (TABLE|INDEX) (\w+)/gm)]
  const missing = declared.find(([, , name = ""]) => !names.has(name))
  return missing === undefined ? null : `its ${missing[1]?.toLowerCase()} ${missing[2]} is gone`
}

function damaged(path: string, message: string): Failure {
  const hint = "move the file away to start a new history; acode does not write into it"
  return new Failure({ kind: "integrity", code: "ACODE-DB-005", message, where: path, hint })
}

function writtenByNewer(path: string, version: number, newest: number): Failure {
  return new Failure({
    kind: "general",
    code: "ACODE-DB-006",
    message: `the workspace database was written by a newer acode (schema ${version}, this one knows ${newest})`,
    where: path,
    hint: "update acode",
  })
}

/** Who only looks may not bring it forward, and what is missing in it would look like an empty history. */
function writtenByOlder(path: string): Failure {
  return new Failure({
    kind: "general",
    code: "ACODE-DB-001",
    message: "the workspace database was written by an older acode and has to be brought forward first",
    where: path,
    hint: "`acode runs list` does that; nothing recorded is changed by it",
  })
}
