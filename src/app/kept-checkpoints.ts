import { shownPath } from "../base/path-names.ts"
import { oneLine } from "../base/text.ts"
import type { Checkpoints, KeptFor } from "../workspace/checkpoint/contract.ts"

/**
 * A copy of what undo, recovery or a restore replaced. It may be the only one of what a person wrote, so it goes last:
 * by its age, or when somebody asks for it, and never without its name being told.
 */
export interface KeptCheckpoint {
  readonly id: string
  readonly at: string
  /** What was undone, recovered or restored; null where the copy is damaged. */
  readonly about: KeptFor | null
  readonly paths: readonly string[]
}

/** By its id alone: the copies from before calls have the ids of their calls. */
export function isKeptCheckpoint(checkpointId: string): boolean {
  return checkpointId.startsWith("chk_")
}

export function keptCheckpoint(checkpoints: Checkpoints, id: string): KeptCheckpoint {
  const checkpoint = checkpoints.load(id)
  if (checkpoint === null) return { id, at: "", about: null, paths: [] }
  const { at, entries, directories, kept } = checkpoint
  return { id, at, about: kept?.about ?? null, paths: [...entries.keys(), ...directories.map(toPath)] }
}

/** One line: which paths, from when, and what replaced them. */
export function keptText({ id, at, about, paths }: KeptCheckpoint): string {
  if (about === null) return `${id}, which is damaged`
  const shown = paths.slice(0, shownMax).map(path => oneLine(shownPath(path), 200))
  const more = paths.length > shownMax ? ` and ${paths.length - shownMax} more` : ""
  const session = about.sessionId === null ? "" : ` of session ${about.sessionId}`
  return `${id}: ${shown.join(", ")}${more}, replaced on ${at.slice(0, 10)} by ${words[about.kind]}${session}`
}

const shownMax = 5

const words: Readonly<Record<KeptFor["kind"], string>> = {
  undo: "the undo",
  recovery: "the recovery",
  restore: "a restore",
}

function toPath({ path }: { readonly path: string }): string {
  return `${path}/`
}
