import { counted } from "../base/text.ts"
import type { Plan } from "../domain/plan.ts"
import { concreteSteps, orderedSteps } from "../domain/plan-order.ts"
import { type PlanProblem, problemText } from "../domain/plan-problem.ts"
import type { CliContext } from "./context.ts"
import { defineCommand } from "./definition.ts"
import { planArgument, readPlanFile } from "./plan-file.ts"

export const planValidate = defineCommand({
  name: "plan validate",
  summary: "say everything that is wrong with a plan",
  description:
    "Exits 0 when the plan is valid and 1 when it is not. Checks its shape, ids, dependencies, conditions, and the\n" +
    "tool and arguments of every concrete step. Nothing is run and nothing is recorded.",
  arguments: [planArgument],
  flags: {},
  examples: [
    { line: "acode plan validate plan.json", note: "every problem with its place" },
    { line: "generate-plan | acode plan validate - --json", note: "from a program, for a program" },
  ],
  run: async ({ arguments: [file = ""] }, context) => {
    const reading = await readPlanFile(file)
    if ("problems" in reading) return printProblems(reading.problems, context)
    printValid(reading.plan, context)
    return 0
  },
})

function printProblems(problems: readonly PlanProblem[], { output, globals }: CliContext): number {
  if (globals.json) output.json({ valid: false, problems })
  for (const problem of problems) output.line(problemText(problem))
  output.line(output.red(`not valid: ${counted(problems.length, "problem")}`))
  return 1
}

function printValid(plan: Plan, { output, globals }: CliContext): void {
  const [tasks, steps] = [plan.tasks.length, orderedSteps(plan).length]
  const runnable = "steps" in concreteSteps(plan)
  if (globals.json)
    output.json({ valid: true, plan_id: plan.planId, hash: plan.hash, tasks, steps, runnable, problems: [] })
  const lane = runnable ? "" : ", for a model: some steps are open"
  output.line(
    `${output.green("valid")}: ${counted(steps, "step")} in ${counted(tasks, "task")}${lane} (${plan.hash})`,
  )
}
