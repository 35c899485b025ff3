import type { Task } from "../task.ts"

/** Settings that decide where an output goes. */
export interface OutputPlan {
  /** Null for a skill of no squad. */
  readonly squad: string | null
  /** The skill that writes the context of all others. */
  readonly foundation: string
  /** The file it writes. */
  readonly context: string
}

export type OutputPath = { readonly path: string } | { readonly problem: string; readonly isRefused: boolean }

/**
 * Returns where the output of a task goes: the path that the task names, which has to be the one that follows from
 * its skill where one does.
 */
export function outputPathOf(task: Pick<Task, "id" | "to" | "output">, plan: OutputPlan): OutputPath {
  const { path } = task.output
  const refused = pathProblem(path)
  if (refused !== null) return { problem: `output_path ${refused}`, isRefused: true }
  if (/^(?:tasks|reviews)(?:\/|$)/.test(path))
    return { problem: "output_path lies among the tasks or the reviews", isRefused: true }
  if (path === plan.context && task.to !== plan.foundation)
    return {
      problem: `output_path is the context of every skill, which ${plan.foundation} writes`,
      isRefused: true,
    }
  const derived = derivedPath(task, plan)
  if (derived === null || derived === path) return { path }
  return { problem: `output_path is ${path}, and the skill ${task.to} writes ${derived}`, isRefused: false }
}

/** Returns the path that follows from the skill of a task; null where none does. */
export function derivedPath({ id, to }: Pick<Task, "id" | "to">, plan: OutputPlan): string | null {
  if (to === plan.foundation) return plan.context
  return plan.squad === null ? null : `outputs/${plan.squad}/${to}/${id}.md`
}

/** Returns why a path from a task file cannot be used; null when it can. */
export function pathProblem(path: string): string | null {
  if (path === "") return "is empty"
  if (path.length > 1024) return "is longer than 1024 characters"
  if (/\p{Cc}/u.test(path)) return "contains a control character"
  if (path.startsWith("/") || path.startsWith("~") || /^[A-Za-z]:/.test(path)) return "is not relative"
  if (path.includes("\\")) return "contains a backslash"
  // A task names its inputs between backticks.
  if (path.includes("`")) return "contains a backtick"
  if (path.split("/").some(part => part === "..")) return "contains .."
  if (path.split("/").some(part => part === "" || part === ".")) return "is not in its plain form"
  return null
}
