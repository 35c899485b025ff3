import { dataOf, type NewEvent, newEvent } from "../domain/events/definition.ts"
import { SessionFinished, StepFinished, StepStarted } from "../domain/events/session-events.ts"
import { exitCodes } from "../domain/exit-codes.ts"
import type { SessionLog } from "../gate/contract.ts"
import { openCalls, type Recovered, type RecoveryParts, settleInterrupted } from "../gate/recovery.ts"
import type { StoredEvent } from "../store/contract.ts"

/** Returns the executions of a dead process that must be ended before their changes are inspected. */
export function openCommands(events: readonly StoredEvent[]): readonly string[] {
  return openCalls(events).flatMap(({ executionId, isCommandEnded }) =>
    executionId === null || isCommandEnded ? [] : [executionId],
  )
}

/**
 * Closes a plan run whose process died: its open call is inspected and recorded, and nothing is done again. All of it
 * is one commit, so that a second crash finds either the open session or the closed one.
 */
export async function endInterruptedPlan(
  parts: RecoveryParts & { readonly log: SessionLog },
  events: readonly StoredEvent[],
): Promise<void> {
  const recovered: Recovered[] = []
  for (const call of openCalls(events)) recovered.push(await settleInterrupted(parts, call))
  const steps = openSteps(events).map(step => stepEnd(step, recovered))
  // Files that changed while a command ran may be a person's work; none of them was touched.
  const isUndecided = recovered.some(
    ({ settled, unattributed }) => settled.certainty === "unknown" || unattributed.length > 0,
  )
  const [told] = recovered.flatMap(({ settled }) => settled.error?.message ?? [])
  const { digest } = await parts.workspace.tree()
  parts.log.append([
    ...recovered.flatMap(call => call.events),
    ...steps,
    newEvent(SessionFinished, {
      state: "FAILED",
      reason: told ?? "acode ended between two steps: every step that began is finished",
      exitCode: exitCodes[isUndecided ? "undecided" : "stepFailed"].code,
      code: "ACODE-EXE-013",
      unverified: true,
      treeDigest: digest,
      wallMs: Math.max(0, spanMs(events)),
      toolMs: 0,
      waitMs: 0,
    }),
  ])
}

type Started = NewEvent<typeof StepStarted>["data"]

function openSteps(events: readonly StoredEvent[]): readonly Started[] {
  const open = new Map<number, Started>()
  for (const event of events) {
    const started = dataOf(StepStarted, event)
    if (started !== null) open.set(started.index, started)
    const finished = dataOf(StepFinished, event)
    if (finished !== null) open.delete(finished.index)
  }
  return [...open.values()]
}

/** Returns the end of an open step. Calls are made one after the other, so an open step has at most one open call. */
function stepEnd({ taskId, stepId, index }: Started, [recovered]: readonly Recovered[]): NewEvent {
  const settled = recovered?.settled ?? null
  return newEvent(StepFinished, {
    taskId,
    stepId,
    index,
    success: false,
    callId: settled?.callId ?? null,
    code: settled?.error?.code ?? "ACODE-EXE-013",
    message: settled?.error?.message ?? "acode ended before the step called its tool",
    diagnostics: [...(settled?.diagnostics ?? [])],
    durationMs: 0,
    waitMs: 0,
  })
}

function spanMs(events: readonly StoredEvent[]): number {
  const [first, last] = [events.at(0), events.at(-1)]
  return first === undefined || last === undefined ? 0 : Date.parse(last.at) - Date.parse(first.at)
}
