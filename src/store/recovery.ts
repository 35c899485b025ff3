import { assert } from "../base/assert.ts"
import { CommandFinished } from "../domain/command-events.ts"
import { type NewEvent, newEvent } from "../domain/event-definition.ts"
import type { ProcessIdentity } from "../domain/process-identity.ts"
import type { AbandonedExecution } from "./contract.ts"
import type { Connection } from "./database.ts"
import type { LogWriter } from "./event-log.ts"
import type { EventReader } from "./event-rows.ts"
import { interruptedOutcome } from "./execution-outcome.ts"
import { type ExecutionRow, readExecution } from "./execution-projection.ts"
import { recordedExecution } from "./execution-queries.ts"
import { dropLease, leaseOwner, takeLease } from "./leases.ts"
import { type Noted, unlessChanged } from "./store-failures.ts"

export interface RecoveryParts {
  readonly connection: Connection
  readonly log: LogWriter
  readonly self: ProcessIdentity
  readonly noted: Noted
  /** What a scan after the death of its acode took away of what a command left. */
  readonly quarantinedOf: (executionId: string) => readonly string[]
}

/**
 * Closes what dead processes left open, one commit each. When nothing is open it is one look into an empty index. What
 * the table calls open and its events do not is left alone.
 */
export function recoverExecutions(
  parts: RecoveryParts,
  isAlive: (owner: ProcessIdentity) => boolean,
): readonly string[] {
  return openExecutions(parts.connection).flatMap(row => {
    const isClosed = unlessChanged(parts.noted, () => {
      const owners = ownersOf(parts, row)
      return !owners.some(owner => isAlive(owner)) && closeInterrupted(parts, row)
    })
    return isClosed === true ? [row.id] : []
  })
}

export function abandonedExecutions(
  { connection, log, noted }: Pick<RecoveryParts, "connection" | "log" | "noted">,
  isAlive: (owner: ProcessIdentity) => boolean,
): readonly AbandonedExecution[] {
  const open = connection.db
    .query<ExecutionRow, []>(
      `SELECT * FROM executions WHERE finished_position IS NULL ORDER BY started_position`,
    )
    .all()
  return open.flatMap(row => {
    const started = unlessChanged(noted, () => recordedExecution(log, row).started)
    if (started === null || isAlive(started.owner)) return []
    return [{ id: row.id, protectedNames: started.protectedNames ?? null }]
  })
}

/** How an execution ends whose process is gone: as interrupted, since nobody saw its end. */
export function interruptedEvent(
  { connection, quarantinedOf }: Pick<RecoveryParts, "connection" | "quarantinedOf">,
  log: EventReader,
  id: string,
): NewEvent<typeof CommandFinished> {
  const row = readExecution(connection, id)
  assert(row !== null, `${id} has started and not ended`)
  const { event, started, finished } = recordedExecution(log, row)
  assert(finished === null, `${id} has started and not ended`)
  return newEvent(CommandFinished, interruptedOutcome(started, event.at, quarantinedOf(id)))
}

function openExecutions(connection: Connection): readonly ExecutionRow[] {
  return connection.db
    .query<ExecutionRow, []>(
      `SELECT * FROM executions WHERE finished_position IS NULL AND stream = id ORDER BY started_position`,
    )
    .all()
}

/** The lease is written as it is, while the event has passed the redactor; but the event is signed. */
function ownersOf({ connection, log }: RecoveryParts, row: ExecutionRow): readonly ProcessIdentity[] {
  const { owner } = recordedExecution(log, row).started
  const holder = leaseOwner(connection, row.stream)
  return holder === null || Bun.deepEquals(holder, owner) ? [owner] : [holder, owner]
}

/** False when somebody else closed it since it was found, or when its events say that it has ended. */
function closeInterrupted(parts: RecoveryParts, { id, stream }: ExecutionRow): boolean {
  const { connection, log, self } = parts
  return connection.transaction("recovery", () => {
    const events = log.read(stream)
    if (events.length !== 1) return false
    const { epoch } = takeLease(connection, stream, self)
    const outcome = interruptedEvent(parts, log, id)
    log.write(stream, 1, epoch, log.prepare([outcome]))
    dropLease(connection, stream)
    return true
  })
}
