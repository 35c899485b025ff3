import type { Faults } from "../../base/faults.ts"
import type { Failure } from "../../domain/failure.ts"
import type { DatabaseConnection } from "../database/database.ts"
import { assertOwnSchema } from "../database/migrations.ts"
import { changedHistory } from "../database/store-failures.ts"
import { noHistory } from "../state-directory.ts"
import { firstHead, keyIdOf } from "./chain.ts"
import { createKey, keyPath, keyReplaced, readKey } from "./keys.ts"

/** The workspace that a log belongs to, and the key that signs it. */
export interface LogIdentity {
  readonly workspaceId: string
  readonly key: Uint8Array
}

/** Reads the workspace id of the log and loads its key. Creates both for a new log. */
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
  // A reader appends nothing, and may be the audit, which has to report every problem.
  if (!connection.readOnly) assertHeadAtEnd(connection)
  return { workspaceId: row.workspaceId, key }
}

/** Returns the workspace id that a database states. Checks its schema first: acode queries only its own tables. */
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

/**
 * Creates the id and the key of a log. The key is on disk before the log that needs it: a crash in between leaves an
 * unused key.
 */
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

/**
 * Throws unless the head of the log is at its last event. One query reads both, so that an append in between cannot
 * look like damage.
 */
function assertHeadAtEnd(connection: DatabaseConnection): void {
  const ends = connection.db
    .query<Ends, []>(`SELECT position, ${lastPosition} AS last FROM log_head WHERE id = 1`)
    .get()
  if (ends !== null && ends.position !== ends.last) throw headElsewhere(connection.path, ends)
}

/** SQL for the position of the last event. A prune appends an event, so no position can be missing at the end. */
export const lastPosition = "(SELECT coalesce(max(position), 0) FROM events)"

export function headElsewhere(path: string, { position, last }: Ends): Failure {
  return changedHistory(
    `the head of the log is at position ${position}, but its last event is at ${last}`,
    path,
  )
}

export function headMissing(path: string): Failure {
  return changedHistory("the head of the log is missing", path)
}
