import { errnoOf } from "../../base/assert.ts"
import { shownPath } from "../../base/path-names.ts"
import { oneLine } from "../../base/text.ts"
import { ToolCallStarted } from "../../domain/events/call-events.ts"
import { dataOf } from "../../domain/events/definition.ts"
import { Failure } from "../../domain/failure.ts"
import type { Store } from "../../store/contract.ts"
import type { Checkpoints, KeepReason } from "../../workspace/checkpoint/contract.ts"

/** Removes the oldest pre-images that nobody needs, for want of room for another one. */
export function makeRoom(checkpoints: Checkpoints, store: Store, bytesWanted: number): void {
  unlessImpossible(() => {
    const ages = store.upkeep.ages("checkpoint", checkpoints.ids())
    const preImages = oldestFirst(ages, neededBy(store, checkpoints)).filter(id => !isKeptCheckpoint(id))
    checkpoints.collect(preImages, bytesWanted)
  })
}

/** Those that can be removed without taking anything from a session that goes on, oldest first. */
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
 * A session that has not ended may be resumed at any time: then its last call is settled and its changes are shown.
 * Of a session whose history was changed nobody knows which copies it needs: then all stay.
 */
export function neededBy(store: Store, checkpoints: Pick<Checkpoints, "ids">): ReadonlySet<string> {
  const unfinished = store.sessions.list({}).filter(({ endedAt }) => endedAt === null)
  const needed = unfinished.map(({ id }) => store.noteChanged(() => [...checkpointsOf(store.log, id)]))
  return new Set(needed.includes(null) ? checkpoints.ids() : needed.flatMap(ids => ids ?? []))
}

/** What was kept before the calls of a session. */
export function* checkpointsOf(log: Store["log"], sessionId: string): Generator<string> {
  for (const event of log.each(sessionId)) {
    const checkpointId = dataOf(ToolCallStarted, event)?.checkpointId
    if (checkpointId != null) yield checkpointId
  }
}

/** Keeping too much is no reason not to work; what is damaged is told when somebody wants it back. */
export function unlessImpossible(work: () => void): void {
  try {
    work()
  } catch (error) {
    if (!(error instanceof Failure) && errnoOf(error) === null) throw error
  }
}

/**
 * A copy of what undo, recovery or a restore replaced. It may be the only one of what a person wrote, so it goes last:
 * by its age, or when somebody asks for it, and never without its name being told.
 */
export interface KeptCheckpoint {
  readonly id: string
  readonly at: string
  /** What was undone, recovered or restored; null where the copy is damaged. */
  readonly about: KeepReason | null
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

const words: Readonly<Record<KeepReason["kind"], string>> = {
  undo: "the undo",
  recovery: "the recovery",
  restore: "a restore",
}

function toPath({ path }: { readonly path: string }): string {
  return `${path}/`
}
