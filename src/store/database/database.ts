import { Database, constants as sqlite } from "bun:sqlite"
import { accessSync, constants, copyFileSync, mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, dirname, join } from "node:path"
import { errnoOf } from "../../base/assert.ts"
import type { Faults } from "../../base/faults.ts"
import { Failure } from "../../domain/failure.ts"
import { asStoreFailure } from "./store-failures.ts"

export interface DatabaseOptions {
  readonly path: string
  readonly readOnly: boolean
  /** The time that a writer waits for another writer before it fails with ACODE-DB-002. */
  readonly busyTimeoutMs: number
  readonly faults: Faults
}

/** One connection to the workspace database. Every write goes through `transaction`. */
export interface DatabaseConnection extends Disposable {
  readonly db: Database
  readonly path: string
  readonly readOnly: boolean
  /**
   * Runs work in one transaction, which is durable when the call returns. `name` names its fault points. Transactions
   * do not nest.
   */
  transaction<Result>(name: string, work: () => Result): Result
  /** Runs reads on one state of the database, whatever other processes write meanwhile. */
  snapshot<Result>(work: () => Result): Result
}

export function openDatabase(options: DatabaseOptions): DatabaseConnection {
  const { path, faults } = options
  const db = guarded(path, () => openWithPragmas(options))
  const opened = fileIdentity(path)
  return {
    db,
    path,
    readOnly: options.readOnly,
    transaction: (name, work) =>
      guarded(path, () => {
        assertStillThere(path, opened)
        return inTransaction(db, "BEGIN IMMEDIATE", work, point => faults.reach(`${name}.${point}`))
      }),
    snapshot: work => guarded(path, () => inTransaction(db, "BEGIN", work, () => undefined)),
    // Closing finalizes the statements too: otherwise the file stays open and its log is never written into it.
    [Symbol.dispose]: () => db.close(true),
  }
}

/** Runs work and turns errors of SQLite and the file system into failures with a code. */
export function guarded<Result>(where: string, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    throw asStoreFailure(error, where)
  }
}

function openWithPragmas(options: DatabaseOptions): Database {
  const { path, readOnly } = options
  try {
    return prepared(
      readOnly
        ? new Database(path, { readonly: true })
        : new Database(path, { readwrite: true, create: true }),
      options,
    )
  } catch (error) {
    const code = errnoOf(error) ?? ""
    const isFull = /^SQLITE_(FULL|IOERR_SHM)/.test(code)
    if (readOnly && (isFull || (code.startsWith("SQLITE_CANTOPEN") && !canWrite(dirname(path)))))
      return openUnwritable(options)
    if (!code.startsWith("SQLITE_CANTOPEN")) throw error
    // SQLite reports only that it cannot create a file beside the database; this check names the missing permission.
    accessSync(dirname(path), constants.W_OK)
    throw error
  }
}

function prepared(db: Database, { readOnly, busyTimeoutMs }: DatabaseOptions): Database {
  try {
    // Set before any other statement, which may meet another process that is opening the database too.
    db.run(`PRAGMA busy_timeout = ${Math.max(0, Math.floor(busyTimeoutMs))}`)
    if (!readOnly) useWriteAheadLog(db, busyTimeoutMs)
    db.run(pragmas)
    // SQLite opens its files at the first read, and whether that works decides how the database is opened.
    if (readOnly) db.query("SELECT count(*) FROM sqlite_schema").get()
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/**
 * Opens a database in a directory where no file can be created, for lack of permission or of space. SQLite needs an
 * index of its write-ahead log there unless the file is declared immutable; it then ignores the log, so a copy is read
 * if there is one.
 */
function openUnwritable(options: DatabaseOptions): Database {
  const { path } = options
  const log = `${path}-wal`
  if ((statSync(log, { throwIfNoEntry: false })?.size ?? 0) === 0)
    return prepared(openUnchanging(path), options)
  const directory = mkdtempSync(join(tmpdir(), "acode-history-"))
  try {
    for (const file of [path, log]) copyFileSync(file, join(directory, basename(file)))
    const db = new Database(join(directory, basename(path)), { readonly: true })
    return prepared(db, options)
  } finally {
    // Open files stay readable after their names are removed.
    rmSync(directory, { recursive: true, force: true })
  }
}

function openUnchanging(path: string): Database {
  const flags = sqlite.SQLITE_OPEN_READONLY | sqlite.SQLITE_OPEN_URI
  return new Database(`${Bun.pathToFileURL(path).href}?immutable=1`, flags)
}

export function canWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    // The caller that has to write reports the reason.
    return false
  }
}

const pragmas = `
  PRAGMA synchronous = FULL;
  PRAGMA foreign_keys = ON;
  PRAGMA trusted_schema = OFF;
  PRAGMA cell_size_check = ON;
  PRAGMA secure_delete = FAST;
  PRAGMA wal_autocheckpoint = 1000;
  PRAGMA journal_size_limit = 67108864;
`

/**
 * Switches to the write-ahead log. The switch upgrades a lock, and SQLite then returns BUSY at once instead of waiting,
 * so this tries again.
 */
function useWriteAheadLog(db: Database, busyTimeoutMs: number): void {
  const pauseMs = 5
  for (let waitedMs = 0; ; waitedMs += pauseMs) {
    try {
      db.run("PRAGMA journal_mode = WAL")
      return
    } catch (error) {
      if (!errnoOf(error)?.startsWith("SQLITE_BUSY") || waitedMs >= busyTimeoutMs) throw error
      Bun.sleepSync(pauseMs)
    }
  }
}

function inTransaction<Result>(
  db: Database,
  begin: "BEGIN" | "BEGIN IMMEDIATE",
  work: () => Result,
  reach: (point: string) => void,
): Result {
  db.query(begin).run()
  try {
    reach("begun")
    const result = work()
    reach("written")
    db.query("COMMIT").run()
    reach("committed")
    return result
  } catch (error) {
    // After a full disk or a damaged page SQLite may have rolled back, and a second rollback would hide the reason.
    if (db.inTransaction) db.query("ROLLBACK").run()
    throw error
  }
}

function fileIdentity(path: string): string {
  const { dev, ino } = statSync(path)
  return `${dev}:${ino}`
}

/**
 * Throws if the file was deleted or replaced while it was open: SQLite keeps writing to the old one, and everything
 * would be lost at exit.
 */
function assertStillThere(path: string, opened: string): void {
  if (fileIdentity(path) === opened) return
  throw new Failure({
    kind: "integrity",
    code: "ACODE-DB-001",
    message: "the workspace database was replaced while it was in use",
    where: path,
    hint: "run `acode audit verify`, which compares it with the anchors outside the workspace",
  })
}
