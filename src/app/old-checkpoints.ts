import { errnoOf } from "../base/assert.ts"
import { ToolCallStarted } from "../domain/call-events.ts"
import { dataOf } from "../domain/event-definition.ts"
import { Failure } from "../domain/failure.ts"
import type { Store } from "../store/contract.ts"
import type { Checkpoints } from "../workspace/checkpoint/contract.ts"
import { toCheckpointSettings } from "./config-settings.ts"
import type { Wiring } from "./wire.ts"

/** Removes the copies of what can no longer be undone. Whoever calls holds the workspace. */
export async function collectOld(wiring: Wiring): Promise<void> {
  const store = await wiring.store()
  const { checkpoints } = await wiring.workspace()
  const { undoMs } = toCheckpointSettings((await wiring.config()).values)
  try {
    collect(checkpoints, store, wiring.clock.now() - undoMs)
  } catch (error) {
    // A damaged one is told when somebody wants it back; keeping too much is no reason not to work.
    if (!(error instanceof Failure) && errnoOf(error) === null) throw error
  }
}

function collect(checkpoints: Checkpoints, store: Store, olderThanMs: number): void {
  // Most of the time nothing is old, and then nobody has to read what others have recorded.
  if (hasOld(checkpoints, olderThanMs)) checkpoints.collect(olderThanMs, neededBy(store))
}

function hasOld(checkpoints: Checkpoints, olderThanMs: number): boolean {
  try {
    return checkpoints.list().some(({ at }) => Date.parse(at) < olderThanMs)
  } catch (error) {
    // One that is damaged may be old, and must not keep the others for ever.
    if (error instanceof Failure) return true
    throw error
  }
}

/** A session that has not ended may be resumed at any time: then its last call is settled and its changes are shown. */
function neededBy({ sessions, log }: Store): ReadonlySet<string> {
  const unfinished = sessions.list({}).filter(({ endedAt }) => endedAt === null)
  const needed = new Set<string>()
  for (const { id } of unfinished)
    for (const event of log.each(id)) {
      const started = dataOf(ToolCallStarted, event)
      if (started?.checkpointId != null) needed.add(started.checkpointId)
    }
  return needed
}
