import type { Json } from "../../base/canonical.ts"
import { type Plan, resourcesOf } from "../plan/plan.ts"
import { toolsOfKind } from "../plan/tool-traits.ts"

/** Returns the answer in a reply of the planner to a question; null if the reply is something else. */
export function plannerAnswer(output: Json): string | null {
  if (typeof output !== "object" || output === null || Array.isArray(output)) return null
  const answer = Object.entries(output).find(([name]) => name === "answer")?.[1]
  return typeof answer === "string" && !Object.hasOwn(output, "tasks") ? answer : null
}

/**
 * Returns whether a plan only reads, by what it lists and not by what it says: nothing in it can change a file, run a
 * program or reach a host, so that it needs no approval and no verification.
 */
export function onlyReads(plan: Plan): boolean {
  const { write, commands, hosts } = resourcesOf(plan)
  if (plan.intent === "MUTATE" || write.length + commands.length + hosts.length > 0) return false
  const steps = plan.tasks.flatMap(task => task.steps)
  return steps.every(step =>
    step.kind === "open"
      ? readingActions.has(step.action)
      : readers.has(step.tool) && !step.requiresConfirmation,
  )
}

const readers = toolsOfKind("read", "find")
const readingActions: ReadonlySet<string> = new Set(["READ_FILE", "ANALYZE_CODE"])
