import type { Clock } from "../base/clock.ts"
import { CommandFinished, CommandStarted } from "../domain/command-events.ts"
import { withArtifacts } from "../domain/command-result.ts"
import { newEvent } from "../domain/event-definition.ts"
import type { ProcessIdentity } from "../domain/process-identity.ts"
import { artifactsNamedBy } from "./artifact-references.ts"
import { storedBytes } from "./artifacts.ts"
import type { ExecutionHistory } from "./contract.ts"
import { guarded } from "./database.ts"
import type { LogWriter } from "./event-log.ts"
import { type OutputRules, outcomeOf } from "./execution-outcome.ts"
import {
  type ExecutionReading,
  executionStats,
  hasOtherExecutions,
  listExecutions,
  showExecution,
} from "./execution-queries.ts"
import { assertLeases, dropLease, takeLease } from "./leases.ts"
import { pruneExecutions } from "./prune.ts"
import { abandonedExecutions, interruptedEvent, recoverExecutions } from "./recovery.ts"
import { appendConflict } from "./store-failures.ts"
import { matchingIds } from "./table-projection.ts"

export interface ExecutionParts extends OutputRules, ExecutionReading {
  readonly log: LogWriter
  readonly artifactsDirectory: string
  readonly clock: Clock
  readonly self: ProcessIdentity
  readonly quarantinedOf: (executionId: string) => readonly string[]
}

export function createExecutions(parts: ExecutionParts): ExecutionHistory {
  const { connection, log, artifacts } = parts
  const running = new Map<string, number>()
  const read = connection.snapshot
  const finished: ExecutionHistory["finished"] = data => finish(parts, running, data)
  const outcome: ExecutionHistory["outcome"] = (record, outputs) =>
    newEvent(CommandFinished, outcomeOf(record, outputs, artifacts, parts))
  return {
    started: data => start(parts, running, data),
    finished,
    settled: (record, outputs) => {
      let event = outcome(record, outputs)
      try {
        finished(event.data)
      } catch (error) {
        if (areStored(parts, event)) throw error
        // A prune removed content this outcome found stored already; storing it once more makes it ours.
        event = outcome(record, outputs)
        finished(event.data)
      }
      return withArtifacts(record, event.data.result)
    },
    outcome,
    interrupted: id => read(() => interruptedEvent(parts, log, id)),
    list: filter => read(() => listExecutions(parts, filter)),
    hasOthers: (sessionId, from, to) => read(() => hasOtherExecutions(connection, sessionId, from, to)),
    matching: (typed, of = "execution") =>
      read(() => matchingIds(connection, "executions", typed, of === "execution" ? "id" : `${of}_id`)),
    show: id => read(() => showExecution(parts, id)),
    stats: () => read(() => executionStats(connection, parts.artifactsDirectory)),
    prune: (filter, reason) => pruneExecutions(parts, filter, reason),
    abandoned: isAlive => read(() => abandonedExecutions(parts, isAlive)),
    recover: isAlive => guarded(connection.path, () => recoverExecutions(parts, isAlive)),
  }
}

function start(
  parts: ExecutionParts,
  running: Map<string, number>,
  data: Parameters<ExecutionHistory["started"]>[0],
): void {
  const { connection, log } = parts
  const prepared = log.prepare([{ type: CommandStarted.type, version: CommandStarted.version, data }])
  const lease = connection.transaction("started", () => {
    const taken = takeLease(connection, data.executionId, parts.self)
    log.write(data.executionId, 0, taken.epoch, prepared)
    return taken
  })
  running.set(data.executionId, lease.epoch)
}

function finish(
  parts: ExecutionParts,
  running: Map<string, number>,
  data: Parameters<ExecutionHistory["finished"]>[0],
): void {
  const { connection, log } = parts
  const stream = data.executionId
  const epoch = running.get(stream)
  if (epoch === undefined) throw appendConflict(stream, "it was not started by this process")
  const prepared = log.prepare([{ type: CommandFinished.type, version: CommandFinished.version, data }])
  connection.transaction("finished", () => {
    assertLeases(connection, { stream, epoch })
    log.write(stream, 1, epoch, prepared)
    dropLease(connection, stream)
  })
  running.delete(stream)
}

function areStored(parts: ExecutionParts, event: ReturnType<ExecutionHistory["outcome"]>): boolean {
  return artifactsNamedBy(event).every(ref => storedBytes(parts.artifactsDirectory, ref) !== null)
}
