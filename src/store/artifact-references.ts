import { ApprovalRequested, ToolCallRequested, ToolCallSettled } from "../domain/call-events.ts"
import { SessionStarted } from "../domain/session-events.ts"
import { finishedFields } from "./command-events.ts"
import type { StoredEvent } from "./contract.ts"
import type { Connection } from "./database.ts"
import { fieldsOf } from "./event-fields.ts"
import type { Projector } from "./projector.ts"
import { appendConflict } from "./store-failures.ts"

/** The artifacts an event names, each once. Every event type that can name one has its line here. */
export function artifactsNamedBy(event: Pick<StoredEvent, "type" | "data">): readonly string[] {
  const result = finishedFields(event)?.result
  const settled = fieldsOf(ToolCallSettled, event)
  const named = [
    refIn(result?.stdout),
    refIn(result?.stderr),
    result?.artifacts.stdout,
    result?.artifacts.stderr,
    result?.truncation?.stdout?.artifact,
    result?.truncation?.stderr?.artifact,
    refIn(fieldsOf(SessionStarted, event)?.plan),
    refIn(fieldsOf(ToolCallRequested, event)?.arguments),
    refIn(settled?.result),
    refIn(settled?.changes),
    refIn(fieldsOf(ApprovalRequested, event)?.preview),
  ]
  return [...new Set(named.filter(ref => typeof ref === "string"))].sort()
}

type Recorded = { readonly kind: "artifact"; readonly ref: string } | { readonly kind: "inline" | "omitted" }

function refIn(recorded: Recorded | null | undefined): string | null {
  return recorded?.kind === "artifact" ? recorded.ref : null
}

/**
 * Projection: which event names which artifact. An append that names one that is not there is refused: its writer
 * found it stored, and a prune took it away before the name was written.
 */
export function artifactReferences(connection: Connection, isStored: (ref: string) => boolean): Projector {
  return {
    apply: event => {
      for (const ref of artifactsNamedBy(event)) {
        if (!isStored(ref)) throw appendConflict(event.stream, `it names ${ref}, which is not stored`)
        connection.db
          .query("INSERT INTO artifact_references (ref, position) VALUES (?, ?)")
          .run(ref, event.position)
      }
    },
  }
}

export function isReferenced(connection: Connection, ref: string): boolean {
  return connection.db.query("SELECT 1 FROM artifact_references WHERE ref = ? LIMIT 1").get(ref) !== null
}
