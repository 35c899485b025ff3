import { Database } from "bun:sqlite"

/**
 * Changes a database as a person with `sqlite3` would who knows how acode verifies it: drops the triggers that would
 * refuse the change, and creates them again exactly as they were, so that the schema is the same as before.
 */
export function changeDatabase(path: string, ...statements: readonly string[]): void {
  using db = new Database(path)
  withoutTriggers(db, () => {
    for (const sql of statements) db.run(sql)
  })
}

function withoutTriggers(db: Database, work: () => void): void {
  const triggers = db
    .query<{ name: string; table: string; sql: string }, []>(
      "SELECT name, tbl_name AS \"table\", sql FROM sqlite_schema WHERE type = 'trigger'",
    )
    .all()
  for (const { name } of triggers) db.run(`DROP TRIGGER ${name}`)
  try {
    work()
  } finally {
    const isThere = db.query("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?")
    for (const { table, sql } of triggers) if (isThere.get(table) !== null) db.run(sql)
  }
}
