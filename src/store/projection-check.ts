import { CommandFinished, CommandStarted } from "../domain/events.ts"
import { artifactsNamedBy } from "./artifact-references.ts"
import { type FinishedFields, finishedFields, type StartedFields, startedFields } from "./command-events.ts"
import type { AuditProblem, StoredEvent } from "./contract.ts"
import type { Connection } from "./database.ts"
import { type EventRow, eventColumns, toStoredEvent } from "./event-rows.ts"
import { type ExecutionRow, finishedRow, readExecution, startedRow } from "./execution-projection.ts"

/**
 * Computes every projected row again from the events and compares it with the one in the table. Only worth asking
 * once the events themselves are known to be genuine.
 */
export function projectionProblems(connection: Connection): readonly AuditProblem[] {
  const check = new ProjectionCheck(connection)
  const rows = connection.db
    .query<EventRow, string[]>(`SELECT ${eventColumns} FROM events WHERE type IN (?, ?) ORDER BY position`)
    .iterate(CommandStarted.type, CommandFinished.type)
  for (const row of rows) check.see(toStoredEvent(row))
  check.end()
  return check.problems
}

class ProjectionCheck {
  readonly problems: AuditProblem[] = []
  private executionCount = 0
  private referenceCount = 0
  /** Started and not finished so far: all that has to be remembered on the way. */
  private readonly open = new Map<string, { readonly row: ExecutionRow; readonly event: StoredEvent }>()

  constructor(private readonly connection: Connection) {}

  see(event: StoredEvent): void {
    const started = startedFields(event)
    if (started !== null) this.seeStarted(event, started)
    const finished = finishedFields(event)
    if (finished !== null) this.seeFinished(event, finished)
  }

  /** After the last event: commands that still run, and rows that no event explains. */
  end(): void {
    for (const { row, event } of this.open.values()) this.compare(row, event)
    this.compareCount("executions", this.executionCount)
    this.compareCount("artifact_references", this.referenceCount)
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
    for (const ref of artifactsNamedBy(event)) {
      this.referenceCount += 1
      if (!this.hasReference(ref, event.position))
        this.report(event, `the table of artifacts does not know ${ref}`)
    }
  }

  private compare(expected: ExecutionRow, event: StoredEvent): void {
    if (!Bun.deepEquals(readExecution(this.connection, expected.id), expected))
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
    const found = this.connection.db
      .query<{ count: number }, []>(`SELECT count(*) AS count FROM ${table}`)
      .get()?.count
    if (found === expected) return
    const what = `the table ${table} has ${found} rows where its events make ${expected}`
    this.problems.push({ stream: null, seq: null, position: null, what })
  }

  private report(event: StoredEvent, what: string): void {
    this.problems.push({ stream: event.stream, seq: event.seq, position: event.position, what })
  }
}
