import type { NewEvent } from "../domain/events/definition.ts"
import { applyEvent, fold } from "../domain/pipeline/fold.ts"
import type { Contents } from "../domain/pipeline/recorded-event.ts"
import type { PipelineState } from "../domain/pipeline/state.ts"
import type { SessionLog } from "../gate/contract.ts"
import type { DrivenSession } from "../gate/session-log.ts"
import type { EventLog, StoredEvent } from "../store/contract.ts"

/**
 * A session while it is driven: its log, and the state that its events make. Whoever appends moves the state along, so
 * nothing can be in the state that is not in the log.
 */
export interface LiveSession extends SessionLog {
  readonly state: PipelineState
  /** All events so far, oldest first. Read one by one each time: a long session is not held in memory as well. */
  readonly events: Iterable<StoredEvent>
  /** What happened last. */
  readonly lastType: string | null
}

export function openLiveSession(
  driven: DrivenSession,
  log: Pick<EventLog, "each">,
  contents: Contents,
  onEvent: (event: StoredEvent) => void,
  /** What the log says already, for who has looked since the session is theirs. */
  known: PipelineState | null = fold(log.each(driven.sessionId), contents),
): LiveSession {
  let state = known
  let lastType: string | null = null
  return {
    sessionId: driven.sessionId,
    get state() {
      if (state === null) throw new Error("a live session has started")
      return state
    },
    get events() {
      return log.each(driven.sessionId)
    },
    get lastType() {
      return lastType
    },
    whileOwned: work => driven.whileOwned(work),
    append: (added: readonly NewEvent[]) => {
      const stored = driven.append(added)
      for (const event of stored) {
        lastType = event.type
        state = applyEvent(state, event, contents)
        onEvent(event)
      }
      return stored
    },
  }
}
