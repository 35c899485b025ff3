import { finishedFields } from "./command-events.ts"
import type { StoredEvent } from "./contract.ts"
import type { Connection } from "./database.ts"
import type { Projector } from "./projector.ts"
import { appendConflict } from "./store-failures.ts"

/** The artifacts an event names, each once. Every event type that can name one has its line here. */
export function artifactsNamedBy(event: Pick<StoredEvent, "type" | "data">): readonly string[] {
  const result = finishedFields(event)?.result
  if (result === undefined) return []
  const named = [
    result.stdout.kind === "artifact" ? result.stdout.ref : null,
    result.stderr.kind === "artifact" ? result.stderr.ref : null,
    result.artifacts.stdout,
    result.artifacts.stderr,
    result.truncation?.stdout?.artifact ?? null,
    result.truncation?.stderr?.artifact ?? null,
  ]
  return [...new Set(named.filter(ref => ref !== null))].sort()
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
