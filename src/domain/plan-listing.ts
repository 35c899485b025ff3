import type { Json } from "../base/canonical.ts"
import { oneLine, shellQuoted } from "../base/text.ts"
import type { Criterion, Plan, PlanResources, PlanStep, PlanTask } from "./plan.ts"
import { type OrderedStep, orderedSteps } from "./plan-order.ts"

const textMax = 200

/** The plan for a person to read before it is approved: in the order it runs, bounded, with escapes shown. */
export function planLines(plan: Plan): readonly string[] {
  const steps = orderedSteps(plan)
  const tasks = [...new Set(steps.map(({ task }) => task))]
  return [
    `plan    ${short(plan.planId)}`,
    `goal    ${short(plan.goal)}`,
    `intent  ${plan.intent}`,
    `hash    ${plan.hash}`,
    ...tasks.flatMap(task => ["", ...taskLines(task), ...stepsOf(task, steps)]),
  ]
}

function taskLines({ id, title, description, complexity, dependsOn, resources, acceptance }: PlanTask) {
  return [
    `task ${named(id, title)} (complexity ${complexity}${after(dependsOn)})`,
    ...(description === "" ? [] : [`  ${short(description)}`]),
    ...resourceLines(resources),
    ...acceptance.map(criterion => `  accepted when ${criterionText(criterion)}`),
  ]
}

function resourceLines({ read, write, commands, hosts }: PlanResources): string[] {
  const rows: [string, readonly string[]][] = [
    ["reads", read],
    ["may write", write],
    ["may run", commands.map(commandText)],
    ["names hosts", hosts],
  ]
  // Each on a line of its own: what a person grants must not be cut off at the end of a long one.
  return rows.flatMap(([name, values]) => values.map(value => `  ${name} ${oneLine(value, 1000)}`))
}

function criterionText(criterion: Criterion): string {
  switch (criterion.kind) {
    case "command":
      return `${short(commandText(criterion.command))} exits ${criterion.expect_exit}`
    case "file_exists":
      return `${short(criterion.path)} exists`
    case "file_contains":
      return `${short(criterion.path)} contains ${short(JSON.stringify(criterion.pattern))}`
    case "diagnostics":
      return `${short(criterion.path)} has at most ${criterion.max_errors} errors`
    case "judgement":
      return `it is judged: ${short(criterion.text)}`
  }
}

function stepsOf(task: PlanTask, steps: readonly OrderedStep[]): string[] {
  return steps.filter(entry => entry.task === task).flatMap(({ step, index }) => stepLines(step, index + 1))
}

function stepLines(step: PlanStep, number: number): string[] {
  const does =
    step.kind === "concrete" ? short(step.tool) : `${step.action} (open: the model chooses the calls)`
  return [
    `  ${number}. ${named(step.id, step.title)}: ${does}${after(step.dependsOn)}`,
    ...(step.description === "" ? [] : [`     ${short(step.description)}`]),
    ...(step.kind === "open" ? [] : callLines(step)),
  ]
}

function callLines(step: Extract<PlanStep, { kind: "concrete" }>): string[] {
  return [
    ...Object.entries(step.arguments).map(([name, value]) => `     ${short(name)} = ${argumentText(value)}`),
    ...(step.precondition === "none" ? [] : [`     only if ${step.precondition}`]),
    ...(step.requiresConfirmation ? ["     asks for confirmation"] : []),
  ]
}

/** Says how much there is when not all of it is shown, so that nobody takes the beginning for the whole. */
function argumentText(value: Json): string {
  const text = JSON.stringify(value)
  return text.length <= textMax ? short(text) : `${short(text)} (${text.length} characters)`
}

function named(id: string, title: string): string {
  return title === id ? short(id) : `${short(id)} ${short(title)}`
}

function after(dependsOn: readonly string[]): string {
  return dependsOn.length === 0 ? "" : `, after ${short(dependsOn.join(", "))}`
}

function commandText(argv: readonly string[]): string {
  return argv.map(shellQuoted).join(" ")
}

function short(text: string): string {
  return oneLine(text, textMax)
}
