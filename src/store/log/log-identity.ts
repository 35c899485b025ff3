import type { Faults } from "../../base/faults.ts"
import type { Failure } from "../../domain/failure.ts"
import type { DatabaseConnection } from "../database/database.ts"
import { assertOwnSchema } from "../database/migrations.ts"
import { changedHistory } from "../database/store-failures.ts"
import { noHistory } from "../state-directory.ts"
import { firstHead, keyIdOf } from "./chain.ts"
import { createKey, keyPath, keyReplaced, readKey } from "./keys.ts"

/** Whose log this is, and what signs it. */
export interface LogIdentity {
  readonly workspaceId: string
  readonly key: Uint8Array
}

/** Reads who the log belongs to and loads its key; a new log gets an id and a key first. */
export function openLogIdentity(
  connection: DatabaseConnection,
  keysDirectory: string,
  faults: Faults,
): LogIdentity {
  const existing = readRow(connection)
  if (existing === null && connection.readOnly)
    throw hasEvents(connection) ? headMissing(connection.path) : noHistory(connection.path)
  const row = existing ?? createIdentity(connection, keysDirectory, faults)
  const key = readKey(keysDirectory, row.workspaceId)
  if (keyIdOf(key, row.workspaceId) !== row.keyId) throw keyReplaced(keyPath(keysDirectory, row.workspaceId))
  // Who only reads appends nothing behind it, and may be the audit that tells all that is wrong.
  if (!connection.readOnly) assertHeadAtEnd(connection)
  return { workspaceId: row.workspaceId, key }
}

/** Whose log a database says it is. Its schema is looked at first: what is not ours is not asked anything. */
export function workspaceIdIn(connection: DatabaseConnection): string | null {
  assertOwnSchema(connection)
  return readRow(connection)?.workspaceId ?? null
}

interface IdentityRow {
  readonly workspaceId: string
  readonly keyId: string
}

function readRow(connection: DatabaseConnection): IdentityRow | null {
  return connection.db
    .query<IdentityRow, []>("SELECT workspace_id AS workspaceId, key_id AS keyId FROM log_head WHERE id = 1")
    .get()
}

/** The key is on the disk before the log that needs it: a crash between leaves a key that nothing uses. */
function createIdentity(connection: DatabaseConnection, keysDirectory: string, faults: Faults): IdentityRow {
  return connection.transaction("identity", () => {
    const existing = readRow(connection)
    if (existing !== null) return existing
    if (hasEvents(connection)) throw headMissing(connection.path)
    const workspaceId = `wsp_${Bun.randomUUIDv7()}`
    const key = createKey(keysDirectory, workspaceId, faults)
    const keyId = keyIdOf(key, workspaceId)
    connection.db
      .query("INSERT INTO log_head (id, workspace_id, key_id, position, head) VALUES (1, ?, ?, 0, ?)")
      .run(workspaceId, keyId, firstHead(key, workspaceId))
    return { workspaceId, keyId }
  })
}

function hasEvents(connection: DatabaseConnection): boolean {
  return connection.db.query("SELECT 1 FROM events LIMIT 1").get() !== null
}

interface Ends {
  readonly position: number
  readonly last: number
}

/** Both in one question, so that an append in between cannot look like damage. */
function assertHeadAtEnd(connection: DatabaseConnection): void {
  const ends = connection.db
    .query<Ends, []>(`SELECT position, ${lastPosition} AS last FROM log_head WHERE id = 1`)
    .get()
  if (ends !== null && ends.position !== ends.last) throw headElsewhere(connection.path, ends)
}

/** The position of the last event: a prune leaves an event behind it, so no number can be missing at the end. */
export const lastPosition = "(SELECT coalesce(max(position), 0) FROM events)"

export function headElsewhere(path: string, { position, last }: Ends): Failure {
  return changedHistory(
    `the head of the log is at position ${position}, but its last event is at ${last}`,
    path,
  )
}

export function headMissing(path: string): Failure {
  return changedHistory("the head of the log is gone", path)
}
