import { lstatSync } from "node:fs"
import { Failure } from "../../domain/failure.ts"
import { isCollectable, type Unnamed } from "../artifact-collection.ts"
import { artifactPath } from "../artifacts.ts"
import type { Connection } from "../database.ts"
import { orphansBeforeMs, type PruneParts, removeStreams } from "../prune.ts"
import { pagesOf, worthIt } from "./shrink.ts"

/**
 * At least how much smaller the database and the artifacts become on the disk when streams are removed and the database
 * is written anew. It is tried, and taken back; a history that can only be read says 0.
 */
export function forecastPrune(parts: PruneParts, streams: readonly string[]): number {
  const { connection } = parts
  if (connection.readOnly || streams.length === 0) return 0
  let bytes = 0
  try {
    connection.transaction("forecast", () => {
      const { unnamed } = removeStreams(parts, streams, "forecast")
      bytes = databaseBytes(connection) + artifactBytes(parts, unnamed)
      throw new TakenBack()
    })
  } catch (error) {
    // Without room to try it, nothing is sure.
    if (error instanceof Failure && error.report.code === "ACODE-DB-004") return 0
    if (!(error instanceof TakenBack)) throw error
  }
  return bytes
}

class TakenBack extends Error {}

/** The free pages go. A few others may be needed: rows are laid out anew, and the removal itself is recorded. */
function databaseBytes({ db }: Connection): number {
  if (!worthIt(db)) return 0
  const { free, all, size } = pagesOf(db)
  return Math.max(0, free - sparePages - Math.ceil(all / 50)) * size
}

const sparePages = 4

function artifactBytes(
  { connection, artifactsDirectory, clock }: PruneParts,
  unnamed: readonly Unnamed[],
): number {
  const olderThanMs = orphansBeforeMs(clock)
  return unnamed
    .filter(each => isCollectable(connection, artifactsDirectory, each, olderThanMs))
    .map(
      ({ ref }) => lstatSync(artifactPath(artifactsDirectory, ref), { throwIfNoEntry: false })?.blocks ?? 0,
    )
    .reduce((sum, blocks) => sum + blocks * blockBytes, 0)
}

const blockBytes = 512
