import { storedBytes } from "../artifacts.ts"
import type { Connection } from "../database.ts"
import type { RecordUse } from "./contract.ts"

/** What each session and each finished execution outside of one takes. */
export function recordUses(connection: Connection, artifactsDirectory: string): readonly RecordUse[] {
  const artifacts = artifactBytes(connection, artifactsDirectory)
  return connection.db
    .query<Omit<RecordUse, "kind"> & { readonly isSession: number }, []>(
      `SELECT stream AS id, max(position) AS position, sum(length(data) + ${rowBytes}) AS bytes,
         stream IN (SELECT id FROM sessions) AS isSession
       FROM events
       WHERE stream IN (SELECT id FROM sessions UNION
         SELECT id FROM executions WHERE stream = id AND finished_position IS NOT NULL)
       GROUP BY stream ORDER BY position`,
    )
    .all()
    .map(({ id, position, bytes, isSession }) => ({
      kind: isSession === 1 ? "session" : "execution",
      id,
      position,
      bytes: bytes + (artifacts.get(id) ?? 0),
    }))
}

/** An event has two hashes and a few short columns beside its data, and stands in two indexes. */
const rowBytes = 400

function artifactBytes(connection: Connection, directory: string): ReadonlyMap<string, number> {
  const bytes = new Map<string, number>()
  const rows = connection.db
    .query<{ stream: string; ref: string }, []>(
      "SELECT DISTINCT stream, ref FROM artifact_references JOIN events USING (position)",
    )
    .iterate()
  for (const { stream, ref } of rows)
    bytes.set(stream, (bytes.get(stream) ?? 0) + (storedBytes(directory, ref) ?? 0))
  return bytes
}
