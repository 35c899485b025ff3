import { ApprovalRequested } from "../domain/call-events.ts"
import { CommandStarted } from "../domain/command-events.ts"
import { ControlRequested } from "../domain/pipeline/pipeline-events.ts"
import { SessionStarted } from "../domain/session-events.ts"
import type { Connection } from "./database.ts"

/**
 * The streams that tell of a session or an execution, and how many events each has: its own, the answers to what it
 * asked, the approval of its plan, what others asked of it. A command that a session ran has no stream: the session's
 * is its own. Read from the events and not from tables, so it is as true as they are.
 */
export function concernedStreams(connection: Connection, id: string): ReadonlyMap<string, number> {
  const rows = connection.db
    .query<{ stream: string; events: number }, string[]>(
      `WITH own (stream) AS (
         SELECT ?1
         UNION SELECT stream FROM events WHERE type = ?2 AND json_extract(data, '$.executionId') = ?1
       ), concerned (stream) AS (
         SELECT stream FROM own
         UNION SELECT json_extract(data, '$.approvalId') FROM events JOIN own USING (stream) WHERE type IN (?3, ?4)
         UNION SELECT events.stream FROM events JOIN own ON own.stream = json_extract(data, '$.sessionId')
           WHERE type = ?5
       )
       SELECT stream, count(*) AS events FROM concerned JOIN events USING (stream) GROUP BY stream`,
    )
    .all(id, CommandStarted.type, ApprovalRequested.type, SessionStarted.type, ControlRequested.type)
  return new Map(rows.map(({ stream, events }) => [stream, events]))
}
