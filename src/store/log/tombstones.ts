import { HistoryPruned } from "../../domain/events/command-events.ts"
import type { DatabaseConnection } from "../database/database.ts"

/** The remains of one pruned event: its position and its hash. */
export interface Tombstone {
  readonly stream: string
  readonly position: number
  readonly hash: string
}

/**
 * Returns all tombstones in the order of their positions. The walk over the chain verifies the events that hold them.
 */
export function readTombstones(connection: DatabaseConnection): readonly Tombstone[] {
  const rows = connection.db
    .query<{ data: string }, []>("SELECT data FROM events WHERE stream >= 'prn_' AND stream < 'prn`'")
    .all()
  const tombstones = rows.flatMap(row => tombstonesIn(row.data))
  return tombstones.sort((a, b) => a.position - b.position)
}

function tombstonesIn(data: string): readonly Tombstone[] {
  const pruned = HistoryPruned.data.safeParse(parsed(data))
  if (!pruned.success) return []
  return pruned.data.streams.flatMap(({ stream, events }) => events.map(event => ({ stream, ...event })))
}

function parsed(data: string): unknown {
  try {
    return JSON.parse(data)
  } catch {
    // A changed tombstone yields nothing here; the walk over the chain reports it.
    return null
  }
}
