import type { Database } from "bun:sqlite"
import { statSync } from "node:fs"
import { errnoOf } from "../../base/assert.ts"
import { type DatabaseConnection, guarded } from "./database.ts"

/**
 * Writes the database anew without the pages that removed rows have left, where that is worth it or its files would
 * stay larger than `atMostBytes`. Returns by how many bytes they became smaller. Nothing happens while another process
 * uses the database, or where there is no room for the copy: what is removed stays removed, and the next time makes the
 * file smaller.
 */
export function shrinkDatabase(
  connection: DatabaseConnection,
  atMostBytes = Number.POSITIVE_INFINITY,
): number {
  return guarded(connection.path, () => {
    const before = filesBytes(connection.path)
    try {
      if (worthIt(connection.db)) connection.db.run("VACUUM")
      foldIn(connection.db)
      if (filesBytes(connection.path) > atMostBytes) {
        connection.db.run("VACUUM")
        foldIn(connection.db)
      }
    } catch (error) {
      if (!/^SQLITE_(BUSY|LOCKED|FULL)/.test(errnoOf(error) ?? "")) throw error
    }
    return Math.max(0, before - filesBytes(connection.path))
  })
}

/** A copy of everything is not made for less than a hundredth of it. */
export function worthIt(db: Database): boolean {
  const { free, all } = pagesOf(db)
  return free > 0 && free * 100 >= all
}

export function pagesOf(db: Database): {
  readonly free: number
  readonly all: number
  readonly size: number
} {
  const value = (name: string) =>
    db.query<{ value: number }, []>(`SELECT ${name} AS value FROM pragma_${name}`).get()?.value ?? 0
  return { free: value("freelist_count"), all: value("page_count"), size: value("page_size") }
}

function foldIn(db: Database): void {
  db.query("PRAGMA wal_checkpoint(TRUNCATE)").all()
}

export function filesBytes(path: string): number {
  return [path, `${path}-wal`].reduce(
    (total, file) => total + (statSync(file, { throwIfNoEntry: false })?.size ?? 0),
    0,
  )
}
