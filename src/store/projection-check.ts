import { CommandFinished, CommandStarted, HistoryPruned } from "../domain/events/command-events.ts"
import { artifactsReferencedBy } from "./artifacts/references.ts"
import type { AuditProblem, StoredEvent } from "./contract.ts"
import type { DatabaseConnection } from "./database/database.ts"
import { changedEvent, changedHistory } from "./database/store-failures.ts"
import {
  countRows,
  isStoredRow,
  type ReportDifference,
  type TableCheck,
} from "./database/table-projection.ts"
import {
  type FinishedFields,
  finishedFields,
  type StartedFields,
  startedFields,
} from "./executions/execution-outcome.ts"
import {
  type ExecutionRow,
  finishedRow,
  readExecution,
  startedRow,
} from "./executions/execution-projection.ts"
import { readTail } from "./log/event-log.ts"
import {
  type EventRow,
  eventColumns,
  fieldsOf,
  rowProblem,
  toStoredEvent,
  unseenBefore,
} from "./log/event-rows.ts"
import type { LogIdentity } from "./log/log-identity.ts"
import { sessionProjections } from "./projections.ts"

/**
 * Recomputes every projected row from the events and compares it with the table. Useful only after the events were
 * verified.
 */
export function projectionProblems(connection: DatabaseConnection): readonly AuditProblem[] {
  const check = new ProjectionCheck(connection)
  const rows = connection.db
    .query<EventRow, [string]>(`SELECT ${eventColumns} FROM events WHERE type <> ? ORDER BY position`)
    // Tombstones are long, and no table is computed from them.
    .iterate(HistoryPruned.type)
  for (const row of rows) check.apply(toStoredEvent(row))
  check.end()
  return check.problems
}

/**
 * Recomputes the rows of these events, which are in order, and compares them with the tables. Does not look for rows
 * that no event explains.
 */
export function tableProblems(
  connection: DatabaseConnection,
  events: Iterable<StoredEvent>,
): readonly AuditProblem[] {
  const check = new ProjectionCheck(connection)
  for (const event of events) check.apply(event)
  check.compareOpen()
  return check.problems
}

/**
 * Throws ACODE-SEC-004 unless the last events of the log are those that were written, none is missing, and the tables
 * say what they make. A listing checks only the rows that it prints: it cannot notice a row that was removed, or
 * changed so that it is no longer listed. Bounded, because a listing must not read a long log.
 */
export function assertRecentRows(
  connection: DatabaseConnection,
  { key }: LogIdentity,
  eventsMax = recentEventsMax,
): void {
  const { position: last } = readTail(connection)
  const behind = Math.max(0, last - eventsMax)
  const check = new ProjectionCheck(connection, behind)
  const present = new Set<number>()
  const rows = connection.db
    .query<EventRow, [number]>(`SELECT ${eventColumns} FROM events WHERE position > ? ORDER BY position`)
    .iterate(behind)
  for (const row of rows) {
    const problem = rowProblem(key, row, unseenBefore(row))
    if (problem !== null) throw changedEvent(row, problem)
    present.add(row.position)
    if (row.type === HistoryPruned.type) for (const position of prunedBy(row)) present.add(position)
    else if (projectedTypes.has(row.type)) check.apply(toStoredEvent(row))
  }
  for (let position = behind + 1; position <= last; position++)
    if (!present.has(position))
      throw changedHistory(`the event at position ${position} is missing`, connection.path)
  check.endOfProjected()
  const [problem] = check.problems
  if (problem !== undefined) throw changedHistory(problem.what, problem.stream ?? connection.path)
}

/** The number of events that are checked for a listing. */
const recentEventsMax = 10_000

const projectedTypes: ReadonlySet<string> = new Set([
  CommandStarted.type,
  CommandFinished.type,
  ...sessionProjections.flatMap(({ eventTypes }) => [...eventTypes]),
])

function prunedBy(row: EventRow): readonly number[] {
  const { streams } = fieldsOf(HistoryPruned, toStoredEvent(row)) ?? { streams: [] }
  return streams.flatMap(({ events }) => events.map(({ position }) => position))
}

/** Compares the rows that events behind a position create: all rows, or those of the last events only. */
class ProjectionCheck {
  readonly problems: AuditProblem[] = []
  private executionCount = 0
  private referenceCount = 0
  /** Executions that have started and not finished: all that the check has to remember. */
  private readonly open = new Map<string, { readonly row: ExecutionRow; readonly event: StoredEvent }>()

  private readonly tables: readonly TableCheck[]

  constructor(
    private readonly connection: DatabaseConnection,
    private readonly behind = 0,
  ) {
    const report: ReportDifference = (event, what) => this.report(event, what)
    this.tables = sessionProjections.map(projection => projection.check(connection, report, behind))
  }

  apply(event: StoredEvent): void {
    for (const table of this.tables) table.apply(event)
    for (const ref of artifactsReferencedBy(event)) this.applyReference(event, ref)
    const started = startedFields(event)
    if (started !== null) this.applyStarted(event, started)
    const finished = finishedFields(event)
    if (finished !== null) this.applyFinished(event, finished)
  }

  /** Compares commands that still run and rows that may still change, after the last event. */
  compareOpen(): void {
    for (const { row, event } of this.open.values()) this.compare(row, event)
    for (const table of this.tables) table.compareOpen()
  }

  /** Finishes the check after every event: also finds rows that no event explains. */
  end(): void {
    this.endOfProjected()
    this.compareCount("artifact_references", "position", this.referenceCount)
  }

  /** Finishes the check after the events of `projectedTypes`; events of other types refer to artifacts as well. */
  endOfProjected(): void {
    this.compareOpen()
    this.compareCount("executions", "started_position", this.executionCount)
    for (const table of this.tables) table.end()
  }

  private applyStarted(event: StoredEvent, started: StartedFields): void {
    const row = startedRow(event, started)
    this.open.set(row.id, { row, event })
    this.executionCount += 1
  }

  private applyFinished(event: StoredEvent, finished: FinishedFields): void {
    const started = this.open.get(finished.executionId)
    this.open.delete(finished.executionId)
    if (started !== undefined) this.compare(finishedRow(started.row, event, finished), event)
  }

  private applyReference(event: StoredEvent, ref: string): void {
    this.referenceCount += 1
    if (!this.hasReference(ref, event.position)) this.report(event, `the table of artifacts lacks ${ref}`)
  }

  private compare(expected: ExecutionRow, event: StoredEvent): void {
    if (!isStoredRow(readExecution(this.connection, expected.id), expected))
      this.report(event, "the table of executions does not match this event")
  }

  private hasReference(ref: string, position: number): boolean {
    return (
      this.connection.db
        .query("SELECT 1 FROM artifact_references WHERE ref = ? AND position = ?")
        .get(ref, position) !== null
    )
  }

  private compareCount(table: string, column: string, expected: number): void {
    const found = countRows(this.connection, table, { column, behind: this.behind })
    if (found !== expected)
      this.report(null, `the table ${table} has ${found} rows, but its events make ${expected}`)
  }

  private report(event: StoredEvent | null, what: string): void {
    const { stream = null, seq = null, position = null } = event ?? {}
    this.problems.push({ stream, seq, position, what })
  }
}
