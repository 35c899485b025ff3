import type { ApprovalPrompt } from "../app/approval-desk.ts"
import { oneLine, shellQuoted } from "../base/text.ts"
import type { PlannedStep, PlanWatcher } from "../engine/plan-lane.ts"
import type { PlanReport, StepResult } from "../engine/plan-result.ts"
import type { CliContext } from "./context.ts"
import { defineCommand } from "./definition.ts"
import { diffStatLines } from "./diffstat-text.ts"
import { durationText, nothingChecked, shortId } from "./format.ts"
import { interruption } from "./interruption.ts"
import { nextCommands } from "./next-commands.ts"
import type { Output } from "./output.ts"
import { planArgument, validPlan } from "./plan-file.ts"
import { quarantineLines } from "./run-call-lines.ts"
import { isInteractive } from "./terminal.ts"

export const planRun = defineCommand({
  name: "plan run",
  summary: "run an approved plan exactly as written, with evidence for every step",
  description:
    "Steps run one after the other, each exactly one tool call, and the first failure is the end.\n" +
    "A run that was interrupted is reported and never taken up again by itself.",
  arguments: [planArgument],
  flags: {
    approval: {
      kind: "id",
      of: "planApproval",
      value: "ID",
      summary: "run under this approval and no other",
    },
  },
  examples: [
    { line: "acode plan approve plan.json && acode plan run plan.json", note: "the usual way" },
    { line: "acode plan run plan.json --json", note: "the result of every step as JSON" },
  ],
  run: async ({ arguments: [file = ""], flags }, context) => {
    const plan = await validPlan(file)
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
    else tellEnd(result, plan.tasks.flatMap(({ steps }) => steps).length, context.output)
    return result.exit_code
  },
})

/** The prompt is loaded when somebody is asked: most plans ask nobody. */
function lazyPrompt(output: Output): ApprovalPrompt {
  return async (question, dismissed) => {
    const { approvalPrompt } = await import("./approval-prompt.ts")
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
      tellFailure(result, output)
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
  return id === null ? "" : `  evidence ${shortId(id)}`
}

function tellFailure(result: StepResult, output: Output): void {
  output.line(`${output.red("  ✗")} ${result.error_code ?? ""}: ${oneLine(result.error_message ?? "", 400)}`)
  const shown = result.stderr === null || result.stderr === "" ? result.stdout : result.stderr
  const tail = (shown ?? "").trimEnd().split("\n").slice(-tailLines).filter(Boolean)
  for (const line of tail) output.line(output.dim(`    ${oneLine(line, 200)}`))
  output.line(output.dim(`    ${evidenceText(result).trim()}`))
}

const tailLines = 10

function tellEnd(result: PlanReport, planned: number, output: Output): void {
  const { status, step_results: steps, session_id: session, exit_code: exitCode } = result
  const done = steps.filter(({ success }) => success).length
  const isDone = status === "Completed"
  const head = isDone ? output.green("completed") : `${output.red("failed")} (exit ${exitCode})`
  const unreached = planned === steps.length ? "" : `, ${planned - steps.length} did not run`
  output.line(
    `${head}: ${done} of ${planned} steps succeeded${unreached}, in ${durationText(result.wall_ms)}`,
  )
  if (isDone) output.line(`⚠ ${nothingChecked}`)
  for (const line of diffStatLines(result.changes)) output.line(line)
  const next = nextCommands(session, isDone ? "COMPLETED" : "FAILED", {
    ...{ lane: "plan", openApproval: null, isDriven: false, repliesFlag: null },
    hasChanges: result.changes.total.files > 0,
  })
  output.line(output.dim(`session ${session}`))
  output.line(output.dim(output.advice(`next: ${next.join("  ·  ")}`)))
}
