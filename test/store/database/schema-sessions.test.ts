import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { sessionTables } from "../../../src/store/database/schema-sessions.ts"

test("sessions that run are found in an index that holds nothing else", () => {
  using db = new Database(":memory:")
  db.run(sessionTables)
  const plan = db
    .query<{ detail: string }, []>(
      "EXPLAIN QUERY PLAN SELECT * FROM sessions WHERE reason IS NULL ORDER BY started_position",
    )
    .all()
  expect(plan.map(({ detail }) => detail).join()).toBe("SCAN sessions USING INDEX sessions_running")
})

test("columns hold the type they are declared with", () => {
  using db = new Database(":memory:")
  db.run(sessionTables)
  expect(() => db.run("INSERT INTO evidence_files VALUES ('a', '', 'first', 0)")).toThrow("cannot store TEXT")
})

test("a call, an approval and a session have one row each", () => {
  using db = new Database(":memory:")
  db.run(sessionTables)
  const insert = (table: string, columns: string, values: string) => () =>
    db.run(`INSERT INTO ${table} (${columns}) VALUES (${values})`)
  const call = insert("evidence", "id, session_id, tool, status, at", "'c', 's', 't', 'started', ''")
  const approval = insert("approvals", "id, requested_position, session_id, requested_at", "'a', 1, 's', ''")
  for (const add of [call, approval]) {
    add()
    expect(add).toThrow("UNIQUE")
  }
})
