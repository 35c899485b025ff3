import { readSync } from "node:fs"
import type { AuditProblem } from "../contract.ts"
import type { DatabaseConnection } from "../database/database.ts"
import { withArtifact } from "./artifacts.ts"
import { isReferenced } from "./references.ts"

/**
 * Every artifact that an event of these streams names, of all when it is null, must be there and hash to its name.
 * Outside the snapshot: it may take long.
 */
export function artifactProblems(
  connection: DatabaseConnection,
  directory: string,
  streams: readonly string[] | null,
): readonly AuditProblem[] {
  return namedArtifacts(connection, streams).flatMap(({ ref, stream, seq, position }) => {
    const what = wrongWith(directory, ref)
    // Pruned while this was looking: nothing names it any more.
    if (what === null || !isReferenced(connection, ref)) return []
    return [{ stream, seq, position, what }]
  })
}

interface NamedArtifact {
  readonly ref: string
  readonly stream: string
  readonly seq: number
  readonly position: number
}

/** With the first event that names it: others may name the same one. */
function namedArtifacts(
  connection: DatabaseConnection,
  streams: readonly string[] | null,
): readonly NamedArtifact[] {
  const ofThese =
    streams === null ? "" : "JOIN events USING (position) WHERE stream IN (SELECT value FROM json_each(?))"
  return connection.db
    .query<NamedArtifact, string[]>(
      `SELECT ref, stream, seq, position
       FROM (SELECT ref, min(position) AS position FROM artifact_references ${ofThese} GROUP BY ref)
       JOIN events USING (position) ORDER BY position`,
    )
    .all(...(streams === null ? [] : [JSON.stringify(streams)]))
}

function wrongWith(directory: string, ref: string): string | null {
  const hash = withArtifact(directory, ref, hashOfFile)
  if (hash === null) return `the artifact ${ref} it names is missing`
  return `sha256:${hash}` === ref ? null : `the artifact ${ref} it names was changed`
}

/** In pieces, because artifacts may be as large as the configuration allows. */
function hashOfFile(fd: number): string {
  const hasher = new Bun.CryptoHasher("sha256")
  const piece = new Uint8Array(1024 * 1024)
  for (let read = readSync(fd, piece); read > 0; read = readSync(fd, piece))
    hasher.update(piece.subarray(0, read))
  return hasher.digest("hex")
}
