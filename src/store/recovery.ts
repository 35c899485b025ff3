import { assert } from "../base/assert.ts"
import { CommandFinished } from "../domain/command-events.ts"
import { type NewEvent, newEvent } from "../domain/event-definition.ts"
import type { ProcessIdentity } from "../domain/process-identity.ts"
import { startedFields } from "./command-events.ts"
import type { Connection } from "./database.ts"
import type { LogWriter } from "./event-log.ts"
import { readEvent } from "./event-rows.ts"
import { interruptedOutcome } from "./execution-outcome.ts"
import { type ExecutionRow, readExecution } from "./execution-projection.ts"
import { dropLease, leaseOwner, takeLease } from "./leases.ts"

/** Closes what dead processes left open, one commit each. When nothing is open it is one look into an empty index. */
export function recoverExecutions(
  connection: Connection,
  log: LogWriter,
  self: ProcessIdentity,
  isAlive: (owner: ProcessIdentity) => boolean,
): readonly string[] {
  return openExecutions(connection)
    .filter(row => !isAlive(ownerOf(connection, row)))
    .filter(row => closeInterrupted(connection, log, self, row))
    .map(row => row.id)
}

/** How an execution ends whose process is gone: as interrupted, since nobody saw its end. */
export function interruptedEvent(connection: Connection, id: string): NewEvent<typeof CommandFinished> {
  const row = readExecution(connection, id)
  assert(row?.finished_position === null, `${id} has started and not ended`)
  const { fields, at } = startOf(connection, row)
  return newEvent(CommandFinished, interruptedOutcome(fields, at))
}

function openExecutions(connection: Connection): readonly ExecutionRow[] {
  return connection.db
    .query<ExecutionRow, []>(
      `SELECT * FROM executions WHERE finished_position IS NULL AND stream = id ORDER BY started_position`,
    )
    .all()
}

/** The lease first: it is written as it is, while the event has passed the redactor. */
function ownerOf(connection: Connection, row: ExecutionRow): ProcessIdentity {
  return leaseOwner(connection, row.stream) ?? startOf(connection, row).fields.owner
}

function startOf(connection: Connection, row: ExecutionRow) {
  const event = readEvent(connection, row.started_position)
  const fields = startedFields(event)
  assert(fields !== null, `the row of ${row.id} names the event that started it`)
  return { at: event.at, seq: event.seq, fields }
}

/** False when somebody else closed it since it was found. */
function closeInterrupted(
  connection: Connection,
  log: LogWriter,
  self: ProcessIdentity,
  row: ExecutionRow,
): boolean {
  return connection.transaction("recovery", () => {
    if (readExecution(connection, row.id)?.finished_position !== null) return false
    const { epoch } = takeLease(connection, row.stream, self)
    const outcome = interruptedEvent(connection, row.id)
    log.write(row.stream, startOf(connection, row).seq, epoch, log.prepare([outcome]))
    dropLease(connection, row.stream)
    return true
  })
}
