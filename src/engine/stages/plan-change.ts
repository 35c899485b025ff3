import { canonicalJson } from "../../base/canonical.ts"
import { counted, oneLine } from "../../base/text.ts"
import type { Plan, PlanTask } from "../../domain/plan/plan.ts"

/** Describes what a version of a plan changes, as acode computes it: a planner's own words could be wrong. */
export function planChange(before: Plan | null, after: Plan): string {
  if (before === null) return `first plan: ${sizeOf(after)}`
  const parts = [
    ...named("adds", after.tasks, task => find(before, task) === undefined),
    ...named("changes", after.tasks, task => isChanged(find(before, task), task)),
    ...named("drops", before.tasks, task => find(after, task) === undefined),
  ]
  return `${parts.length === 0 ? "the same tasks as before" : parts.join("; ")} (${sizeOf(after)})`
}

function named(verb: string, tasks: readonly PlanTask[], isMeant: (task: PlanTask) => boolean): string[] {
  const ids = tasks.filter(isMeant).map(({ id }) => oneLine(id, 40))
  return ids.length === 0 ? [] : [`${verb} ${ids.join(", ")}`]
}

function find({ tasks }: Plan, { id }: PlanTask): PlanTask | undefined {
  return tasks.find(task => task.id === id)
}

function isChanged(before: PlanTask | undefined, after: PlanTask): boolean {
  return before !== undefined && canonicalJson(before) !== canonicalJson(after)
}

function sizeOf({ tasks }: Plan): string {
  const steps = tasks.reduce((sum, task) => sum + task.steps.length, 0)
  return `${counted(tasks.length, "task")}, ${counted(steps, "step")}`
}
