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
