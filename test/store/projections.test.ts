import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { sessionTables } from "../../src/store/database/schema-sessions.ts"
import { sessionProjections } from "../../src/store/projections.ts"

test("every table of sessions is compared with the log", () => {
  using db = new Database(":memory:")
  db.run(sessionTables)
  const tables = db
    .query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
    .all()
    .map(({ name }) => name)
  const connection = {
    db,
    path: ":memory:",
    readOnly: false,
    transaction: <Result>(_name: string, work: () => Result) => work(),
    snapshot: <Result>(work: () => Result) => work(),
    [Symbol.dispose]: () => undefined,
  }
  for (const table of tables) {
    const columns = db.query<{ name: string; type: string }, [string]>(
      "SELECT name, type FROM pragma_table_info(?)",
    )
    const values = columns.all(table).map(({ type }) => (type === "TEXT" ? "'x'" : "1"))
    db.run(`INSERT INTO ${table} VALUES (${values.join(", ")})`)
    expect(db.query(`SELECT * FROM ${table}`).all()).toHaveLength(1)
  }
  const found: string[] = []
  for (const projection of sessionProjections)
    projection.check(connection, (_, what) => found.push(what), 0).end()
  expect(found.sort()).toEqual(tables.map(table => `the table ${table} has 1 rows, but its events make 0`))
})
