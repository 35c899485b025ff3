import { assert } from "../base/assert.ts"
import { withArtifacts } from "../domain/command-result.ts"
import { CommandStarted } from "../domain/events/command-events.ts"
import { type NewEvent, newEvent } from "../domain/events/definition.ts"
import type { ProcessIdentity } from "../domain/process-identity.ts"
import type { Recorder } from "../exec/contract.ts"
import type { ExecutionHistory } from "../store/contract.ts"
import type { CommandEvents, SessionLog } from "./contract.ts"

/**
 * Writes the commands of a session: the start of a command is part of the commit of its call's intent, its end waits
 * for the commit of the outcome. A command takes two commits, and at no moment is only one half recorded.
 */
export function createSessionRecorder(
  log: SessionLog,
  executions: Pick<ExecutionHistory, "outcome" | "interrupted">,
  owner: ProcessIdentity,
): Recorder & CommandEvents {
  const announced = new Map<string, readonly NewEvent[]>()
  const started = new Map<string, string>()
  const outcomes = new Map<string, NewEvent>()
  return {
    announce: (callId, events) => void announced.set(callId, events),
    hasStarted: callId => started.has(callId),
    takeOutcome: callId => {
      const executionId = started.get(callId)
      const outcome = outcomes.get(callId) ?? null
      for (const kept of [announced, started, outcomes]) kept.delete(callId)
      if (outcome !== null || executionId === undefined) return outcome
      // The command ran and its end could not be stored: without an end it would count as running forever.
      return executions.interrupted(executionId)
    },
    started: ({ id, ...command }) => {
      const callId = command.correlationIds.toolCallId ?? ""
      const intent = announced.get(callId)
      assert(intent !== undefined, "a command in a session belongs to a call that was announced")
      log.append([...intent, newEvent(CommandStarted, { ...command, executionId: id, owner })])
      started.set(callId, id)
    },
    finished: (record, outputs) => {
      const outcome = executions.outcome(record, outputs)
      outcomes.set(record.correlationIds.toolCallId ?? "", outcome)
      return withArtifacts(record, outcome.data.result)
    },
  }
}
