import { Database } from "bun:sqlite"
import type { AuditReport } from "../../../src/store/contract.ts"
import type { DatabaseConnection } from "../../../src/store/database/database.ts"
import { readKey } from "../../../src/store/log/keys.ts"
import { type VerifyDeps, verifyLog } from "../../../src/store/verify.ts"
import type { StoreFixture } from "./store-fixture.ts"

/** A row of the table, as somebody with a hex editor sees it. */
export interface RawEvent {
  readonly stream: string
  readonly seq: number
  readonly position: number
  readonly epoch: number
  readonly at: string
  readonly type: string
  readonly version: number
  readonly data: string
  readonly prev_hash: string
  readonly hash: string
}

export const columns = [
  "stream",
  "seq",
  "position",
  "epoch",
  "at",
  "type",
  "version",
  "data",
  "prev_hash",
  "hash",
] as const satisfies readonly (keyof RawEvent)[]

export interface Tampering extends Disposable {
  readonly db: Database
  readonly connection: DatabaseConnection
  readonly key: Uint8Array
  readonly workspaceId: string
  readonly rows: readonly RawEvent[]
  /** Changes the database, verifies it, and undoes the change. */
  report(change: (db: Database) => void): AuditReport
  /** Changes the database, looks at it, and undoes the change. */
  during<Result>(change: (db: Database) => void, look: () => Result): Result
}

/**
 * Somebody who can write the file and knows SQLite: constraints and triggers are gone. Everything happens in one
 * transaction that is never committed, so that thousands of changes can be tried on one log.
 */
export function tampering(fixture: StoreFixture, workspaceId: string, problemsMax = 1): Tampering {
  const db = new Database(fixture.options.databasePath)
  db.run("BEGIN")
  db.run(`CREATE TABLE loose AS SELECT ${columns.join(", ")} FROM events ORDER BY position`)
  db.run("DROP TABLE events")
  db.run("ALTER TABLE loose RENAME TO events")
  db.run("CREATE INDEX loose_by_position ON events (position)")
  db.run("CREATE INDEX loose_by_stream ON events (stream, seq)")
  const key = readKey(fixture.options.keysDirectory, workspaceId)
  const connection: DatabaseConnection = {
    db,
    path: fixture.options.databasePath,
    readOnly: false,
    transaction: (_name, work) => work(),
    snapshot: work => work(),
    [Symbol.dispose]: () => db.close(true),
  }
  const parts: VerifyDeps = {
    connection,
    identity: { workspaceId, key },
    artifactsDirectory: fixture.options.artifactsDirectory,
    anchorsDirectory: fixture.options.anchorsDirectory,
    stateDirectory: fixture.options.stateDirectory,
    problemsMax,
  }
  const during: Tampering["during"] = (change, look) => {
    db.run("SAVEPOINT untouched")
    try {
      change(db)
      return look()
    } finally {
      db.run("ROLLBACK TO untouched")
      db.run("RELEASE untouched")
    }
  }
  return {
    db,
    connection,
    key,
    workspaceId,
    during,
    rows: db.query<RawEvent, []>("SELECT * FROM events ORDER BY position").all(),
    report: change => during(change, () => verifyLog(parts)),
    [Symbol.dispose]: () => db.close(true),
  }
}

export function insertRow(db: Database, row: RawEvent): void {
  db.query(`INSERT INTO events (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`).run(
    ...columns.map(column => row[column]),
  )
}

/** Puts other content at a position; the position itself stays. */
export function overwrite(db: Database, position: number, row: RawEvent): void {
  const others = columns.filter(column => column !== "position")
  db.query(`UPDATE events SET ${others.map(column => `${column} = ?`).join(", ")} WHERE position = ?`).run(
    ...others.map(column => row[column]),
    position,
  )
}

/** One bit of the value changed; an empty text becomes one that is not. */
export function flipped(value: string | number): string | number {
  if (typeof value === "number") return value ^ 1
  if (value === "") return "\u0001"
  const middle = value.length >> 1
  const changed = String.fromCharCode(value.charCodeAt(middle) ^ 1)
  return value.slice(0, middle) + changed + value.slice(middle + 1)
}
