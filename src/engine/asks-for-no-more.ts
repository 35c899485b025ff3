import { canonicalJson, type Json } from "../base/canonical.ts"
import { isSameDoneStep } from "../domain/pipeline/fold-steps.ts"
import type { PlanVersion, StepState } from "../domain/pipeline/state.ts"
import type { Criterion, Plan, PlanStep, PlanTask } from "../domain/plan.ts"
import { orderedSteps } from "../domain/plan-order.ts"
import { type Proposal, resourcesOf, verifyingCommands } from "../domain/plan-resources.ts"
import { toolsForAction } from "./stages/step-tools.ts"

/** A plan that was granted, and what has become of its steps. */
export interface Granted extends Pick<PlanVersion, "plan" | "checks"> {
  readonly steps: readonly StepState[]
}

/**
 * Everything the new plan may write, run or reach was in the old one, so whoever approved that has seen it. What was
 * done is granted no second time: a call is granted once, and in the order in which it was shown.
 */
export function asksForNoMore(now: Proposal, before: Granted): boolean {
  const [asked, granted] = [resourcesOf(now.plan), resourcesOf(before.plan)]
  return (
    isWithin(asked.write, granted.write) &&
    isWithin(asked.commands, granted.commands) &&
    isWithin(asked.hosts, granted.hosts) &&
    isWithin(verifyingCommands(now), [...verifyingCommands(before), ...granted.commands]) &&
    expectations(now.plan).every(each => isExpectedAsBefore(each, expectations(before.plan))) &&
    isWithin(openTools(now.plan), openTools(before.plan)) &&
    isInOrder(callsAhead(now.plan, before.steps), callsLeft(before.steps))
  )
}

type Expectation = Extract<Criterion, { kind: "command" }>

function expectations({ tasks }: Plan): readonly Expectation[] {
  return tasks
    .flatMap(({ acceptance }) => acceptance)
    .flatMap(each => (each.kind === "command" ? [each] : []))
}

/** With another exit code the same command proves something else. */
function isExpectedAsBefore({ command, expect_exit }: Expectation, before: readonly Expectation[]): boolean {
  const same = before.filter(other => canonicalJson(other.command) === canonicalJson(command))
  return same.length === 0 || same.some(other => other.expect_exit === expect_exit)
}

/** What a model may call of its own accord: a plan of calls as written leaves it nothing. */
function openTools({ tasks }: Plan): readonly string[] {
  return tasks.flatMap(({ steps }) =>
    steps.flatMap(step => (step.kind === "open" ? toolsForAction(step.action) : [])),
  )
}

/** The calls of the new plan that would be made; a step that is done and stands in it unchanged stays done. */
function callsAhead(plan: Plan, before: readonly StepState[]): readonly Json[] {
  return orderedSteps(plan).flatMap(({ task, step }) =>
    before.some(old => isSameDoneStep(old, task, step)) ? [] : callOf(task, step),
  )
}

/** The calls that were granted and not begun. */
function callsLeft(steps: readonly StepState[]): readonly Json[] {
  return steps.flatMap(({ task, step, attempts }) => (attempts > 0 ? [] : callOf(task, step)))
}

/** As a call would be made: a step that no longer asks for confirmation, or under other hosts, asks for more. */
function callOf({ resources }: PlanTask, step: PlanStep): readonly Json[] {
  if (step.kind === "open") return []
  const hosts = step.arguments["network"] === "hosts" ? resources.hosts : []
  return [[step.tool, step.arguments, hosts, step.precondition, step.requiresConfirmation]]
}

function isWithin(asked: readonly Json[], granted: readonly Json[]): boolean {
  const known = new Set(granted.map(canonicalJson))
  return asked.every(each => known.has(canonicalJson(each)))
}

/** Whether nothing is left of the asked after taking, from the granted, each in its turn. */
function isInOrder(asked: readonly Json[], granted: readonly Json[]): boolean {
  const left = granted.map(canonicalJson)
  return asked.map(canonicalJson).every(each => {
    const at = left.indexOf(each)
    left.splice(0, at === -1 ? left.length : at + 1)
    return at !== -1
  })
}
