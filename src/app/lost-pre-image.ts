import { shownPath } from "../base/path-names.ts"
import { counted } from "../base/text.ts"
import { ToolCallSettled } from "../domain/call-events.ts"
import { dataOf, type NewEvent } from "../domain/event-definition.ts"
import type { UncoveredChanges } from "../domain/tool-call.ts"
import type { SessionLog } from "../gate/contract.ts"

/** Says it when a call changed, or may have changed, what cannot be put back; once for each path and reason. */
export function tellingLost(log: SessionLog, notice: (text: string) => void): SessionLog {
  const told = new Set<string>()
  return {
    sessionId: log.sessionId,
    whileOwned: work => log.whileOwned(work),
    append: events => {
      const stored = log.append(events)
      const lines = events.flatMap(uncoveredIn).flatMap(linesOf)
      for (const line of lines.filter(each => !told.has(each))) {
        told.add(line)
        notice(line)
      }
      return stored
    },
  }
}

function uncoveredIn(event: NewEvent): readonly UncoveredChanges[] {
  const uncovered = dataOf(ToolCallSettled, event)?.uncovered
  return uncovered === undefined ? [] : [uncovered]
}

/** Few lines: the events and `session show` name all of them. */
function linesOf({ paths, count, unwatched }: UncoveredChanges): readonly string[] {
  const shown = paths.slice(0, pathsShown)
  const more = count - shown.length
  return [
    ...shown.map(
      ({ path, reason }) => `\`acode session undo\` cannot put back ${shownPath(path)}: ${reason}`,
    ),
    ...(more > 0 ? [`\`acode session undo\` cannot put back ${counted(more, "more file")}`] : []),
    ...unwatched.map(
      path => `whether ${shownPath(path)} was changed is not known: it holds too much to be watched`,
    ),
  ]
}

const pathsShown = 3
