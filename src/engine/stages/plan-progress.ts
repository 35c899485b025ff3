import { onceFor } from "../../base/lazy.ts"
import { shownPath } from "../../base/path-names.ts"
import { counted, oneLine } from "../../base/text.ts"
import type { Exchange, PipelineState, PlanVersion, StepState } from "../../domain/pipeline/state.ts"
import type { Plan } from "../../domain/plan/plan.ts"
import { dataBlock } from "../../domain/text/data-block.ts"

/** The steps listed on either side of the present one; the others are only counted. */
const nearSteps = 20

/**
 * Returns the plan around a step: its purpose, the steps before it, and those after it. During a step all the others
 * stay the same, and so does this text.
 */
export function planProgress({ plans, steps }: PipelineState, present: StepState | null): string {
  const plan = plans.at(-1)?.plan ?? null
  const at = steps.findIndex(({ index }) => index === present?.index)
  if (last?.plan === plan && last.at === at && isSameBut(last.steps, steps, at)) return last.text
  last = { plan, steps, at, text: toldProgress(oneLine(plan?.goal ?? "", 400), steps, at) }
  return last.text
}

let last: ShownProgress | null = null

interface ShownProgress {
  readonly plan: Plan | null
  readonly steps: readonly StepState[]
  readonly at: number
  readonly text: string
}

function isSameBut(before: readonly StepState[], steps: readonly StepState[], at: number): boolean {
  if (before.length !== steps.length) return false
  for (let index = 0; index < steps.length; index++)
    if (index !== at && before[index] !== steps[index]) return false
  return before[at]?.step === steps[at]?.step
}

function toldProgress(goal: string, steps: readonly StepState[], at: number): string {
  const from = Math.max(0, at - nearSteps)
  const to = at === -1 ? nearSteps : at + nearSteps + 1
  return [
    ...(goal === "" ? [] : [`goal: ${goal}`]),
    ...farther(steps.slice(0, from), "before these"),
    ...steps.slice(from, to).map((step, index) => (from + index === at ? presentLine(step) : stepLine(step))),
    ...farther(steps.slice(to), "after these"),
  ].join("\n")
}

/**
 * Returns the line of the present step without its progress, which the turns show: the line is the same in each
 * request.
 */
function presentLine({ task, step }: StepState): string {
  return `${task.id}/${step.id} ${oneLine(step.title || step.description, 120)}: this step`
}

function farther(steps: readonly StepState[], where: string): readonly string[] {
  if (steps.length === 0) return []
  const counts = new Map<string, number>()
  for (const { status } of steps) counts.set(status, (counts.get(status) ?? 0) + 1)
  const told = [...counts].map(([status, count]) => `${count} ${status}`).join(", ")
  return [`[${steps.length} more ${where}: ${told}]`]
}

const pathsMax = 10

/**
 * Returns one step and its outcome, from the records and not from the claims of a model. A finished step stays the
 * same object, and is part of every later request.
 */
export const stepLine = onceFor(lineOf)

function lineOf({ task, step, status, changedPaths, commandCount, lastCommand }: StepState): string {
  const paths = changedPaths.slice(0, pathsMax).map(path => oneLine(shownPath(path), 200))
  const more = changedPaths.length - paths.length
  const facts = [
    status,
    ...(paths.length === 0 ? [] : [`changed ${paths.join(", ")}${more > 0 ? ` and ${more} more` : ""}`]),
    ...(commandCount === 0 ? [] : [`${counted(commandCount, "command")} run`]),
    ...(lastCommand?.failure == null ? [] : ["its last command failed"]),
  ]
  return `${task.id}/${step.id} ${oneLine(step.title || step.description, 120)}: ${facts.join("; ")}`
}

/** Returns the plans for the newest request. */
export function plansOfRequest({ plans, requestSeq }: PipelineState): readonly PlanVersion[] {
  return plans.filter(({ seq }) => seq > requestSeq)
}

const exchangesMax = 10
const exchangeTextMax = 2_000

/** Returns the earlier requests of the session and what came of them, the newest ones in full; none at first. */
export function exchangesBlock({ exchanges }: PipelineState): readonly string[] {
  if (exchanges.length === 0) return []
  const left = exchanges.length - exchangesMax
  const text = exchanges.slice(-exchangesMax).map(toldExchange).join("\n\n")
  const more = left > 0 ? `[${left} earlier requests are not shown]\n` : ""
  return [dataBlock({ type: "earlier requests of this session" }, more + text)]
}

function toldExchange({ request, goal, answer, result, changedPaths }: Exchange): string {
  const paths = changedPaths.map(path => oneLine(shownPath(path), 200)).join(", ")
  return [
    `request: ${oneLine(request, exchangeTextMax)}`,
    ...(goal === null ? [] : [`plan: ${oneLine(goal, 400)}`]),
    ...(paths === "" ? [] : [`changed: ${paths}`]),
    ...(answer === null ? [] : [`answer: ${oneLine(answer, exchangeTextMax)}`]),
    `result: ${oneLine(result, 400)}`,
  ].join("\n")
}
