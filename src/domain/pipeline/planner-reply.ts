import type { Json } from "../../base/canonical.ts"
import { type Plan, resourcesOf } from "../plan/plan.ts"
import { toolsOfKind } from "../plan/tool-traits.ts"
import { isGoingInCircles } from "./progress.ts"
import type { PipelineState, Turn } from "./state.ts"

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

/** The limit of sessions that were recorded before there was one. */
const exploreTurnsUsual = 12

/** The share of the session's tokens in which the planner reads: after it, it has to plan with what it knows. */
const exploreShare = 0.36

/**
 * Returns whether the planner may read more: within its turns and its share of the tokens, and while it does not read
 * the same again and again.
 */
export function mayExplore({ turns, settings, usage }: PipelineState): boolean {
  const { exploreTurnsMax = exploreTurnsUsual, tokensMax } = settings.limits
  const reading = turns.filter(isReading)
  const { input, output } = usage.planner
  if (tokensMax !== null && input + output > tokensMax * exploreShare) return false
  return reading.length < exploreTurnsMax && !isGoingInCircles(reading)
}

/** Returns the replies of the planner that were no reading, or were one too many: each counts as a try. */
export function triesOf({ turns, settings }: PipelineState): readonly Turn[] {
  const { exploreTurnsMax = exploreTurnsUsual } = settings.limits
  let left = exploreTurnsMax
  return turns.filter(turn => {
    if (turn.failure !== null) return false
    if (isReading(turn)) left -= 1
    return !isReading(turn) || left < 0
  })
}

function isReading({ calls, failure }: Turn): boolean {
  return failure === null && calls.length > 0
}
