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

/** An artifact whose names were removed. */
export interface Unnamed {
  readonly ref: string
  /** When the last of them was written. */
  readonly namedAtMs: number
}

/**
 * Removes artifacts nothing names: the candidates now, and what crashes left behind once it is older than the grace.
 * A candidate that was put again after its last name was written is what somebody is about to name: it waits as long
 * as the rest. Holds the write lock, because an append in another process checks its artifacts under the same lock.
 */
export function collectArtifacts(
  connection: DatabaseConnection,
  directory: string,
  candidates: readonly Unnamed[],
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

export function isCollectable(
  connection: DatabaseConnection,
  directory: string,
  { ref, namedAtMs }: Unnamed,
  olderThanMs: number,
): boolean {
  const stat = lstatSync(artifactPath(directory, ref), { throwIfNoEntry: false })
  // Rounded: the time of a file is kept in seconds with a fraction, which is a hair off.
  const changedMs = Math.round(stat?.mtimeMs ?? 0)
  if (changedMs > namedAtMs && changedMs >= olderThanMs) return false
  return !isReferenced(connection, ref)
}

/** Removes files whose writer died before they had their names. */
export function sweepArtifacts(directory: string, liveness: (owner: ProcessIdentity) => Liveness): void {
  for (const { path, ref } of artifactFiles(directory)) {
    const writer = ref === null ? asideWriter(basename(path)) : null
    if (writer !== null && liveness(writer) === "dead") rmSync(path, { force: true })
  }
}

interface ArtifactFile {
  readonly path: string
  /** Null for a file whose writing never ended. */
  readonly ref: string | null
  readonly bytes: number
  readonly changedMs: number
}

function* artifactFiles(directory: string): Generator<ArtifactFile> {
  for (const shelf of namesIn(directory)) {
    if (!/^[0-9a-f]{2}$/.test(shelf)) continue
    for (const name of namesIn(join(directory, shelf))) {
      const isArtifact = /^[0-9a-f]{62}$/.test(name)
      if (!isArtifact && !name.startsWith(asidePrefix)) continue
      const path = join(directory, shelf, name)
      const stats = lstatSync(path, { throwIfNoEntry: false })
      if (!stats?.isFile()) continue
      const ref = isArtifact ? `sha256:${shelf}${name}` : null
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
