import type { Database } from "bun:sqlite"
import { sha256Hex } from "../base/canonical.ts"
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
}

function inspect(db: Database): Found {
  const value = (sql: string) => db.query<{ value: number }, []>(sql).get()?.value ?? 0
  return {
    application: value("SELECT application_id AS value FROM pragma_application_id"),
    version: value("SELECT user_version AS value FROM pragma_user_version"),
    tableCount: value("SELECT count(*) AS value FROM sqlite_schema"),
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
