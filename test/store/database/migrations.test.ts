import { Database } from "bun:sqlite"
import { describe, expect, test } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { noFaults } from "../../../src/base/faults.ts"
import { type DatabaseConnection, openDatabase } from "../../../src/store/database/database.ts"
import { expectedSchema, migrate, schemaDigest } from "../../../src/store/database/migrations.ts"
import { applicationId, type Migration, migrations } from "../../../src/store/database/schema.ts"
import { codeOf, failureOf } from "../support/store-fixture.ts"

const madeBy = (...steps: Parameters<typeof expectedSchema>) => schemaDigest(expectedSchema(...steps))

const now = () => "2026-01-02T03:04:05.678Z"
const first = step(1, `${migrations[0]?.sql}`)
const second = step(2, "CREATE TABLE added (x INTEGER) STRICT", first)

function step(version: number, sql: string, ...before: readonly Migration[]): Migration {
  const made = { version, name: `step ${version}`, sql }
  return { ...made, schema: madeBy([...before, { ...made, schema: "" }]) }
}

function fresh() {
  const directory = mkdtempSync(join(tmpdir(), "acode-migrate-"))
  const path = join(directory, "workspace.db")
  const opened: DatabaseConnection[] = []
  return {
    path,
    open: (readOnly = false) => {
      const connection = openDatabase({ path, readOnly, busyTimeoutMs: 1000, faults: noFaults })
      opened.push(connection)
      return connection
    },
    [Symbol.dispose]: () => {
      for (const connection of opened) connection[Symbol.dispose]()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

const appliedIn = (db: Database) =>
  db.query("SELECT version, name, applied_at FROM migrations ORDER BY version").all()

function runSql(path: string, sql: string): void {
  using db = new Database(path)
  db.run(sql)
}

function schemaOf(path: string) {
  using db = new Database(path)
  return db
    .query<{ type: string; name: string; sql: string | null }, []>(
      "SELECT type, name, sql FROM sqlite_schema",
    )
    .all()
}

/** Makes a thing anew with a text that means nearly the same. */
function remade(type: string, name: string, sql: string): string {
  if (type === "table") return `ALTER TABLE ${name} ADD COLUMN added TEXT`
  return `DROP ${type} ${name}; ${type === "index" ? sql.replace(" (", "  (") : sql.replace("BEGIN", "BEGIN ")}`
}

describe("migrations", () => {
  test("make a new file acode's own and say what was done when", () => {
    using at = fresh()
    const { db } = at.open()
    migrate(at.open(), now)
    expect(db.query("PRAGMA application_id").get()).toEqual({ application_id: applicationId })
    expect(db.query("PRAGMA user_version").get()).toEqual({ user_version: migrations.length })
    expect(appliedIn(db)).toEqual([
      { version: 1, name: "log, leases, executions", applied_at: now() },
      { version: 2, name: "sessions, approvals, evidence", applied_at: now() },
      { version: 3, name: "artifacts that sessions name", applied_at: now() },
      { version: 4, name: "observed time", applied_at: now() },
    ])
  })

  test("are applied once", () => {
    using at = fresh()
    const connection = at.open()
    migrate(connection, now)
    migrate(connection, () => "later")
    expect(appliedIn(connection.db)).toHaveLength(migrations.length)
  })

  test("bring an older database forward, step by step", () => {
    using at = fresh()
    const connection = at.open()
    migrate(connection, now, [first])
    migrate(connection, now, [first, second])
    expect(connection.db.query("SELECT * FROM added").all()).toEqual([])
    expect(connection.db.query("PRAGMA user_version").get()).toEqual({ user_version: 2 })
  })

  test("a step that fails leaves nothing behind, and the next attempt starts where it stood", () => {
    using at = fresh()
    const connection = at.open()
    migrate(connection, now, [first])
    const broken = { ...second, sql: `${second.sql}; INSERT INTO nowhere VALUES (1)` }
    expect(() => migrate(connection, now, [first, broken])).toThrow("nowhere")
    expect(connection.db.query("PRAGMA user_version").get()).toEqual({ user_version: 1 })
    migrate(connection, now, [first, second])
    expect(appliedIn(connection.db)).toHaveLength(2)
  })

  test("a step that another process took meanwhile is not taken again", () => {
    using at = fresh()
    const [one, other] = [at.open(), at.open()]
    const snapshotFirst: DatabaseConnection = {
      ...one,
      // The other process is done between our look at the version and our lock.
      snapshot: work => {
        const found = one.snapshot(work)
        migrate(other, now)
        return found
      },
    }
    migrate(snapshotFirst, now)
    expect(appliedIn(one.db)).toHaveLength(migrations.length)
  })

  test("a database of a newer version is refused and left alone", () => {
    using at = fresh()
    const connection = at.open()
    migrate(connection, now, [first, second])
    const failure = failureOf(() => migrate(connection, now, [first]))
    expect(failure.report.code).toBe("ACODE-DB-006")
    expect(failure.report.message).toContain("schema 2")
    expect(connection.db.query("PRAGMA user_version").get()).toEqual({ user_version: 2 })
  })

  test("a database of another program is refused and left alone", () => {
    using at = fresh()
    const connection = at.open()
    connection.db.run("CREATE TABLE theirs (x)")
    expect(codeOf(() => migrate(connection, now))).toBe("ACODE-DB-005")
    connection.db.run("PRAGMA application_id = 1; PRAGMA user_version = 1")
    expect(codeOf(() => migrate(connection, now))).toBe("ACODE-DB-005")
    expect(connection.db.query("SELECT name FROM sqlite_schema").all()).toEqual([{ name: "theirs" }])
  })

  test("a database made by an edited step is refused", () => {
    using at = fresh()
    const connection = at.open()
    migrate(connection, now, [{ ...first, sql: `${first.sql} ` }])
    expect(codeOf(() => migrate(connection, now, [first]))).toBe("ACODE-DB-005")
  })

  test("a database whose schema differs in anything is refused, by name, before its tables are read", () => {
    using at = fresh()
    migrate(at.open(), now)
    const made = schemaOf(at.path)
    const changes: readonly (readonly [what: string, sql: string])[] = [
      ...made.flatMap(({ type, name, sql }) =>
        sql === null ? [] : ([[`its ${type} ${name} is missing`, `DROP ${type} ${name}`]] as const),
      ),
      ...made.flatMap(({ type, name, sql }) =>
        sql === null
          ? []
          : ([[`its ${type} ${name} was not created by acode`, remade(type, name, sql)]] as const),
      ),
      ["its table theirs", "CREATE TABLE theirs (x)"],
      ["its view theirs", "CREATE VIEW theirs AS SELECT 1"],
      ["its view pragma_user_version", "CREATE VIEW pragma_user_version AS SELECT 4 AS user_version"],
      ["its index theirs", "CREATE INDEX theirs ON approvals (answer)"],
      ["its trigger theirs", "CREATE TRIGGER theirs AFTER INSERT ON approvals BEGIN SELECT 1; END"],
    ]
    expect(changes.length).toBeGreaterThan(50)
    for (const [what, sql] of changes) {
      using changed = fresh()
      runSql(at.path, `VACUUM INTO '${changed.path}'`)
      runSql(changed.path, sql)
      for (const readOnly of [false, true]) {
        const { report } = failureOf(() => migrate(changed.open(readOnly), now))
        expect([sql, report.code, report.kind]).toEqual([sql, "ACODE-DB-005", "integrity"])
        expect(report.message).toContain(what)
      }
      expect(schemaOf(changed.path)).not.toEqual(made)
    }
  })

  test("a reader migrates nothing", () => {
    using at = fresh()
    at.open()
    const failure = failureOf(() => migrate(at.open(true), now))
    expect(failure.report.code).toBe("ACODE-DB-001")
    migrate(at.open(), now)
    expect(() => migrate(at.open(true), now)).not.toThrow()
    using db = new Database(at.path)
    expect(appliedIn(db)).toHaveLength(migrations.length)
  })

  test("say of an older database that someone has to bring it forward, when they may only look", () => {
    using at = fresh()
    const writable = at.open()
    migrate(writable, now, [first])
    const { report } = failureOf(() => migrate(at.open(true), now, [first, second]))
    expect(report).toMatchObject({ code: "ACODE-DB-001", where: at.path })
    expect(report.message).toContain("older acode")
    migrate(writable, now, [first, second])
    expect(() => migrate(at.open(true), now, [first, second])).not.toThrow()
  })
})
