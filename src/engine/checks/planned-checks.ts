import { canonicalJson } from "../../base/canonical.ts"
import type { PipelineState, PlannedCheck } from "../../domain/pipeline/state.ts"
import type { Criterion, Plan } from "../../domain/plan.ts"
import type { Project } from "./project.ts"

/** The project's own tests, which belong to no task. */
export const projectTestsId = "project-tests"

/** Every criterion of every task in order, then the project's own tests, unless a criterion runs exactly them. */
export function checksFor({ plans }: PipelineState, project: Project): readonly PlannedCheck[] {
  const tasks = plans.at(-1)?.plan.tasks ?? []
  const criteria = tasks.flatMap(task => task.acceptance.map(criterion => ({ criterion, taskId: task.id })))
  const checks = criteria.map(({ criterion: { id, kind }, taskId }) => ({ id, kind, taskId }))
  const isCovered = criteria.some(({ criterion }) => runsTests(criterion, project.test))
  if (project.test === null || isCovered) return checks
  return [...checks, { id: projectTestsId, kind: "command", taskId: null }]
}

/** What the project itself would run to verify this plan. None of it stands in the plan, so it is shown beside it. */
export function projectCommands({ tasks }: Plan, { test, check }: Project): readonly (readonly string[])[] {
  const criteria = tasks.flatMap(({ acceptance }) => acceptance)
  const isTested = criteria.some(criterion => runsTests(criterion, test))
  const isDiagnosed = criteria.some(({ kind }) => kind === "diagnostics")
  return [...(test === null || isTested ? [] : [test]), ...(check === null || !isDiagnosed ? [] : [check])]
}

function runsTests(criterion: Criterion, test: readonly string[] | null): boolean {
  if (criterion.kind !== "command" || criterion.expect_exit !== 0) return false
  return canonicalJson(criterion.command) === canonicalJson(test)
}
