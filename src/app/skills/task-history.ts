import { dataOf } from "../../domain/events/definition.ts"
import { SessionStarted } from "../../domain/events/session-events.ts"
import { type PipelinePlan, PipelinePlanned } from "../../domain/events/skill-events.ts"
import { type StepOutput, skillState, type TaskStep } from "../../domain/skill/skill-state.ts"
import type { Store } from "../../store/contract.ts"

type History = Pick<Store, "sessions" | "log">

/** Sessions that are looked through for a task. */
export const sessionsMax = 500

/** Returns the recorded executions of a task, those of the newest session first. */
export function executionsOf(
  store: History,
  taskId: string,
): readonly (TaskStep & { readonly sessionId: string; readonly startedAt: string })[] {
  return store.sessions
    .list({ lane: "skill", limit: sessionsMax })
    .flatMap(({ id, startedAt }) =>
      (skillState(store.log.each(id))?.steps ?? [])
        .filter(step => step.taskId === taskId)
        .map(step => ({ ...step, sessionId: id, startedAt })),
    )
}

/** Returns whether a recorded execution of the task left this content at this path. */
export function hasWritten(store: History, taskId: string, { path, sha256 }: StepOutput): boolean {
  return executionsOf(store, taskId).some(({ wrote }) =>
    wrote.some(file => file.path === path && file.sha256 === sha256),
  )
}

/** Returns the session that has not ended and whose pipeline made the task; null where there is none but `own`. */
export function pipelineSessionOf({ sessions, log }: History, taskId: string, own: string): string | null {
  // No process counts as alive: a pipeline that is left will be resumed, with all of its tasks.
  const unfinished = sessions.interrupted(() => false, "skill").filter(({ id }) => id !== own)
  const isPlanned = ({ steps }: PipelinePlan) =>
    steps.some(({ tasks }) => tasks.some(({ id }) => id === taskId))
  const found = unfinished.find(({ id }) => {
    const plan = plannedIn(log.each(id))
    return plan !== null && isPlanned(plan)
  })
  return found?.id ?? null
}

/** A pipeline is recorded together with the beginning of its session. */
function plannedIn(events: Iterable<Parameters<typeof dataOf>[1]>): PipelinePlan | null {
  for (const event of events) {
    const plan = dataOf(PipelinePlanned, event)
    if (plan !== null || dataOf(SessionStarted, event) === null) return plan
  }
  return null
}
