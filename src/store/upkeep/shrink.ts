import { statSync } from "node:fs"
import { errnoOf } from "../../base/assert.ts"
import { type Connection, guarded } from "../database.ts"

/**
 * Writes the database anew without the pages that removed rows have left. Returns by how many bytes its files became
 * smaller. Nothing happens while another process uses the database, or where there is no room for the copy: what is
 * removed stays removed, and the next time makes the file smaller.
 */
export function shrinkDatabase(connection: Connection): number {
  return guarded(connection.path, () => {
    const before = filesBytes(connection.path)
    try {
      if (worthIt(connection)) connection.db.run("VACUUM")
      connection.db.query("PRAGMA wal_checkpoint(TRUNCATE)").all()
    } catch (error) {
      if (!/^SQLITE_(BUSY|LOCKED|FULL)/.test(errnoOf(error) ?? "")) throw error
    }
    return Math.max(0, before - filesBytes(connection.path))
  })
}

/** A copy of everything is not made for less than a hundredth of it. */
function worthIt({ db }: Connection): boolean {
  const value = (sql: string) => db.query<{ value: number }, []>(sql).get()?.value ?? 0
  const free = value("SELECT freelist_count AS value FROM pragma_freelist_count")
  return free > 0 && free * 100 >= value("SELECT page_count AS value FROM pragma_page_count")
}

export function filesBytes(path: string): number {
  return [path, `${path}-wal`].reduce(
    (total, file) => total + (statSync(file, { throwIfNoEntry: false })?.size ?? 0),
    0,
  )
}
