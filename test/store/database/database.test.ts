import { Database } from "bun:sqlite"
import { describe, expect, test } from "bun:test"
import { existsSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { noFaults } from "../../../src/base/faults.ts"
import { type DatabaseOptions, openDatabase } from "../../../src/store/database/database.ts"
import { recordPoints } from "../../support/crash/record-points.ts"
import { codeOf } from "../support/store-fixture.ts"

function fresh() {
  const directory = mkdtempSync(join(tmpdir(), "acode-db-"))
  const path = join(directory, "workspace.db")
  const options: DatabaseOptions = { path, readOnly: false, busyTimeoutMs: 50, faults: noFaults }
  return { path, options, [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }) }
}

describe("a connection", () => {
  test("waits for others, writes ahead and syncs every commit", () => {
    using at = fresh()
    using connection = openDatabase(at.options)
    const pragma = (name: string) => Object.values(connection.db.query(`PRAGMA ${name}`).get() ?? {})[0]
    expect({
      busy_timeout: pragma("busy_timeout"),
      journal_mode: pragma("journal_mode"),
      synchronous: pragma("synchronous"),
      foreign_keys: pragma("foreign_keys"),
      trusted_schema: pragma("trusted_schema"),
      cell_size_check: pragma("cell_size_check"),
      secure_delete: pragma("secure_delete"),
      journal_size_limit: pragma("journal_size_limit"),
    }).toEqual({
      busy_timeout: 50,
      journal_mode: "wal",
      synchronous: 2,
      foreign_keys: 1,
      trusted_schema: 0,
      cell_size_check: 1,
      secure_delete: 2,
      journal_size_limit: 67_108_864,
    })
  })

  test("folds its log into the file when it is the last to close", () => {
    using at = fresh()
    const connection = openDatabase(at.options)
    connection.transaction("t", () => connection.db.run("CREATE TABLE t (x)"))
    connection.db.query("SELECT * FROM t").all()
    expect(statSync(`${at.path}-wal`).size).toBeGreaterThan(0)
    connection[Symbol.dispose]()
    expect(existsSync(`${at.path}-wal`)).toBe(false)
  })
})

describe("a transaction", () => {
  test("is all or nothing", () => {
    using at = fresh()
    using connection = openDatabase(at.options)
    connection.transaction("t", () => connection.db.run("CREATE TABLE t (x)"))
    expect(() =>
      connection.transaction("t", () => {
        connection.db.run("INSERT INTO t VALUES (1)")
        throw new Error("in the middle")
      }),
    ).toThrow("in the middle")
    expect(connection.db.query("SELECT count(*) AS count FROM t").get()).toEqual({ count: 0 })
    expect(connection.transaction("t", () => 42)).toBe(42)
  })

  test("has a point to crash at before, inside and after", () => {
    using at = fresh()
    const points: string[] = []
    using connection = openDatabase({ ...at.options, faults: recordPoints(points) })
    connection.transaction("append", () => connection.db.run("CREATE TABLE t (x)"))
    expect(points).toEqual(["append.begun", "append.written", "append.committed"])
  })

  test("takes the write lock at once, and gives up with a reason when it cannot get it", () => {
    using at = fresh()
    using first = openDatabase(at.options)
    using second = openDatabase(at.options)
    first.transaction("t", () => {
      expect(codeOf(() => second.transaction("t", () => undefined))).toBe("ACODE-DB-002")
    })
    expect(() => second.transaction("t", () => undefined)).not.toThrow()
  })

  test("that runs out of space is undone whole, and can be tried again when there is some", () => {
    using at = fresh()
    using connection = openDatabase(at.options)
    connection.transaction("t", () => connection.db.run("CREATE TABLE t (x)"))
    const insert = () =>
      connection.transaction("t", () => {
        connection.db.run("INSERT INTO t VALUES (1)")
        connection.db.run("INSERT INTO t VALUES (zeroblob(100000))")
      })
    const count = () => connection.db.query("SELECT count(*) AS count FROM t").get()
    connection.db.run("PRAGMA max_page_count = 4")
    expect(codeOf(insert)).toBe("ACODE-DB-004")
    expect(count()).toEqual({ count: 0 })
    connection.db.run("PRAGMA max_page_count = 1000")
    insert()
    expect(count()).toEqual({ count: 2 })
  })

  test("is refused when the file was replaced or removed under it", () => {
    using at = fresh()
    using connection = openDatabase(at.options)
    renameSync(at.path, `${at.path}.old`)
    expect(codeOf(() => connection.transaction("t", () => undefined))).toBe("ACODE-DB-001")
    writeFileSync(at.path, "")
    expect(codeOf(() => connection.transaction("t", () => undefined))).toBe("ACODE-DB-001")
    rmSync(at.path)
    renameSync(`${at.path}.old`, at.path)
    expect(() => connection.transaction("t", () => undefined)).not.toThrow()
  })
})

describe("a snapshot", () => {
  test("does not see what is committed while it lasts", () => {
    using at = fresh()
    using reader = openDatabase(at.options)
    using writer = openDatabase(at.options)
    writer.transaction("t", () => writer.db.run("CREATE TABLE t (x)"))
    const count = () => reader.db.query<{ count: number }, []>("SELECT count(*) AS count FROM t").get()?.count
    const seen = reader.snapshot(() => {
      const before = count()
      writer.transaction("t", () => writer.db.run("INSERT INTO t VALUES (1)"))
      return [before, count()]
    })
    expect(seen).toEqual([0, 0])
    expect(count()).toBe(1)
  })
})

describe("a read-only connection", () => {
  test("reads while others write and changes nothing", () => {
    using at = fresh()
    using writer = openDatabase(at.options)
    writer.transaction("t", () => writer.db.run("CREATE TABLE t (x)"))
    using reader = openDatabase({ ...at.options, readOnly: true })
    expect(reader.snapshot(() => reader.db.query("SELECT * FROM t").all())).toEqual([])
    expect(codeOf(() => reader.transaction("t", () => reader.db.run("INSERT INTO t VALUES (1)")))).toBe(
      "ACODE-DB-003",
    )
  })
})

describe("a file that is not a database", () => {
  test("is reported as damage and not touched", () => {
    using at = fresh()
    const content = "this is a text, and long enough to have a header ".repeat(10)
    writeFileSync(at.path, content)
    expect(codeOf(() => openDatabase(at.options))).toBe("ACODE-DB-005")
    expect(statSync(at.path).size).toBe(content.length)
  })

  test("a directory cannot be opened", () => {
    using at = fresh()
    expect(codeOf(() => openDatabase({ ...at.options, path: tmpdir() }))).toBe("ACODE-DB-001")
  })

  test("two openers of a new file both get it", () => {
    using at = fresh()
    using first = openDatabase(at.options)
    using second = openDatabase(at.options)
    expect(first.db).toBeInstanceOf(Database)
    expect(second.db).toBeInstanceOf(Database)
  })
})
