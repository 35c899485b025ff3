import { ToolCallStarted } from "../domain/call-events.ts"
import { dataOf, type NewEvent } from "../domain/event-definition.ts"
import type { SessionLog } from "../gate/contract.ts"

/** Says, once, before something is done that cannot be put back because no copy of what was there could be kept. */
export function tellingLost(log: SessionLog, notice: (text: string) => void): SessionLog {
  let isTold = false
  return {
    sessionId: log.sessionId,
    whileOwned: work => log.whileOwned(work),
    append: events => {
      const stored = log.append(events)
      if (!isTold && events.some(hasNoPreImage)) {
        isTold = true
        notice(text)
      }
      return stored
    },
  }
}

const text =
  "no copy could be kept of what is about to be changed: `acode session undo` will not put all of it back " +
  "(checkpoints.max_file_mb and checkpoints.max_total_mb say how much is kept)"

function hasNoPreImage(event: NewEvent): boolean {
  const started = dataOf(ToolCallStarted, event)
  return started !== null && started.effectClass !== "read" && started.checkpointId === null
}
