import { closeSync, lstatSync, openSync, rmSync } from "node:fs"
import { errnoOf } from "../../base/assert.ts"
import { sha256Hex } from "../../base/canonical.ts"
import type { Faults } from "../../base/faults.ts"
import { tryLock } from "../../base/libc.ts"
import { Failure } from "../../domain/failure.ts"
import { type DatabaseConnection, guarded, openDatabase } from "../database/database.ts"
import { readingCodeIndex } from "./code-queries.ts"
import type { CodeIndex, CodeIndexWriter, FileToIndex } from "./contract.ts"
import { packPlaces } from "./places.ts"

export interface CodeIndexOptions {
  readonly path: string
  /** The version of the parser: facts of another version are discarded. */
  readonly parserVersion: string
  readonly faults: Faults
}

const busyTimeoutMs = 2_000

/** The columns hold what the parser returned: the index is a cache, and nothing in it is redacted. */
const schema = `
  CREATE TABLE files(
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, sha256 TEXT NOT NULL, language TEXT NOT NULL,
    errors INTEGER NOT NULL, unparsed TEXT
  ) STRICT;
  CREATE TABLE names(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
  CREATE TABLE symbols(
    file INTEGER NOT NULL, ordinal INTEGER NOT NULL, name INTEGER NOT NULL, kind TEXT NOT NULL,
    byte_start INTEGER NOT NULL, byte_end INTEGER NOT NULL, line_start INTEGER NOT NULL, line_end INTEGER NOT NULL,
    container TEXT, signature TEXT NOT NULL, PRIMARY KEY(file, ordinal)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX symbols_by_name ON symbols(name);
  CREATE TABLE uses(
    name INTEGER NOT NULL, file INTEGER NOT NULL, count INTEGER NOT NULL, places ANY NOT NULL,
    PRIMARY KEY(name, file)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX uses_by_file ON uses(file);
`

/** Opens the index for reading; null if there is none that can be read. The next update creates a new one. */
export function openCodeIndex(options: CodeIndexOptions): CodeIndex | null {
  const connection = openUsable(options, true)
  return connection === null ? null : readingCodeIndex(connection)
}

/** Opens the index for writing and recreates it if it cannot be used; null while another process writes it. */
export function openCodeIndexWriter(options: CodeIndexOptions, isRebuilt: boolean): CodeIndexWriter | null {
  const lock = takeLock(`${options.path}.lock`)
  if (lock === null) return null
  try {
    const existing = isRebuilt ? null : openUsable(options, false)
    return writer(existing ?? created(options), lock)
  } catch (error) {
    lock[Symbol.dispose]()
    throw error
  }
}

/** Takes the lock of the writer, which the kernel releases when the process dies. */
function takeLock(path: string): Disposable | null {
  const fd = guarded(path, () => openSync(path, "a", 0o600))
  const release = { [Symbol.dispose]: () => closeSync(fd) }
  if (tryLock(fd, "exclusive")) return release
  closeSync(fd)
  return null
}

/** Opens the index; null if the file is damaged, of another version, or not made by acode. */
function openUsable(
  { path, parserVersion, faults }: CodeIndexOptions,
  readOnly: boolean,
): DatabaseConnection | null {
  let connection: DatabaseConnection | null = null
  try {
    if (lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true) return null
    connection = openDatabase({ path, readOnly, busyTimeoutMs, faults })
    if (!readOnly) connection.db.run("PRAGMA synchronous = NORMAL")
    if (isCurrent(connection, parserVersion, readOnly)) return connection
  } catch (error) {
    if (!isDamage(error)) {
      connection?.[Symbol.dispose]()
      throw error
    }
  }
  connection?.[Symbol.dispose]()
  return null
}

/** Returns whether the file can be used. A writer checks all of it, because it must not write to a damaged file. */
function isCurrent({ db, path }: DatabaseConnection, parserVersion: string, readOnly: boolean): boolean {
  return guarded(path, () => {
    const version = db.query<{ user_version: number }, []>("PRAGMA user_version").get()
    if (version?.user_version !== versionOf(parserVersion)) return false
    if (readOnly) return true
    return db.query<{ quick_check: string }, []>("PRAGMA quick_check(1)").get()?.quick_check === "ok"
  })
}

/**
 * Returns whether an error means that the file was truncated, is not a database or lost a table. A file that is locked,
 * on a full disk or without permission is not damaged.
 */
export function isDamage(error: unknown): boolean {
  if (error instanceof Failure) return error.report.code === "ACODE-DB-005"
  return errnoOf(error) === "SQLITE_ERROR"
}

function versionOf(parserVersion: string): number {
  return Number.parseInt(sha256Hex(`${schema}\n${parserVersion}`).slice(0, 7), 16)
}

/** Creates an empty index in place of any other. */
function created({ path, parserVersion, faults }: CodeIndexOptions): DatabaseConnection {
  // A process that still reads the old file keeps it until it closes it.
  for (const file of [path, `${path}-wal`, `${path}-shm`])
    guarded(path, () => rmSync(file, { force: true, recursive: true }))
  faults.reach("code-index.removed")
  guarded(path, () => closeSync(openSync(path, "a", 0o600)))
  const connection = openDatabase({ path, readOnly: false, busyTimeoutMs, faults })
  connection.db.run("PRAGMA synchronous = NORMAL")
  connection.transaction("code-index.create", () => {
    connection.db.run(schema)
    connection.db.run(`PRAGMA user_version = ${versionOf(parserVersion)}`)
  })
  return connection
}

function writer(connection: DatabaseConnection, lock: Disposable): CodeIndexWriter {
  const reading = readingCodeIndex(connection)
  return {
    ...reading,
    update: (files, removed) =>
      connection.transaction("code-index", () => {
        for (const path of removed) forget(connection, path)
        for (const file of files) replace(connection, file)
      }),
    [Symbol.dispose]: () => {
      try {
        reading[Symbol.dispose]()
      } finally {
        lock[Symbol.dispose]()
      }
    },
  }
}

function forget({ db }: DatabaseConnection, path: string): void {
  const row = db.query<{ id: number }, [string]>("SELECT id FROM files WHERE path = ?").get(path)
  if (row === null) return
  for (const table of ["symbols", "uses"]) db.query(`DELETE FROM ${table} WHERE file = ?`).run(row.id)
  db.query("DELETE FROM files WHERE id = ?").run(row.id)
}

function replace(connection: DatabaseConnection, { path, sha256, facts }: FileToIndex): void {
  const { db } = connection
  forget(connection, path)
  const parsed = facts.kind === "parsed" ? facts : null
  const file = Number(
    db
      .query("INSERT INTO files(path, sha256, language, errors, unparsed) VALUES (?, ?, ?, ?, ?)")
      .run(
        path,
        sha256,
        facts.language,
        parsed?.errorCount ?? 0,
        facts.kind === "parsed" ? null : facts.reason,
      ).lastInsertRowid,
  )
  if (parsed === null) return
  const symbols = db.query("INSERT INTO symbols VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
  for (const [ordinal, symbol] of parsed.symbols.entries()) {
    const { name, kind, byteStart, byteEnd, lineStart, lineEnd, container, signature } = symbol
    const id = nameId(connection, name)
    symbols.run(file, ordinal, id, kind, byteStart, byteEnd, lineStart, lineEnd, container, signature)
  }
  const uses = db.query("INSERT INTO uses VALUES (?, ?, ?, ?)")
  for (const { name, places } of parsed.references)
    uses.run(nameId(connection, name), file, places.length, packPlaces(places))
}

function nameId({ db }: DatabaseConnection, name: string): number {
  const known = db.query<{ id: number }, [string]>("SELECT id FROM names WHERE name = ?").get(name)
  return known?.id ?? Number(db.query("INSERT INTO names(name) VALUES (?)").run(name).lastInsertRowid)
}
