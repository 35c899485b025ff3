import { controlStreamOf } from "../../domain/pipeline/pipeline-events.ts"
import type { ProcessIdentity } from "../../domain/process-identity.ts"
import type { Connection } from "../database.ts"
import { leaseOwner } from "../leases.ts"
import type { Liveness } from "../process-identity.ts"
import { type PruneParts, pruneStreams } from "../prune.ts"
import { forecastPrune } from "./forecast.ts"

export interface SessionPruneParts extends PruneParts {
  readonly liveness: (owner: ProcessIdentity) => Liveness
}

/**
 * Removes sessions with their control streams and the answers to what they asked. One that somebody has taken up since
 * it was chosen stays. Returns the sessions that went.
 */
export function pruneSessions(
  parts: SessionPruneParts,
  ids: readonly string[],
  reason: string,
): readonly string[] {
  const removed = pruneStreams(parts, reason, connection =>
    ids.filter(id => !isDriven(parts, id)).flatMap(id => streamsOf(connection, id)),
  )
  const streams = new Set(removed)
  return ids.filter(id => streams.has(id))
}

/** At least how much would be freed by removing these sessions and executions. */
export function forecastRecords(
  parts: SessionPruneParts,
  sessions: readonly string[],
  executions: readonly string[],
): number {
  const ofSessions = sessions
    .filter(id => !isDriven(parts, id))
    .flatMap(id => streamsOf(parts.connection, id))
  return forecastPrune(parts, [...ofSessions, ...executions])
}

function isDriven({ connection, liveness }: SessionPruneParts, id: string): boolean {
  const owner = leaseOwner(connection, id)
  return owner !== null && liveness(owner) !== "dead"
}

function streamsOf({ db }: Connection, id: string): readonly string[] {
  const answers = db.query<{ id: string }, [string]>("SELECT id FROM approvals WHERE session_id = ?").all(id)
  return [id, controlStreamOf(id), ...answers.map(answer => answer.id)]
}
