import { controlStreamOf } from "../../domain/pipeline/pipeline-events.ts"
import type { ProcessIdentity } from "../../domain/process-identity.ts"
import { assertOwn } from "../genuine.ts"
import { leaseOwner } from "../leases.ts"
import type { Liveness } from "../process-identity.ts"
import { executionsAmong, type PruneParts, pruneStreams } from "../prune.ts"
import type { FactsOf, SessionFacts } from "../session/session-facts.ts"
import { unlessChanged } from "../store-failures.ts"
import { forecastPrune } from "./forecast.ts"

export interface SessionPruneParts extends PruneParts {
  readonly facts: FactsOf
  readonly liveness: (owner: ProcessIdentity) => Liveness
}

/**
 * Removes sessions with their control streams and the answers to what they asked. One that somebody has taken up since
 * it was chosen stays, and so does one whose history was changed: a tombstone would hide that. Returns those that went.
 */
export function pruneSessions(
  parts: SessionPruneParts,
  ids: readonly string[],
  reason: string,
): readonly string[] {
  const removed = pruneStreams(parts, reason, () => ids.flatMap(id => streamsOf(parts, id)))
  const streams = new Set(removed)
  return ids.filter(id => streams.has(id))
}

/** At least how much would be freed by removing these sessions and executions. */
export function forecastRecords(
  parts: SessionPruneParts,
  sessions: readonly string[],
  executions: readonly string[],
): number {
  const { connection } = parts
  const streams = connection.snapshot(() => [
    ...sessions.flatMap(id => streamsOf(parts, id)),
    ...executionsAmong(parts, executions),
  ])
  return forecastPrune(parts, streams)
}

/** The streams that go with a session; none when it stays. */
function streamsOf(parts: SessionPruneParts, id: string): readonly string[] {
  const facts = unlessChanged(parts.noted, () => {
    assertOwn(parts, id)
    return parts.facts(id)
  })
  if (facts === null || isDriven(parts, facts)) return []
  return [id, controlStreamOf(id), ...facts.questions.keys()]
}

function isDriven({ connection, liveness }: SessionPruneParts, { row }: SessionFacts): boolean {
  const holder = leaseOwner(connection, row.id)
  if (holder !== null && liveness(holder) !== "dead") return true
  const owner = { bootId: row.boot_id, pid: row.pid, startTicks: row.start_ticks }
  return row.reason === null && liveness(owner) !== "dead"
}
