import { assert } from "../../base/assert.ts"
import type { Clock } from "../../base/clock.ts"
import { withArtifacts } from "../../domain/command-result.ts"
import { CommandFinished, CommandStarted } from "../../domain/events/command-events.ts"
import { type NewEvent, newEvent } from "../../domain/events/definition.ts"
import type { ProcessIdentity } from "../../domain/process-identity.ts"
import { storedBytes } from "../artifacts/artifacts.ts"
import { artifactsReferencedBy } from "../artifacts/references.ts"
import type { AbandonedExecution, ExecutionHistory } from "../contract.ts"
import { type DatabaseConnection, guarded } from "../database/database.ts"
import { appendConflict, type NoteFailure, unlessChanged } from "../database/store-failures.ts"
import { matchingIds } from "../database/table-projection.ts"
import { assertLeases, dropLease, leaseOwner, takeLease } from "../leases.ts"
import type { LogWriter } from "../log/event-log.ts"
import type { EventReader } from "../log/event-rows.ts"
import { executionOutcome, interruptedOutcome, type OutputRules } from "./execution-outcome.ts"
import { type ExecutionRow, readExecution } from "./execution-projection.ts"
import {
  type ExecutionReading,
  executionStats,
  hasOtherExecutions,
  listExecutions,
  recordedExecution,
  showExecution,
} from "./execution-queries.ts"
import { pruneExecutions } from "./prune.ts"

export interface ExecutionDeps extends OutputRules, ExecutionReading {
  readonly log: LogWriter
  readonly artifactsDirectory: string
  readonly clock: Clock
  readonly self: ProcessIdentity
  readonly quarantinedOf: (executionId: string) => readonly string[]
}

export function createExecutions(deps: ExecutionDeps): ExecutionHistory {
  const { connection, log, artifacts } = deps
  const running = new Map<string, number>()
  const read = connection.snapshot
  const finished: ExecutionHistory["finished"] = data => finish(deps, running, data)
  const outcome: ExecutionHistory["outcome"] = (record, outputs) =>
    newEvent(CommandFinished, executionOutcome(record, outputs, artifacts, deps))
  return {
    started: data => start(deps, running, data),
    finished,
    settled: (record, outputs) => {
      let event = outcome(record, outputs)
      try {
        finished(event.data)
      } catch (error) {
        if (areStored(deps, event)) throw error
        // A prune removed content that this outcome found stored; storing it again refreshes its time, which protects
        // it.
        event = outcome(record, outputs)
        finished(event.data)
      }
      return withArtifacts(record, event.data.result)
    },
    outcome,
    interrupted: id => read(() => interruptedEvent(deps, log, id)),
    list: filter => read(() => listExecutions(deps, filter)),
    hasOthers: (sessionId, from, to) => read(() => hasOtherExecutions(connection, sessionId, from, to)),
    matching: (typed, of = "execution") =>
      read(() => matchingIds(connection, "executions", typed, of === "execution" ? "id" : `${of}_id`)),
    show: id => read(() => showExecution(deps, id)),
    stats: () => read(() => executionStats(connection, deps.artifactsDirectory)),
    prune: (filter, reason) => pruneExecutions(deps, filter, reason),
    abandoned: isAlive => read(() => abandonedExecutions(deps, isAlive)),
    recover: isAlive => guarded(connection.path, () => recoverExecutions(deps, isAlive)),
  }
}

function start(
  deps: ExecutionDeps,
  running: Map<string, number>,
  data: Parameters<ExecutionHistory["started"]>[0],
): void {
  const { connection, log } = deps
  const prepared = log.prepare([{ type: CommandStarted.type, version: CommandStarted.version, data }])
  const lease = connection.transaction("started", () => {
    const taken = takeLease(connection, data.executionId, deps.self)
    log.write(data.executionId, 0, taken.epoch, prepared)
    return taken
  })
  running.set(data.executionId, lease.epoch)
}

function finish(
  deps: ExecutionDeps,
  running: Map<string, number>,
  data: Parameters<ExecutionHistory["finished"]>[0],
): void {
  const { connection, log } = deps
  const stream = data.executionId
  const epoch = running.get(stream)
  if (epoch === undefined) throw appendConflict(stream, "it was not started by this process")
  const prepared = log.prepare([{ type: CommandFinished.type, version: CommandFinished.version, data }])
  connection.transaction("finished", () => {
    assertLeases(connection, { stream, epoch })
    log.write(stream, 1, epoch, prepared)
    dropLease(connection, stream)
  })
  running.delete(stream)
}

function areStored(deps: ExecutionDeps, event: ReturnType<ExecutionHistory["outcome"]>): boolean {
  return artifactsReferencedBy(event).every(ref => storedBytes(deps.artifactsDirectory, ref) !== null)
}

interface RecoveryDeps {
  readonly connection: DatabaseConnection
  readonly log: LogWriter
  readonly self: ProcessIdentity
  readonly note: NoteFailure
  /** Returns the paths that were quarantined after the acode of the command died. */
  readonly quarantinedOf: (executionId: string) => readonly string[]
}

/**
 * Closes the open executions of dead processes, one commit each. Costs one lookup in an empty index if nothing is open.
 * Does not close an execution that only the table, and not its events, shows as open.
 */
function recoverExecutions(
  deps: RecoveryDeps,
  isAlive: (owner: ProcessIdentity) => boolean,
): readonly string[] {
  return openExecutions(deps.connection).flatMap(row => {
    const isClosed = unlessChanged(deps.note, () => {
      const owners = ownersOf(deps, row)
      return !owners.some(owner => isAlive(owner)) && closeInterrupted(deps, row)
    })
    return isClosed === true ? [row.id] : []
  })
}

function abandonedExecutions(
  { connection, log, note }: Pick<RecoveryDeps, "connection" | "log" | "note">,
  isAlive: (owner: ProcessIdentity) => boolean,
): readonly AbandonedExecution[] {
  const open = connection.db
    .query<ExecutionRow, []>(
      `SELECT * FROM executions WHERE finished_position IS NULL ORDER BY started_position`,
    )
    .all()
  return open.flatMap(row => {
    const started = unlessChanged(note, () => recordedExecution(log, row).started)
    if (started === null || isAlive(started.owner)) return []
    return [{ id: row.id, protectedNames: started.protectedNames ?? null }]
  })
}

/** Returns the event that ends an execution whose process is dead: `interrupted`, because its end was not observed. */
function interruptedEvent(
  { connection, quarantinedOf }: Pick<RecoveryDeps, "connection" | "quarantinedOf">,
  log: EventReader,
  id: string,
): NewEvent<typeof CommandFinished> {
  const row = readExecution(connection, id)
  assert(row !== null, `${id} has started and not ended`)
  const { event, started, finished } = recordedExecution(log, row)
  assert(finished === null, `${id} has started and not ended`)
  return newEvent(CommandFinished, interruptedOutcome(started, event.at, quarantinedOf(id)))
}

function openExecutions(connection: DatabaseConnection): readonly ExecutionRow[] {
  return connection.db
    .query<ExecutionRow, []>(
      `SELECT * FROM executions WHERE finished_position IS NULL AND stream = id ORDER BY started_position`,
    )
    .all()
}

/**
 * Returns the owners that the lease and the event state. The lease holds the owner unchanged but unsigned; the event is
 * signed but has passed the redactor.
 */
function ownersOf({ connection, log }: RecoveryDeps, row: ExecutionRow): readonly ProcessIdentity[] {
  const { owner } = recordedExecution(log, row).started
  const holder = leaseOwner(connection, row.stream)
  return holder === null || Bun.deepEquals(holder, owner) ? [owner] : [holder, owner]
}

/**
 * Closes an execution as interrupted. Returns false if another process closed it meanwhile, or if its events say that
 * it has ended.
 */
function closeInterrupted(deps: RecoveryDeps, { id, stream }: ExecutionRow): boolean {
  const { connection, log, self } = deps
  return connection.transaction("recovery", () => {
    const events = log.read(stream)
    if (events.length !== 1) return false
    const { epoch } = takeLease(connection, stream, self)
    const outcome = interruptedEvent(deps, log, id)
    log.write(stream, 1, epoch, log.prepare([outcome]))
    dropLease(connection, stream)
    return true
  })
}
