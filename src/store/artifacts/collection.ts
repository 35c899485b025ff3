import { lstatSync, readdirSync, rmSync } from "node:fs"
import { basename, join } from "node:path"
import { errnoOf } from "../../base/assert.ts"
import type { ProcessIdentity } from "../../domain/process-identity.ts"
import type { DatabaseConnection } from "../database/database.ts"
import type { Liveness } from "../process-identity.ts"
import { artifactPath, asidePrefix, asideWriter } from "./artifacts.ts"
import { isReferenced } from "./references.ts"

export interface ArtifactTotals {
  readonly artifactCount: number
  readonly artifactBytes: number
}

export function artifactTotals(directory: string): ArtifactTotals {
  let artifactCount = 0
  let artifactBytes = 0
  for (const file of artifactFiles(directory)) {
    if (file.ref === null) continue
    artifactCount += 1
    artifactBytes += file.bytes
  }
  return { artifactCount, artifactBytes }
}

/** An artifact that lost a reference when events were pruned. */
export interface UnreferencedArtifact {
  readonly ref: string
  /** The time of the last event that referred to it. */
  readonly referencedAtMs: number
}

/**
 * Removes artifacts that no event refers to: the candidates now, and the remains of crashes once they are older than
 * the grace period. A candidate that was stored again after its last reference was written may be about to get a new
 * one: it waits as long as the remains. Holds the write lock, because an append in another process checks its artifacts
 * under the same lock.
 */
export function collectArtifacts(
  connection: DatabaseConnection,
  directory: string,
  candidates: readonly UnreferencedArtifact[],
  olderThanMs: number,
): void {
  connection.transaction("collection", () => {
    for (const candidate of candidates)
      if (isCollectable(connection, directory, candidate, olderThanMs))
        rmSync(artifactPath(directory, candidate.ref), { force: true })
    for (const file of artifactFiles(directory)) {
      if (file.changedMs >= olderThanMs) continue
      if (file.ref === null || !isReferenced(connection, file.ref)) rmSync(file.path, { force: true })
    }
  })
}

/** Returns whether a candidate can be removed now. */
export function isCollectable(
  connection: DatabaseConnection,
  directory: string,
  { ref, referencedAtMs }: UnreferencedArtifact,
  olderThanMs: number,
): boolean {
  const stat = lstatSync(artifactPath(directory, ref), { throwIfNoEntry: false })
  // Rounded: a file system may store a time with a small rounding error.
  const changedMs = Math.round(stat?.mtimeMs ?? 0)
  if (changedMs > referencedAtMs && changedMs >= olderThanMs) return false
  return !isReferenced(connection, ref)
}

/** Removes unfinished files of dead writers. */
export function sweepArtifacts(directory: string, liveness: (owner: ProcessIdentity) => Liveness): void {
  for (const { path, ref } of artifactFiles(directory)) {
    const writer = ref === null ? asideWriter(basename(path)) : null
    if (writer !== null && liveness(writer) === "dead") rmSync(path, { force: true })
  }
}

interface ArtifactFile {
  readonly path: string
  /** Null for a file that was not finished. */
  readonly ref: string | null
  readonly bytes: number
  readonly changedMs: number
}

function* artifactFiles(directory: string): Generator<ArtifactFile> {
  for (const folder of namesIn(directory)) {
    if (!/^[0-9a-f]{2}$/.test(folder)) continue
    for (const name of namesIn(join(directory, folder))) {
      const isArtifact = /^[0-9a-f]{62}$/.test(name)
      if (!isArtifact && !name.startsWith(asidePrefix)) continue
      const path = join(directory, folder, name)
      const stats = lstatSync(path, { throwIfNoEntry: false })
      if (!stats?.isFile()) continue
      const ref = isArtifact ? `sha256:${folder}${name}` : null
      yield { path, ref, bytes: stats.size, changedMs: stats.mtimeMs }
    }
  }
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
  } catch (error) {
    if (errnoOf(error) === "ENOENT" || errnoOf(error) === "ENOTDIR") return []
    throw error
  }
}
