import { readSync } from "node:fs"
import type { AuditProblem } from "../contract.ts"
import type { DatabaseConnection } from "../database/database.ts"
import { withArtifact } from "./artifacts.ts"
import { isReferenced } from "./references.ts"

/**
 * Checks that every artifact that events of these streams refer to exists and hashes to its name; all streams if
 * `streams` is null. Runs outside the snapshot, because it may take long.
 */
export function artifactProblems(
  connection: DatabaseConnection,
  directory: string,
  streams: readonly string[] | null,
): readonly AuditProblem[] {
  return referencedArtifacts(connection, streams).flatMap(({ ref, stream, seq, position }) => {
    const what = artifactProblem(directory, ref)
    // A prune removed it meanwhile: no event refers to it any more.
    if (what === null || !isReferenced(connection, ref)) return []
    return [{ stream, seq, position, what }]
  })
}

interface ReferencedArtifact {
  readonly ref: string
  readonly stream: string
  readonly seq: number
  readonly position: number
}

/** Returns each artifact with the first event that refers to it. */
function referencedArtifacts(
  connection: DatabaseConnection,
  streams: readonly string[] | null,
): readonly ReferencedArtifact[] {
  const ofThese =
    streams === null ? "" : "JOIN events USING (position) WHERE stream IN (SELECT value FROM json_each(?))"
  return connection.db
    .query<ReferencedArtifact, string[]>(
      `SELECT ref, stream, seq, position
       FROM (SELECT ref, min(position) AS position FROM artifact_references ${ofThese} GROUP BY ref)
       JOIN events USING (position) ORDER BY position`,
    )
    .all(...(streams === null ? [] : [JSON.stringify(streams)]))
}

function artifactProblem(directory: string, ref: string): string | null {
  const hash = withArtifact(directory, ref, hashOfFile)
  if (hash === null) return `its artifact ${ref} is missing`
  return `sha256:${hash}` === ref ? null : `its artifact ${ref} was changed`
}

/** Hashes in pieces, because artifacts may be as large as the configuration allows. */
function hashOfFile(fd: number): string {
  const hasher = new Bun.CryptoHasher("sha256")
  const piece = new Uint8Array(1024 * 1024)
  for (let read = readSync(fd, piece); read > 0; read = readSync(fd, piece))
    hasher.update(piece.subarray(0, read))
  return hasher.digest("hex")
}
