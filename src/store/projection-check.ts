import { HistoryPruned } from "../domain/command-events.ts"
import { artifactsNamedBy } from "./artifact-references.ts"
import { type FinishedFields, finishedFields, type StartedFields, startedFields } from "./command-events.ts"
import type { AuditProblem, StoredEvent } from "./contract.ts"
import type { Connection } from "./database.ts"
import { type EventRow, eventColumns, toStoredEvent } from "./event-rows.ts"
import { type ExecutionRow, finishedRow, readExecution, startedRow } from "./execution-projection.ts"
import { sessionProjections } from "./projections.ts"
import { countRows, isStoredRow, type Report, type TableCheck } from "./table-projection.ts"

/**
 * Computes every projected row again from the events and compares it with the one in the table. Only worth asking
 * once the events themselves are known to be genuine.
 */
export function projectionProblems(connection: Connection): readonly AuditProblem[] {
  const check = new ProjectionCheck(connection)
  const rows = connection.db
    .query<EventRow, [string]>(`SELECT ${eventColumns} FROM events WHERE type <> ? ORDER BY position`)
    // Tombstones are long, and no table is made of them.
    .iterate(HistoryPruned.type)
  for (const row of rows) check.see(toStoredEvent(row))
  check.end()
  return check.problems
}

/** The same for some events, in order: each row that they make. Rows that no event explains are not looked for. */
export function tableProblems(
  connection: Connection,
  events: Iterable<StoredEvent>,
): readonly AuditProblem[] {
  const check = new ProjectionCheck(connection)
  for (const event of events) check.see(event)
  check.compareOpen()
  return check.problems
}

class ProjectionCheck {
  readonly problems: AuditProblem[] = []
  private executionCount = 0
  private referenceCount = 0
  /** Started and not finished so far: all that has to be remembered on the way. */
  private readonly open = new Map<string, { readonly row: ExecutionRow; readonly event: StoredEvent }>()

  private readonly tables: readonly TableCheck[]

  constructor(private readonly connection: Connection) {
    const report: Report = (event, what) => this.report(event, what)
    this.tables = sessionProjections.map(projection => projection.check(connection, report))
  }

  see(event: StoredEvent): void {
    for (const table of this.tables) table.see(event)
    for (const ref of artifactsNamedBy(event)) this.seeReference(event, ref)
    const started = startedFields(event)
    if (started !== null) this.seeStarted(event, started)
    const finished = finishedFields(event)
    if (finished !== null) this.seeFinished(event, finished)
  }

  /** After the last event: commands that still run, and rows that may still change. */
  compareOpen(): void {
    for (const { row, event } of this.open.values()) this.compare(row, event)
    for (const table of this.tables) table.compareOpen()
  }

  /** Also rows that no event explains. */
  end(): void {
    this.compareOpen()
    this.compareCount("executions", this.executionCount)
    this.compareCount("artifact_references", this.referenceCount)
    for (const table of this.tables) table.end()
  }

  private seeStarted(event: StoredEvent, started: StartedFields): void {
    const row = startedRow(event, started)
    this.open.set(row.id, { row, event })
    this.executionCount += 1
  }

  private seeFinished(event: StoredEvent, finished: FinishedFields): void {
    const started = this.open.get(finished.executionId)
    this.open.delete(finished.executionId)
    if (started !== undefined) this.compare(finishedRow(started.row, event, finished), event)
  }

  private seeReference(event: StoredEvent, ref: string): void {
    this.referenceCount += 1
    if (!this.hasReference(ref, event.position))
      this.report(event, `the table of artifacts does not know ${ref}`)
  }

  private compare(expected: ExecutionRow, event: StoredEvent): void {
    if (!isStoredRow(readExecution(this.connection, expected.id), expected))
      this.report(event, "the table of executions does not say what this event says")
  }

  private hasReference(ref: string, position: number): boolean {
    return (
      this.connection.db
        .query("SELECT 1 FROM artifact_references WHERE ref = ? AND position = ?")
        .get(ref, position) !== null
    )
  }

  private compareCount(table: "executions" | "artifact_references", expected: number): void {
    const found = countRows(this.connection, table)
    if (found !== expected)
      this.report(null, `the table ${table} has ${found} rows where its events make ${expected}`)
  }

  private report(event: StoredEvent | null, what: string): void {
    const { stream = null, seq = null, position = null } = event ?? {}
    this.problems.push({ stream, seq, position, what })
  }
}
