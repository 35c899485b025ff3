import { closeSync, constants, openSync } from "node:fs"
import type { TreeEntry } from "../contract.ts"
import { fileFailure, onPath } from "../failures.ts"
import { hashChunks, passingChunksOf, writeAll } from "../files/durable.ts"
import type { Checkpoint } from "./contract.ts"
import type { Goal } from "./displacing.ts"
import { contentOf } from "./manifest.ts"
import { isSamePresentEntry, type PresentEntry, presentEntryOf } from "./present-entry.ts"
import type { CheckpointStore } from "./store.ts"

/** Returns the entry that a checkpoint has for a path. */
export function goalOf(
  { contents, displaced }: CheckpointStore,
  root: string,
  checkpoint: Checkpoint,
  path: string,
): Goal {
  const entry = checkpoint.entries.get(path)
  const moved = checkpoint.kept === undefined ? null : displaced.find(checkpoint.id, path, root)
  if (moved !== null) {
    // The file may have been written to after it was displaced: then this is its newest version.
    const found = presentEntryOf(moved, path, 0)
    if (found.kind === "entry" && contentOf(found.entry) !== null)
      return { kind: "entry", entry: found.entry, writeTo: fd => copyFile(moved, found.entry, fd) }
  }
  if (entry === undefined) return { kind: "nothing" }
  const writeTo = (fd: number) => {
    if (entry.kind !== "file") return
    const why = checkpoint.uncovered.get(path) ?? "no copy of it was kept"
    if (entry.sha256 === null) throw fileFailure("missing", path, `cannot be restored: ${why}`)
    contents.copyTo(entry.sha256, fd)
  }
  return { kind: "entry", entry, writeTo }
}

function copyFile(from: string | Buffer, entry: TreeEntry, target: number): void {
  onPath(entry.path, () => {
    const source = openSync(from, constants.O_RDONLY | constants.O_NOFOLLOW)
    try {
      const { sha256 } = hashChunks(passingChunksOf(source), chunk => writeAll(target, chunk))
      if (entry.kind === "file" && entry.sha256 !== null && sha256 !== entry.sha256)
        throw fileFailure("changed", entry.path, "is still being written")
    } finally {
      closeSync(source)
    }
  })
}

/** Reports whether a path already holds the goal. */
export function isWanted(goal: Goal, now: PresentEntry): boolean {
  return isSamePresentEntry(goal, now)
}

/** Returns the content that a path has afterwards, as a recorded change spells it. */
export function goalContent(goal: Goal): string | null {
  if (goal.kind === "nothing") return null
  return contentOf(goal.entry)
}
