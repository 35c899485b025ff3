import { Database } from "bun:sqlite"
import { describe, expect, test } from "bun:test"
import { sha256Hex } from "../../../src/base/canonical.ts"
import { expectedSchema, schemaDigest } from "../../../src/store/database/migrations.ts"
import { migrations } from "../../../src/store/database/schema.ts"

const schemaOf = (...steps: Parameters<typeof expectedSchema>) => schemaDigest(expectedSchema(...steps))

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

const callOf = (args: unknown) => ({ id: "c", arguments: args })

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
      "2d5249dacaac8a4b",
      "05c666609e2abf3c",
    ])
  })

  test("each step says what the schema is after it", () => {
    for (const [index, { schema }] of migrations.entries())
      expect(schema).toBe(schemaOf(migrations.slice(0, index + 1)))
  })

  test("the third step names what the events of older sessions name", () => {
    using db = new Database(":memory:")
    for (const { sql } of migrations.slice(0, 2)) db.run(sql)
    const named = (ref: string) => ({ kind: "artifact", ref, bytes: 1 })
    const inline = { kind: "inline", value: named("x") }
    const events = [
      [
        "turn.finished",
        { text: named("a"), output: named("b"), calls: [inline, named("c"), named("d")].map(callOf) },
      ],
      ["turn.finished", { text: { kind: "inline", text: "" }, output: null, calls: [] }],
      ["plan.proposed", { plan: named("e") }],
      ["tool_call.settled", { text: named("f"), result: named("g") }],
      ["tool_call.settled", { text: null, result: null }],
      ["step.finished", { text: named("x"), plan: named("x") }],
    ] as const
    const insert = db.query(
      `INSERT INTO events (position, stream, seq, epoch, at, type, version, data, prev_hash, hash)
       VALUES (?1, 'ses_a', ?1, 1, '', ?2, 1, ?3, '', '')`,
    )
    for (const [index, [type, data]] of events.entries()) insert.run(index + 1, type, JSON.stringify(data))
    // What is known already is not named twice.
    db.run("INSERT INTO artifact_references VALUES ('g', 4), ('f', 4)")
    db.run(`${migrations[2]?.sql}`)
    expect(db.query("SELECT ref, position FROM artifact_references ORDER BY ref").values()).toEqual([
      ["a", 1],
      ["b", 1],
      ["c", 1],
      ["d", 1],
      ["e", 3],
      ["f", 4],
      ["g", 4],
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
