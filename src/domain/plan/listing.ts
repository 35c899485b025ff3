import type { Json } from "../../base/canonical.ts"
import { exactCommand, exactLines, exactName, exactText, oneLine } from "../../base/text.ts"
import { type OrderedStep, orderedSteps } from "./order.ts"
import type { Criterion, Plan, PlanResources, PlanStep, PlanTask } from "./plan.ts"

const textMax = 200

/**
 * Returns the plan for a person to read before it is approved, in the order it runs. Descriptions are cut; everything
 * that will be written, run or reached is shown completely. `checks` are commands of the project itself that verify
 * the work.
 */
export function planLines(plan: Plan, checks: readonly (readonly string[])[] = []): readonly string[] {
  const steps = orderedSteps(plan)
  const tasks = [...new Set(steps.map(({ task }) => task))]
  return [
    `plan    ${short(plan.planId)}`,
    `goal    ${short(plan.goal)}`,
    `intent  ${plan.intent}`,
    `hash    ${plan.hash}`,
    ...plan.evidenceReferenced.map(cited => `cites   ${short(cited)}`),
    ...tasks.flatMap(task => ["", ...taskLines(task), ...stepsOf(task, steps)]),
    ...(checks.length === 0 ? [] : ["", "the project's own checks, run at the end"]),
    ...checks.flatMap(argv => block("  runs", exactCommand(argv))),
  ]
}

function taskLines({ id, title, description, complexity, dependsOn, resources, acceptance }: PlanTask) {
  return [
    `task ${named(id, title)} (complexity ${complexity}${after(dependsOn)})`,
    ...(description === "" ? [] : [`  ${short(description)}`]),
    ...resourceLines(resources),
    ...acceptance.flatMap(criterionLines),
  ]
}

function resourceLines({ read, write, commands, hosts }: PlanResources): string[] {
  return [
    ...read.map(path => `  reads ${exactName(path)}`),
    ...write.map(path => `  may write ${exactName(path)}`),
    ...commands.flatMap(argv => block("  may run with any further arguments:", exactCommand(argv))),
    ...hosts.map(host => `  may reach ${exactName(host)}`),
  ]
}

function criterionLines(criterion: Criterion): string[] {
  if (criterion.kind !== "command") return [`  accepted if ${criterionText(criterion)}`]
  return block(`  accepted if this exits ${criterion.expect_exit}:`, exactCommand(criterion.command))
}

function criterionText(criterion: Exclude<Criterion, { kind: "command" }>): string {
  switch (criterion.kind) {
    case "file_exists":
      return `${exactName(criterion.path)} exists`
    case "file_contains":
      return `${exactName(criterion.path)} contains ${exactText(criterion.pattern)}`
    case "diagnostics":
      return `${exactName(criterion.path)} has at most ${criterion.max_errors} errors`
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
    ...Object.entries(step.arguments).flatMap(([name, value]) => argumentLines(exactName(name), value)),
    ...(step.precondition === "none" ? [] : [`     only if ${step.precondition}`]),
    ...(step.requiresConfirmation ? ["     asks for confirmation"] : []),
  ]
}

/**
 * Returns a text of several lines as lines, alone or in a command, so that a person can read it; everything else as
 * JSON.
 */
function argumentLines(name: string, value: Json): string[] {
  const heading = `     ${name} =`
  if (typeof value === "string" && value.includes("\n")) return block(heading, exactLines(value))
  if (isCommand(value) && value.some(argument => argument.includes("\n")))
    return block(heading, exactCommand(value))
  return [`${heading} ${exactText(value)}`]
}

function isCommand(value: Json): value is readonly string[] {
  return Array.isArray(value) && value.every(each => typeof each === "string")
}

/** Returns lines after a heading: on the same line, or below it if there are several. */
function block(heading: string, lines: readonly string[]): string[] {
  const [first = ""] = lines
  if (lines.length <= 1) return [`${heading} ${first}`]
  const indent = " ".repeat(heading.length - heading.trimStart().length + 2)
  return [heading, ...lines.map(line => `${indent}${line}`)]
}

function named(id: string, title: string): string {
  return title === id ? short(id) : `${short(id)} ${short(title)}`
}

function after(dependsOn: readonly string[]): string {
  return dependsOn.length === 0 ? "" : `, after ${short(dependsOn.join(", "))}`
}

function short(text: string): string {
  return oneLine(text, textMax)
}
