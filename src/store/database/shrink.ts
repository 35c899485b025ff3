import type { Database } from "bun:sqlite"
import { statSync } from "node:fs"
import { errnoOf } from "../../base/assert.ts"
import { type DatabaseConnection, guarded } from "./database.ts"

/**
 * Rewrites the database without free pages if that saves enough, or if its files would stay larger than `atMostBytes`.
 * Returns by how many bytes the files shrank. Does nothing while another process uses the database or when there is no
 * space for the copy: removed rows stay removed, and the next call shrinks the file.
 */
export function shrinkDatabase(
  connection: DatabaseConnection,
  atMostBytes = Number.POSITIVE_INFINITY,
): number {
  return guarded(connection.path, () => {
    const before = filesBytes(connection.path)
    try {
      if (isWorthShrinking(connection.db)) connection.db.run("VACUUM")
      truncateLog(connection.db)
      if (filesBytes(connection.path) > atMostBytes) {
        connection.db.run("VACUUM")
        truncateLog(connection.db)
      }
    } catch (error) {
      if (!/^SQLITE_(BUSY|LOCKED|FULL)/.test(errnoOf(error) ?? "")) throw error
    }
    return Math.max(0, before - filesBytes(connection.path))
  })
}

/** Returns whether at least a hundredth of the pages is free: copying everything for less is not worth it. */
export function isWorthShrinking(db: Database): boolean {
  const { free, all } = pagesOf(db)
  return free > 0 && free * 100 >= all
}

/** Returns the pages of the database: free ones, all, and the size of one in bytes. */
export function pagesOf(db: Database): {
  readonly free: number
  readonly all: number
  readonly size: number
} {
  const value = (name: string) =>
    db.query<{ value: number }, []>(`SELECT ${name} AS value FROM pragma_${name}`).get()?.value ?? 0
  return { free: value("freelist_count"), all: value("page_count"), size: value("page_size") }
}

/** Writes the write-ahead log into the database file and truncates it. */
function truncateLog(db: Database): void {
  db.query("PRAGMA wal_checkpoint(TRUNCATE)").all()
}

/** Returns the size of the database file and its write-ahead log. */
export function filesBytes(path: string): number {
  return [path, `${path}-wal`].reduce(
    (total, file) => total + (statSync(file, { throwIfNoEntry: false })?.size ?? 0),
    0,
  )
}
