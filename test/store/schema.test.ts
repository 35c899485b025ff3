import { Database } from "bun:sqlite"
import { describe, expect, test } from "bun:test"
import { sha256Hex } from "../../src/base/canonical.ts"
import { migrations } from "../../src/store/schema.ts"

function filled(): Database {
  const db = new Database(":memory:")
  for (const { sql } of migrations) db.run(sql)
  const insert = db.query(
    `INSERT INTO events (position, stream, seq, epoch, at, type, version, data, prev_hash, hash)
     VALUES (?, ?, ?, 1, '', '', 1, '{}', '', '')`,
  )
  insert.run(1, "exe_a", 1)
  insert.run(2, "exe_a", 2)
  insert.run(3, "exe_b", 1)
  return db
}

const positions = (db: Database) =>
  db
    .query<{ position: number }, []>("SELECT position FROM events ORDER BY position")
    .all()
    .map(row => row.position)

describe("the schema", () => {
  test("its steps are numbered one after the other", () => {
    expect(migrations.map(step => step.version)).toEqual(migrations.map((_, index) => index + 1))
  })

  /** What was released is never edited. A new step is added below with its own checksum. */
  test("no step was edited after its release", () => {
    expect(migrations.map(step => sha256Hex(step.sql).slice(0, 16))).toEqual([
      "16293b5e0a8ab546",
      "0ef9e5b8c32ea47d",
    ])
  })

  test("no event can be changed", () => {
    using db = filled()
    expect(() => db.run("UPDATE events SET data = '[]' WHERE position = 1")).toThrow("never changed")
    expect(() => db.run("UPDATE events SET hash = 'x'")).toThrow("never changed")
  })

  test("no event can be deleted outside a prune", () => {
    using db = filled()
    expect(() => db.run("DELETE FROM events WHERE position = 1")).toThrow("only removed by pruning")
    expect(() => db.run("DELETE FROM events")).toThrow("only removed by pruning")
    expect(positions(db)).toEqual([1, 2, 3])
  })

  test("a prune opens the door for the streams it names and no others", () => {
    using db = filled()
    db.run("INSERT INTO pruning VALUES ('exe_a')")
    db.run("DELETE FROM events WHERE stream = 'exe_a'")
    expect(() => db.run("DELETE FROM events WHERE stream = 'exe_b'")).toThrow("only removed by pruning")
    expect(positions(db)).toEqual([3])
  })

  test("a position and a place in a stream are taken once", () => {
    using db = filled()
    const insert = (position: number, stream: string, seq: number) =>
      db.run(
        `INSERT INTO events (position, stream, seq, epoch, at, type, version, data, prev_hash, hash)
         VALUES (${position}, '${stream}', ${seq}, 1, '', '', 1, '{}', '', '')`,
      )
    expect(() => insert(3, "exe_c", 1)).toThrow("UNIQUE")
    expect(() => insert(4, "exe_b", 1)).toThrow("UNIQUE")
    expect(() => insert(4, "exe_b", 2)).not.toThrow()
  })

  test("columns hold the type they are declared with", () => {
    using db = filled()
    expect(() => db.run("INSERT INTO log_head VALUES (1, 'w', 'k', 'many', 'h')")).toThrow(
      "cannot store TEXT",
    )
    expect(() => db.run("INSERT INTO log_head VALUES (2, 'w', 'k', 0, 'h')")).toThrow("CHECK")
  })

  test("what is open is found in an index that holds nothing else", () => {
    using db = filled()
    const plan = db
      .query<{ detail: string }, []>(
        `EXPLAIN QUERY PLAN SELECT * FROM executions
         WHERE finished_position IS NULL AND stream = id ORDER BY started_position`,
      )
      .all()
    expect(plan.map(step => step.detail).join()).toContain("USING INDEX executions_open")
  })
})
