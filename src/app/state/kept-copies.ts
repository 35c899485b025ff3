import { errnoOf } from "../../base/assert.ts"
import { shownPath } from "../../base/path-names.ts"
import { oneLine } from "../../base/text.ts"
import { ToolCallStarted } from "../../domain/events/call-events.ts"
import { dataOf } from "../../domain/events/definition.ts"
import { Failure } from "../../domain/failure.ts"
import type { Store } from "../../store/contract.ts"
import type { Checkpoints, KeepReason } from "../../workspace/checkpoint/contract.ts"

/** Removes the oldest pre-images that no session needs, to make room for another one. */
export function makeRoom(checkpoints: Checkpoints, store: Store, bytesWanted: number): void {
  unlessImpossible(() => {
    const ages = store.upkeep.ages("checkpoint", checkpoints.ids())
    const preImages = oldestFirst(ages, neededBy(store, checkpoints)).filter(id => !isKeptCheckpoint(id))
    checkpoints.collect(preImages, bytesWanted)
  })
}

/** Returns the checkpoints that no unfinished session needs, oldest first. */
export function oldestFirst(
  ages: ReadonlyMap<string, number>,
  needed: ReadonlySet<string>,
): readonly string[] {
  return [...ages]
    .filter(([id]) => !needed.has(id))
    .toSorted(([a, ageA], [b, ageB]) => ageB - ageA || (a < b ? -1 : 1))
    .map(([id]) => id)
}

/**
 * Returns the checkpoints that sessions may still need. An unfinished session may be resumed at any time, which settles
 * its last call and shows its changes. A session whose history was changed may need any checkpoint: then all stay.
 */
export function neededBy(store: Store, checkpoints: Pick<Checkpoints, "ids">): ReadonlySet<string> {
  const unfinished = store.sessions.list({}).filter(({ endedAt }) => endedAt === null)
  const needed = unfinished.map(({ id }) => store.noteChanged(() => [...checkpointsOf(store.log, id)]))
  return new Set(needed.includes(null) ? checkpoints.ids() : needed.flatMap(ids => ids ?? []))
}

/** Returns the ids of the checkpoints that were taken before the calls of a session. */
export function* checkpointsOf(log: Store["log"], sessionId: string): Generator<string> {
  for (const event of log.each(sessionId)) {
    const checkpointId = dataOf(ToolCallStarted, event)?.checkpointId
    if (checkpointId != null) yield checkpointId
  }
}

/** Runs clean-up work and ignores its failures: damage is reported when a person restores what is damaged. */
export function unlessImpossible(work: () => void): void {
  try {
    work()
  } catch (error) {
    if (!(error instanceof Failure) && errnoOf(error) === null) throw error
  }
}

/**
 * A copy of what undo, recovery or a restore replaced. It may be the only copy of a person's work, so it is removed
 * last: by age or on request, and never without its name being printed.
 */
export interface KeptCheckpoint {
  readonly id: string
  readonly at: string
  /** The session or checkpoint that was undone, recovered or restored; null when the copy is damaged. */
  readonly about: KeepReason | null
  readonly paths: readonly string[]
}

/** Returns whether an id is that of a kept copy: checkpoints from before calls have the ids of their calls. */
export function isKeptCheckpoint(checkpointId: string): boolean {
  return checkpointId.startsWith("chk_")
}

export function keptCheckpoint(checkpoints: Checkpoints, id: string): KeptCheckpoint {
  const checkpoint = checkpoints.load(id)
  if (checkpoint === null) return { id, at: "", about: null, paths: [] }
  const { at, entries, directories, kept } = checkpoint
  return { id, at, about: kept?.about ?? null, paths: [...entries.keys(), ...directories.map(toPath)] }
}

/** Returns one line that names the paths, the time, and what replaced them. */
export function keptText({ id, at, about, paths }: KeptCheckpoint): string {
  if (about === null) return `${id}, which is damaged`
  const shown = paths.slice(0, shownMax).map(path => oneLine(shownPath(path), 200))
  const more = paths.length > shownMax ? ` and ${paths.length - shownMax} more` : ""
  const session = about.sessionId === null ? "" : ` of session ${about.sessionId}`
  return `${id}: ${shown.join(", ")}${more}, replaced on ${at.slice(0, 10)} by ${words[about.kind]}${session}`
}

const shownMax = 5

const words: Readonly<Record<KeepReason["kind"], string>> = {
  undo: "the undo",
  recovery: "the recovery",
  restore: "a restore",
}

function toPath({ path }: { readonly path: string }): string {
  return `${path}/`
}
