import { assert } from "../base/assert.ts"
import { newEvent } from "../domain/event-definition.ts"
import { CommandFinished, type ProcessIdentity } from "../domain/events.ts"
import { startedFields } from "./command-events.ts"
import type { Connection } from "./database.ts"
import type { LogWriter } from "./event-log.ts"
import { interruptedOutcome } from "./execution-outcome.ts"
import { type ExecutionRow, readExecution } from "./execution-projection.ts"
import { readEvent } from "./execution-queries.ts"
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
    const start = startOf(connection, row)
    const { epoch } = takeLease(connection, row.stream, self)
    const outcome = newEvent(CommandFinished, interruptedOutcome(start.fields, start.at))
    log.write(row.stream, start.seq, epoch, log.prepare([outcome]))
    dropLease(connection, row.stream)
    return true
  })
}
