import type { Plan, PlanTask } from "../../domain/plan.ts"
import { quoted } from "../../domain/plan-problem.ts"

/** Paths a planner wrote that do not stay below the workspace root by the look of them. */
export function planPathProblems({ tasks }: Plan): readonly string[] {
  return tasks.flatMap((task, index) => taskProblems(task, `$.tasks[${index}]`))
}

function taskProblems({ resources, acceptance }: PlanTask, place: string): readonly string[] {
  const { read, write } = resources
  const paths = [
    ...Object.entries({ read, write }).flatMap(([name, globs]) =>
      globs.map((path, index) => ({ path, at: `${place}.resources.${name}[${index}]` })),
    ),
    ...acceptance.flatMap((criterion, index) =>
      "path" in criterion ? [{ path: criterion.path, at: `${place}.acceptance[${index}].path` }] : [],
    ),
  ]
  return paths
    .filter(({ path }) => leavesWorkspace(path))
    .map(({ path, at }) => `${at}: ${quoted(path)} must be relative to the workspace, without ".."`)
}

function leavesWorkspace(path: string): boolean {
  return /^(?:[/\\~]|[A-Za-z]:[/\\])/.test(path) || path.split(/[/\\]/).includes("..")
}
