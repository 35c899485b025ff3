import type { NewEvent } from "../domain/events/definition.ts"
import { applyEvent, fold } from "../domain/pipeline/fold.ts"
import type { Contents } from "../domain/pipeline/recorded-event.ts"
import type { PipelineState } from "../domain/pipeline/state.ts"
import type { SessionLog } from "../gate/contract.ts"
import type { DrivenSession } from "../gate/session-log.ts"
import type { EventLog, StoredEvent } from "../store/contract.ts"

/**
 * A running session: its log, and the state of its events. Appending also updates the state, so the state contains
 * only what the log has.
 */
export interface LiveSession extends SessionLog {
  readonly state: PipelineState
  /** All events so far, oldest first. Read one by one each time: a long session is not also held in memory. */
  readonly events: Iterable<StoredEvent>
  /** The type of the last event. */
  readonly lastType: string | null
}

export function openLiveSession(
  driven: DrivenSession,
  log: Pick<EventLog, "each">,
  contents: Contents,
  onEvent: (event: StoredEvent) => void,
  /** The recorded state, for a caller that has folded the log since it took the session over. */
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
