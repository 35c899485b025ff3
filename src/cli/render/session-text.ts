import type { CheckpointSummary } from "../../app/verbs/checkpoint-summary.ts"
import { shownPath } from "../../base/path-names.ts"
import { firstLine, oneLine } from "../../base/text.ts"
import { externalCallLines } from "../../domain/external-calls.ts"
import type { CheckView, PipelineView, SessionStage } from "../../domain/session/pipeline-view.ts"
import type { ApprovalView, CallView, SessionView, StepView } from "../../domain/session/session-view.ts"
import type { FileChange } from "../../domain/tool-call.ts"
import type { DiffStat } from "../../engine/diffstat.ts"
import { repliesFlag } from "../../models/recorded.ts"
import { diffStatLines } from "./diffstat-text.ts"
import { answerLines, certaintyText, durationText, nothingChecked, shortId } from "./format.ts"
import { aboutSession } from "./next-commands.ts"
import { modelLines, type Prices, usageLines } from "./usage-text.ts"

const changesMax = 20

/** Returns a session as text: first how it ended, then each step with its calls and their effects. */
export function sessionLines(
  view: SessionView,
  prices: Prices,
  changes: DiffStat | null = null,
  kept: readonly CheckpointSummary[] = [],
): readonly string[] {
  const stepless = view.calls.filter(call => !view.steps.some(step => isCallOf(step, call)))
  return [
    ...headLines(view),
    ...kept.map(keptCopyLine),
    ...(changes === null ? [] : changedLines(changes)),
    ...(view.pipeline === null ? [] : modelTexts(view.pipeline, prices)),
    ...(view.pipeline === null ? [] : pipelineLines(view.pipeline)),
    ...view.steps.flatMap(step => stepLines(step, view)),
    ...stepless.flatMap(call => callLines(call, view, false)),
  ]
}

/** Returns the line about files that an undo or a recovery replaced, and how to restore them. */
function keptCopyLine({ id, kind }: CheckpointSummary): string {
  return `  kept     what was there before the ${kind}: \`acode checkpoint restore ${id}\``
}

function changedLines(changes: DiffStat): readonly string[] {
  const lines = diffStatLines(changes)
  return lines.length === 0 ? [] : ["  changed", ...lines.map(line => `   ${line}`)]
}

function modelTexts({ models, usage, externalCalls }: PipelineView, prices: Prices): readonly string[] {
  const lines = [...modelLines(models), ...externalCallLines(externalCalls), ...usageLines(usage, prices)]
  return lines.map(line => `  ${line}`)
}

function headLines(view: SessionView): readonly string[] {
  const { id, goal, state, reason, exitCode, planId, planHash, startedAt, endedAt } = view
  const { undoneAt, partlyUndoneAt } = view
  const exit = exitCode === null ? "" : `, exit ${exitCode}`
  const replies = view.pipeline === null ? null : repliesFlag(view.pipeline.models)
  return [
    `[SESSION] ${id}${view.lane === null ? "" : ` (${view.lane})`}`,
    `  goal     ${oneLine(goal, 200)}`,
    `  state    ${state}${exit}${reason === null ? "" : `: ${oneLine(aboutSession(reason, id, replies), 4000)}`}`,
    ...(view.unverified && state === "COMPLETED" ? [unverifiedLine(view)] : []),
    ...(planId === null ? [] : [`  plan     ${oneLine(planId, 100)} ${planHash ?? ""}`]),
    `  started  ${startedAt ?? "-"}${endedAt === null ? "" : `, ended ${endedAt}`}`,
    ...(undoneAt === null ? [] : [`  undone   ${undoneAt}`]),
    ...(partlyUndoneAt === null ? [] : [`  undone   in part, ${partlyUndoneAt}`]),
    ...(view.answer === null ? [] : ["  answer", ...answerLines(view.answer).map(line => `    ${line}`)]),
  ]
}

function unverifiedLine({ lane }: SessionView): string {
  return `  ⚠ ${lane === "plan" ? nothingChecked : "its result was not verified"}`
}

function stepLines(step: StepView, view: SessionView): readonly string[] {
  const { index, title, id, outcome, code, message, durationMs, evidenceId } = step
  // Reviews and revisions are steps that no pipeline counts beforehand.
  const stepCount = view.lane === "skill" ? Math.max(step.stepCount, view.steps.length) : step.stepCount
  const took = durationMs === null ? "" : ` (${durationText(durationMs)})`
  const calls = view.calls.filter(call => isCallOf(step, call))
  const evidence = calls.find(call => call.id === evidenceId)
  const name = title === "" || title === id ? id : `${id}: ${title}`
  return [
    `[${planText(step, view)}STEP ${index + 1}/${stepCount}] ${marks[outcome]} ${oneLine(name, 100)} — ${outcome}${took}`,
    ...calls.flatMap(call => callLines(call, view, call === evidence && code !== null)),
    ...(code === null ? [] : [errorLine(code, message ?? evidence?.error?.message ?? "")]),
    ...(code === null && message !== null ? [`  ⚠ ${oneLine(message, 400)}`] : []),
  ]
}

/** Returns the number of a step's plan, if that is not the plan that was approved last. */
function planText({ planNumber }: StepView, { pipeline }: SessionView): string {
  const last = pipeline?.plans.filter(({ approver }) => approver !== null).length ?? planNumber
  return planNumber < last ? `PLAN ${planNumber} ` : ""
}

/** Returns whether a step made a call. A task that was revised or reviewed is several steps; their keys differ. */
function isCallOf(step: StepView, call: CallView): boolean {
  if (call.id === step.evidenceId) return true
  if (call.stepId !== step.id || call.taskId !== step.taskId) return false
  return call.stepKey === null || call.stepKey === step.stepKey
}

const marks: Readonly<Record<StepView["outcome"], string>> = {
  open: "…",
  succeeded: "✓",
  failed: "✗",
  interrupted: "⚠",
  skipped: "⚠",
}

/** Returns the lines of a call. The line of the step shows an error, with the code that the plan format defines. */
function callLines(call: CallView, view: SessionView, isShownByStep: boolean): readonly string[] {
  const { tool, id, outcome, certainty, error, exitCode, executionId } = call
  const exit = exitCode === null ? "" : `, exit ${exitCode}`
  const execution = executionId === null ? "" : `, execution ${shortId(executionId)}`
  return [
    `  [tool:${oneLine(tool, 40)}] evidence ${id}${execution}`,
    ...view.approvals.filter(({ callId }) => callId === id).map(approvalLine),
    `  [result] ${outcome}${exit}${certaintyNote(call)}`,
    ...changeLines(call),
    ...uncoveredLines(call),
    ...(error === null || isShownByStep ? [] : [errorLine(error.code, error.message)]),
    ...(outcome === "interrupted" && certainty !== "notDone"
      ? ["  ⚠ inspect what it touched before you continue"]
      : []),
  ]
}

/** Returns a note about the effect of a call, where the outcome does not already imply it. */
function certaintyNote({ outcome, certainty }: CallView): string {
  if (certainty === null || (outcome === "succeeded" && certainty === "done")) return ""
  return `; its effect ${certaintyText[certainty]}`
}

function approvalLine({ id, level, answer, answeredBy, reason }: ApprovalView): string {
  const said = reason === null ? "" : `: ${oneLine(reason, 200)}`
  const answered = answer === null ? "not answered" : `${answer} by ${oneLine(answeredBy ?? "-", 60)}${said}`
  return `  [approval] ${shortId(id)} level ${level}, ${answered}`
}

function changeLines({ changes, changeCount, changesArtifact }: CallView): readonly string[] {
  const shown = changes.slice(0, changesMax).map(change => `    ${changeText(change)}`)
  const others = changeCount - shown.length
  if (others === 0) return shown
  return [...shown, `    ${others} ${shown.length === 0 ? "changes" : "more"}${noteOf(changesArtifact)}`]
}

function uncoveredLines({ uncovered }: CallView): readonly string[] {
  if (uncovered === null) return []
  const { paths, count, unwatched } = uncovered
  const shown = paths.slice(0, changesMax)
  return [
    ...shown.map(
      ({ path, reason }) => `    ⚠ not covered by undo: ${oneLine(shownPath(path), 200)} (${reason})`,
    ),
    ...(count > shown.length
      ? [`    ⚠ not covered by undo: ${count - shown.length} more; --json shows more`]
      : []),
    ...unwatched.map(
      path =>
        `    ⚠ whether ${oneLine(shownPath(path), 200)} was changed is not known: too much to be watched`,
    ),
  ]
}

function noteOf(artifact: string | null): string {
  return artifact === null ? "; --json shows all" : ` in ${artifact}`
}

function changeText({ path, before, after }: FileChange): string {
  const verb = before === null ? "created" : after === null ? "deleted" : "changed"
  return `${verb} ${oneLine(shownPath(path), 200)}`
}

function errorLine(code: string, message: string): string {
  return `  ✗ ${code}: ${oneLine(message, 400)}`
}

/** Describes the pipeline of a session: its plans, its stages in order, its checks, and why stages were repeated. */
function pipelineLines({ plans, stages, cycles, checks, escalations }: PipelineView): readonly string[] {
  return [
    ...plans.map(({ version, planHash, approver, explanation }) => {
      const approved = approver === null ? "not approved" : `approved by ${oneLine(approver, 60)}`
      return `[PLAN ${version}] ${planHash.slice(0, 19)}…, ${approved}${appended(explanation)}`
    }),
    ...stages.map(stageLine),
    ...checks.map(checkLine),
    ...cycles.map(
      ({ from, to, count, limit, reason }) =>
        `⚠ Cycle ${count}/${limit}: ${from} → ${to} — ${firstLine(reason, 300)}`,
    ),
    // A session with --plan-only has succeeded when it has a plan.
    ...escalations
      .filter(({ exitCode }) => exitCode !== 0)
      .map(({ stage, level, reason }) => `⚠ [${stage.toUpperCase()}] ${level}: ${oneLine(reason, 300)}`),
  ]
}

function stageLine({ stage, attempt, status, message, durationMs }: SessionStage): string {
  const retry = attempt === 0 ? "" : `, Retry ${attempt}`
  const took = durationMs === null ? "" : ` (${durationText(durationMs)})`
  const mark = status === null ? "…" : status === "success" ? "✓" : status === "failed" ? "✗" : "⚠"
  return `[${stage.toUpperCase()}] ${mark} ${status ?? "open"}${retry}${took}${appended(message ?? "")}`
}

const verdictMarks = { passed: "✓", failed: "✗", inconclusive: "⚠" } as const

function checkLine({ round, criterionId, kind, verdict, reason }: CheckView): string {
  const why = verdict === "passed" ? "" : appended(reason)
  return `[CHECK ${round}] ${verdictMarks[verdict]} ${oneLine(criterionId, 60)} (${oneLine(kind, 30)}) ${verdict}${why}`
}

function appended(text: string): string {
  return text === "" ? "" : ` — ${oneLine(text, 300)}`
}
