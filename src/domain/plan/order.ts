import type { ConcreteStep, Plan, PlanStep, PlanTask } from "./plan.ts"
import { type PlanProblem, quoted } from "./problem.ts"

export interface OrderedStep<Step extends PlanStep = PlanStep> {
  readonly task: PlanTask
  readonly step: Step
  /** Its position in the run, from 0. */
  readonly index: number
}

/**
 * Returns every step in the order it is run: a task after the tasks it depends on, a step after its steps, otherwise
 * as written.
 */
export function orderedSteps(plan: Plan): readonly OrderedStep[] {
  return stableOrder(plan.tasks)
    .ordered.flatMap(task => stableOrder(task.steps).ordered.map(step => ({ task, step })))
    .map((entry, index) => ({ ...entry, index }))
}

export type ConcreteSteps =
  | { readonly steps: readonly OrderedStep<ConcreteStep>[] }
  | { readonly problems: readonly PlanProblem[] }

/** Returns the steps for the plan lane. An open step needs a model, so the plan lane rejects a plan that has one. */
export function concreteSteps(plan: Plan): ConcreteSteps {
  const steps = orderedSteps(plan).flatMap(({ task, step, index }) =>
    step.kind === "concrete" ? [{ task, step, index }] : [],
  )
  const problems = plan.tasks.flatMap((task, taskIndex) =>
    task.steps.flatMap((step, stepIndex) =>
      step.kind === "concrete" ? [] : [openStepProblem(`$.tasks[${taskIndex}].steps[${stepIndex}]`, step.id)],
    ),
  )
  return problems.length > 0 ? { problems } : { steps }
}

function openStepProblem(path: string, id: string): PlanProblem {
  const message = `step ${quoted(id)} is open: without a model, only steps with a tool can be run`
  return { code: "E001", path, message }
}

export interface Dependent {
  readonly id: string
  readonly dependsOn: readonly string[]
}

/**
 * Sorts items by their dependencies; of all that could come next, the one written first. `stuck` holds the items that
 * wait for themselves, directly or not; an unknown id is not waited for.
 */
export function stableOrder<Item extends Dependent>(items: readonly Item[]) {
  const indexes = new Map(items.map(({ id }, index) => [id, index] as const).toReversed())
  const needs = items.map(({ dependsOn }) => new Set(dependsOn.flatMap(id => indexes.get(id) ?? [])))
  const dependents = items.map((): number[] => [])
  for (const [index, needed] of needs.entries()) for (const other of needed) dependents[other]?.push(index)
  const ready = needs.flatMap((needed, index) => (needed.size === 0 ? [index] : []))
  const ordered: number[] = []
  for (let next = ready.shift(); next !== undefined; next = ready.shift()) {
    ordered.push(next)
    for (const waiting of dependents[next] ?? []) {
      needs[waiting]?.delete(next)
      if (needs[waiting]?.size === 0) insertSorted(ready, waiting)
    }
  }
  const done = new Set(ordered)
  return {
    ordered: ordered.flatMap(index => items[index] ?? []),
    stuck: items.filter((_, index) => !done.has(index)),
  }
}

function insertSorted(sorted: number[], value: number): void {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] ?? 0) < value) low = middle + 1
    else high = middle
  }
  sorted.splice(low, 0, value)
}
