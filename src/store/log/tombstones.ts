import { HistoryPruned } from "../../domain/events/command-events.ts"
import type { DatabaseConnection } from "../database/database.ts"

/** What stays of one pruned event. */
export interface Tombstone {
  readonly stream: string
  readonly position: number
  readonly hash: string
}

/** All tombstones in the order of their positions. Whether the events that hold them are genuine, the chain tells. */
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
    // A tampered tombstone says nothing here; the walk over the chain names it.
    return null
  }
}
