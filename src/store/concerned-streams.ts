import { ApprovalRequested } from "../domain/call-events.ts"
import { ControlRequested } from "../domain/pipeline/pipeline-events.ts"
import { SessionStarted } from "../domain/session-events.ts"
import type { Connection } from "./database.ts"

/**
 * The streams that tell of a session or an execution, and how many events each has: its own, the answers to what it
 * asked, the approval of its plan, what others asked of it. Read from the events and not from tables, so it is only as
 * true as they are.
 */
export function concernedStreams(connection: Connection, id: string): ReadonlyMap<string, number> {
  const rows = connection.db
    .query<{ stream: string; events: number }, [string, string, string, string]>(
      `WITH concerned (stream) AS (
         SELECT ?1
         UNION SELECT json_extract(data, '$.approvalId') FROM events WHERE stream = ?1 AND type IN (?2, ?3)
         UNION SELECT stream FROM events WHERE type = ?4 AND json_extract(data, '$.sessionId') = ?1
       )
       SELECT stream, count(*) AS events FROM concerned JOIN events USING (stream) GROUP BY stream`,
    )
    .all(id, ApprovalRequested.type, SessionStarted.type, ControlRequested.type)
  return new Map(rows.map(({ stream, events }) => [stream, events]))
}
