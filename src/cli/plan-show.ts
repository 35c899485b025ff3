import type { Plan } from "../domain/plan.ts"
import { concreteSteps, type OrderedStep, orderedSteps } from "../domain/plan-order.ts"
import { defineCommand } from "./definition.ts"
import { planRows } from "./plan-approve.ts"
import { planArgument, validPlan } from "./plan-file.ts"

export const planShow = defineCommand({
  name: "plan show",
  summary: "a plan as it would run: steps, tools, arguments, conditions",
  arguments: [planArgument],
  flags: {},
  examples: [
    { line: "acode plan show plan.json", note: "to read it before approving it" },
    { line: "acode plan show plan.json --json", note: "steps in the order they run" },
  ],
  run: async ({ arguments: [file = ""] }, { output, globals }) => {
    const plan = await validPlan(file)
    if (globals.json) output.json(planJson(plan))
    for (const row of planRows(plan, null)) output.line(row)
    return 0
  },
})

/** In the words of the plan format, with everything that may be left out filled in. */
function planJson(plan: Plan) {
  return {
    plan_id: plan.planId,
    hash: plan.hash,
    goal: plan.goal,
    intent: plan.intent,
    runnable: "steps" in concreteSteps(plan),
    tasks: plan.tasks.map(({ dependsOn, steps: _steps, ...task }) => ({ ...task, depends_on: dependsOn })),
    steps: orderedSteps(plan).map(stepJson),
    evidence_referenced: plan.evidenceReferenced,
  }
}

function stepJson({ task, step, index }: OrderedStep) {
  const base = {
    index,
    task_id: task.id,
    id: step.id,
    title: step.title,
    description: step.description,
    depends_on: step.dependsOn,
  }
  if (step.kind === "open") return { ...base, action: step.action }
  return {
    ...base,
    tool: step.tool,
    arguments: step.arguments,
    precondition: step.precondition,
    requires_confirmation: step.requiresConfirmation,
  }
}
