import type { ApprovalPrompt } from "../../../app/approval-desk.ts"
import { counted, oneLine, shellQuoted } from "../../../base/text.ts"
import { exitCodes } from "../../../domain/exit-codes.ts"
import { planLines } from "../../../domain/plan/listing.ts"
import { concreteSteps, type OrderedStep, orderedSteps } from "../../../domain/plan/order.ts"
import type { Plan } from "../../../domain/plan/plan.ts"
import { type PlanProblem, problemText } from "../../../domain/plan/problem.ts"
import type { PlannedStep, PlanWatcher } from "../../../engine/lanes/plan-lane.ts"
import type { PlanReport, StepResult } from "../../../engine/lanes/plan-result.ts"
import type { CliContext } from "../../context.ts"
import { defineCommand } from "../../definition.ts"
import type { Output } from "../../output.ts"
import { wrappedLines } from "../../render/approval-text.ts"
import { diffStatLines } from "../../render/diffstat-text.ts"
import { durationText, nothingChecked, shortId } from "../../render/format.ts"
import { nextCommands } from "../../render/next-commands.ts"
import { quarantineLines } from "../../run/call-lines.ts"
import { interruption } from "../../terminal/interruption.ts"
import { isInteractive } from "../../terminal/terminal.ts"
import { readPlanFile, validPlan } from "./plan-file.ts"

const planArgument = { name: "FILE", summary: "the plan, a JSON file; - is standard input" }

export const planApprove = defineCommand({
  name: "plan approve",
  summary: "approve exactly this plan, so that it can be run",
  description:
    "Shows the plan and its hash and records the approval. Typing the command is the answer: it does not ask again.\n" +
    "The approval is of the content, not of the file name: any change but spacing and the order of keys ends it.",
  arguments: [planArgument],
  flags: {
    expires: {
      kind: "duration",
      value: "DURATION",
      summary: "how long it is valid: 90s, 30m, 1h (default), 7d; at most a year",
      minMs: 1,
      maxMs: 366 * 86_400_000,
    },
  },
  examples: [
    { line: "acode plan approve plan.json", note: "holds for an hour" },
    { line: "acode plan approve plan.json --expires 7d", note: "for longer" },
  ],
  run: async ({ arguments: [file = ""], flags }, { output, globals, service }) => {
    const plan = await validPlan(file, service)
    const app = await service()
    // Printed before the approval is recorded, so that the user can still press Ctrl-C.
    const show = (reach: string) => output.shown(planRows(plan, reach))
    const approval = await app.approvePlan(plan, flags.expires ?? 3_600_000, show)
    if (globals.json) output.json({ id: approval.approvalId, ...approval })
    output.line()
    output.line(`${output.green("approved")} by ${approval.approver} until ${approval.expiresAt}`)
    output.line(output.dim(`approval ${approval.approvalId}`))
    return 0
  },
})

/** Returns what the plan could reach and its steps; the reach is repeated below a plan longer than the screen. */
function planRows(plan: Plan, reach: string | null): readonly string[] {
  const lines = [...(reach === null ? [] : [reach]), ...planLines(plan)]
  const { columns, rows, isTTY } = process.stdout
  if (!isTTY) return lines
  const shown = wrappedLines(lines, columns || 80)
  const isLong = shown.length > (rows || 24) - endRows
  return reach !== null && isLong ? [...shown, ...wrappedLines(["", reach], columns || 80)] : shown
}

/** The number of rows that are printed after the plan. */
const endRows = 4

export const planHashCommand = defineCommand({
  name: "plan hash",
  summary: "print the hash that an approval of a plan is bound to",
  description: "Spacing and the order of keys do not change it; everything else does.",
  arguments: [planArgument],
  flags: {},
  examples: [
    { line: "acode plan hash plan.json", note: "to compare with what was approved" },
    { line: "acode plan hash - --json < plan.json", note: "for a script" },
  ],
  run: async ({ arguments: [file = ""] }, { output, globals }) => {
    const { planId, hash } = await validPlan(file, null)
    if (globals.json) output.json({ plan_id: planId, hash })
    output.line(hash)
    return 0
  },
})

export const planRevoke = defineCommand({
  name: "plan revoke",
  summary: "revoke the approval of a plan before it expires",
  description:
    "The plan cannot be run under it any more, and a run that is under way makes no further step. What its steps have\n" +
    "done stays; `session undo` restores it.",
  arguments: [{ name: "ID", id: "planApproval", summary: "the id, its beginning or its last characters" }],
  flags: { reason: { kind: "text", value: "TEXT", summary: "why, for the record" } },
  examples: [
    { line: "acode plan revoke 3f2a91bc", note: "by the id that `approvals list --plans` shows" },
    { line: "acode plan revoke 3f2a91bc --reason 'wrong branch'", note: "the reason is recorded" },
  ],
  run: async ({ arguments: [typed = ""], flags }, { service, output, globals }) => {
    const app = await service()
    const id = await app.idOf(typed, "planApproval")
    const revoked = await app.revokePlan(id, flags.reason ?? null)
    if (globals.json) output.json(revoked)
    output.line(`revoked ${shortId(id)}: the approval of ${oneLine(revoked.planId, 200)}`)
    return 0
  },
})

export const planRun = defineCommand({
  name: "plan run",
  summary: "run an approved plan exactly as written, with evidence for every step",
  description:
    "Runs the steps one after the other, each as exactly one tool call, and stops at the first failure.\n" +
    "A run that was interrupted is reported; it does not continue by itself.",
  arguments: [planArgument],
  flags: {
    approval: {
      kind: "id",
      of: "planApproval",
      value: "ID",
      summary: "use this approval and no other",
    },
  },
  examples: [
    { line: "acode plan approve plan.json && acode plan run plan.json", note: "the usual way" },
    { line: "acode plan run plan.json --json", note: "the result of every step as JSON" },
  ],
  run: async ({ arguments: [file = ""], flags }, context) => {
    const plan = await validPlan(file, context.service)
    const service = await context.service()
    using interrupted = interruption()
    const result = await service.runPlan({
      plan,
      where: file,
      approvalId: flags.approval === undefined ? null : await service.idOf(flags.approval, "planApproval"),
      watcher: watcherOf(context),
      signal: interrupted.signal,
      isInteractive: isInteractive(context),
      prompt: lazyPrompt(context.output),
      notice: text => context.output.notice(text),
    })
    if (context.globals.json) context.output.json(result)
    else printEnd(result, plan.tasks.flatMap(({ steps }) => steps).length, context.output)
    return result.exit_code
  },
})

/** Returns a prompt that is loaded with the first question: most plans ask none. */
function lazyPrompt(output: Output): ApprovalPrompt {
  return async (question, dismissed) => {
    const { approvalPrompt } = await import("../../run/approval-prompt.ts")
    return approvalPrompt(output)(question, dismissed)
  }
}

function watcherOf({ output, globals }: CliContext): PlanWatcher {
  return {
    onStepStart: ({ step, index }, count) =>
      output.line(
        `${output.dim(`[${index + 1}/${count}]`)} ${oneLine(step.id, 40)}  [tool:${step.tool}] ${argumentText(step)}`,
      ),
    onStepComplete: (_step, result) => {
      output.line(`${output.green("  ✓")} ${durationText(result.duration_ms)}${evidenceText(result)}`)
      for (const line of quarantineLines(result.result, null)) output.line(line)
    },
    onStepFailed: (_step, result) => {
      printFailure(result, output)
      for (const line of quarantineLines(result.result, null)) output.line(line)
    },
    ...(globals.verbose ? { onOutput: (_stream, chunk) => output.recorded(chunk, true, 2) } : {}),
  }
}

function argumentText({ arguments: args, title }: PlannedStep["step"]): string {
  const named = args["path"] ?? args["argv"] ?? args["command"] ?? args["pattern"] ?? args["paths"] ?? title
  const text = Array.isArray(named) ? named.map(word => shellQuoted(String(word))).join(" ") : String(named)
  return oneLine(text, 80)
}

function evidenceText({ execution_id: id }: StepResult): string {
  return `  evidence ${shortId(id)}`
}

function printFailure(result: StepResult, output: Output): void {
  output.line(`${output.red("  ✗")} ${result.error_code ?? ""}: ${oneLine(result.error_message ?? "", 400)}`)
  const shown = result.stderr === null || result.stderr === "" ? result.stdout : result.stderr
  const tail = (shown ?? "").trimEnd().split("\n").slice(-tailLines).filter(Boolean)
  for (const line of tail) output.line(output.dim(`    ${oneLine(line, 200)}`))
  output.line(output.dim(`    ${evidenceText(result).trim()}`))
}

const tailLines = 10

function printEnd(result: PlanReport, planned: number, output: Output): void {
  const { status, step_results: steps, session_id: session, exit_code: exitCode } = result
  const done = steps.filter(({ success }) => success).length
  const isDone = status === "Completed"
  const head = isDone ? output.green("completed") : `${output.red("failed")} (exit ${exitCode})`
  const unreached = planned === steps.length ? "" : `, ${planned - steps.length} did not run`
  output.line(
    `${head}: ${done} of ${planned} steps succeeded${unreached}, in ${durationText(result.wall_ms)}`,
  )
  if (isDone) output.line(`⚠ ${nothingChecked}`)
  // The failure of a step is printed with its step.
  else if (done === steps.length)
    output.line(`  ${result.error_code ?? ""}: ${oneLine(result.error_message ?? "", 400)}`)
  for (const line of diffStatLines(result.changes)) output.line(line)
  const next = nextCommands(session, isDone ? "COMPLETED" : "FAILED", {
    lane: "plan",
    openApproval: null,
    isDriven: false,
    repliesFlag: null,
    hasChanges: result.changes.total.files > 0,
  })
  output.line(output.dim(`session ${session}`))
  output.line(output.dim(output.advice(`next: ${next.join("  ·  ")}`)))
}

export const planShow = defineCommand({
  name: "plan show",
  summary: "show a plan as it would run: steps, tools, arguments, conditions",
  arguments: [planArgument],
  flags: {},
  examples: [
    { line: "acode plan show plan.json", note: "to read it before approving it" },
    { line: "acode plan show plan.json --json", note: "steps in the order they run" },
  ],
  run: async ({ arguments: [file = ""] }, { output, globals }) => {
    const plan = await validPlan(file, null)
    if (globals.json) output.json(planJson(plan))
    for (const row of planRows(plan, null)) output.line(row)
    return 0
  },
})

/** Returns a plan in the plan format, with all optional properties. */
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

export const planValidate = defineCommand({
  name: "plan validate",
  summary: "check a plan and list every problem",
  description:
    "Exits 0 when the plan is valid and 1 when it is not. Checks its shape, ids, dependencies, conditions, the tool and\n" +
    "arguments of every concrete step, that a plan which only reads changes no file, and that the evidence it cites\n" +
    "exists: Q1 to Q8, or the id of a row. Nothing is run and nothing is recorded.",
  arguments: [planArgument],
  flags: {},
  examples: [
    { line: "acode plan validate plan.json", note: "every problem with its place" },
    { line: "generate-plan | acode plan validate - --json", note: "from a program, for a program" },
  ],
  run: async ({ arguments: [file = ""] }, context) => {
    const reading = await readPlanFile(file, context.service)
    if ("problems" in reading) return printProblems(reading.problems, context)
    printValid(reading.plan, context)
    return 0
  },
})

function printProblems(problems: readonly PlanProblem[], { output, globals }: CliContext): number {
  if (globals.json) output.json({ valid: false, problems })
  for (const problem of problems) output.line(problemText(problem))
  output.line(output.red(`not valid: ${counted(problems.length, "problem")}`))
  return exitCodes.general.code
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
