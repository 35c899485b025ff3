import { writeFileSync } from "node:fs"
import { join } from "node:path"
import type { PlanReport } from "../../../src/engine/lanes/plan-result.ts"
import { type AcodeRun, runAcode } from "../acode.ts"
import { type TempWorkspace, type TempWorkspaceOptions, tempWorkspace } from "../workspace/temp-workspace.ts"

export type PlanStepText = readonly [
  tool: string,
  args: Readonly<Record<string, unknown>>,
  more?: Readonly<Record<string, unknown>>,
]

/** A workspace with a plan beside it, for the commands of the plan lane. */
export interface PlanWorkspace extends Disposable {
  readonly workspace: TempWorkspace
  readonly planFile: string
  /** Writes the flat form: steps s1, s2, … */
  plan(steps: readonly PlanStepText[], planId?: string): void
  acode(...args: readonly string[]): Promise<AcodeRun>
  /** Approves what the file says now and runs it. */
  approveAndRun(): Promise<{ readonly run: AcodeRun; readonly result: PlanReport }>
}

export function planWorkspace(options: TempWorkspaceOptions = {}): PlanWorkspace {
  const workspace = tempWorkspace(options)
  const planFile = join(workspace.outside, "plan.json")
  const acode = (...args: readonly string[]) =>
    runAcode(args, { cwd: workspace.root, env: { ...workspace.environment } })
  return {
    workspace,
    planFile,
    plan: (steps, planId = "demo") => writeFileSync(planFile, planText(steps, planId)),
    acode,
    approveAndRun: async () => {
      const approved = await acode("plan", "approve", planFile)
      if (approved.exitCode !== 0) throw new Error(approved.stderr)
      const run = await acode("plan", "run", planFile, "--json")
      return { run, result: JSON.parse(run.stdout) as PlanReport }
    },
    [Symbol.dispose]: () => workspace[Symbol.dispose](),
  }
}

export function planText(steps: readonly PlanStepText[], planId: string): string {
  return JSON.stringify({
    plan_id: planId,
    intent: "MUTATE",
    steps: steps.map(([tool, args, more = {}], index) => ({
      step_id: `s${index + 1}`,
      tool,
      arguments: args,
      precondition: "none",
      requires_confirmation: false,
      ...more,
    })),
    evidence_referenced: [],
  })
}
