import { errnoOf } from "../base/assert.ts"
import { ToolCallStarted } from "../domain/call-events.ts"
import { dataOf } from "../domain/event-definition.ts"
import { Failure } from "../domain/failure.ts"
import type { Store } from "../store/contract.ts"
import type { Checkpoints } from "../workspace/checkpoint/contract.ts"
import { isKeptCheckpoint } from "./kept-checkpoints.ts"

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
