import { assert } from "../base/assert.ts"
import type { Json } from "../base/canonical.ts"
import type { ChainedFields } from "./chain.ts"
import type { StoredEvent } from "./contract.ts"
import type { Connection } from "./database.ts"

/** An event as it lies in the table: `data` is still the text that was hashed. */
export interface EventRow extends ChainedFields {
  readonly hash: string
}

export const eventColumns =
  "stream, seq, position, epoch, at, type, version, data, prev_hash AS prevHash, hash"

export function toStoredEvent(row: EventRow): StoredEvent {
  return { ...row, data: JSON.parse(row.data) as Json }
}

export function readEvent(connection: Connection, position: number): StoredEvent {
  const row = connection.db
    .query<EventRow, [number]>(`SELECT ${eventColumns} FROM events WHERE position = ?`)
    .get(position)
  assert(row !== null, `a projection names position ${position}, and the event is there`)
  return toStoredEvent(row)
}
