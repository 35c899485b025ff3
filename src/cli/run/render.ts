import type * as z from "zod/mini"
import { counted, firstLine, oneLine } from "../../base/text.ts"
import {
  ApprovalAnswered,
  ApprovalRequested,
  ToolCallRequested,
  ToolCallSettled,
} from "../../domain/events/call-events.ts"
import type { EventDefinition, NewEvent } from "../../domain/events/definition.ts"
import {
  CheckFinished,
  CycleStarted,
  EscalationRaised,
  PlanProposed,
  RequestAdded,
  SessionResumed,
  StageEntered,
  StageFinished,
  StageProgressed,
  StepRefused,
  TransitionRefused,
} from "../../domain/events/pipeline-events.ts"
import {
  PlanApproved,
  SessionFinished,
  SessionRested,
  SessionStarted,
  StepFinished,
  StepStarted,
} from "../../domain/events/session-events.ts"
import { TurnFinished } from "../../domain/events/turn-events.ts"
import { isTooLong, retriesAllowed } from "../../domain/pipeline/retry.ts"
import { readReview } from "../../domain/pipeline/review.ts"
import type { Rest } from "../../domain/pipeline/state.ts"
import { planLines } from "../../domain/plan/listing.ts"
import { readPlan } from "../../domain/plan/reading.ts"
import type { SessionEvent } from "../../domain/session/session-view.ts"
import type { Stage } from "../../domain/stage.ts"
import type { RecordedJson } from "../../domain/tool-call.ts"
import type { Paint } from "../output.ts"
import { answerLines, durationText, shortId } from "../render/format.ts"
import { aboutSession, nextCommands } from "../render/next-commands.ts"
import { modelLines, type Prices, usageLines } from "../render/usage-text.ts"
import { resultLines, subjectText, textLines } from "./call-lines.ts"
import { afterEvent, nothingSeen, type RunProgress } from "./progress.ts"

export interface RunStyle {
  readonly paint: Paint
  readonly verbose: boolean
  /** True to print only how the session ended. */
  readonly quiet: boolean
  readonly prices: Prices
  /** The flag and file of scripted replies, which `resume` needs again; null without one. */
  readonly replies: string | null
}

/** Returns the lines to print for each event of a session, in order. */
export interface RunRenderer {
  render(sessionId: string, event: SessionEvent): readonly string[]
}

/** Returns a renderer. The events in `seen` are not printed, but steps and cycles are counted from them. */
export function runRenderer(style: RunStyle, seen: readonly SessionEvent[]): RunRenderer {
  let progress = seen.reduce(afterEvent, nothingSeen)
  return {
    render: (sessionId, event) => {
      progress = afterEvent(progress, event)
      if (event.type === SessionFinished.type || event.type === SessionRested.type)
        return endLines(sessionId, event.data, { ...progress, ...repliesOf(style, progress) }, style)
      return style.quiet ? [] : (renderers.get(event.type)?.({ event, progress, ...style }) ?? [])
    },
  }
}

/** Returns the flag for replies with the file of this process; a session that is only shown has no known file. */
function repliesOf({ replies }: RunStyle, { repliesFlag }: RunProgress): Pick<RunProgress, "repliesFlag"> {
  return { repliesFlag: repliesFlag === null ? null : (replies ?? repliesFlag) }
}

interface EventContext extends RunStyle {
  readonly event: SessionEvent
  /** The progress after this event. */
  readonly progress: RunProgress
}

type EventRenderer = (context: EventContext) => readonly string[]

const renderers: ReadonlyMap<string, EventRenderer> = new Map([
  on(SessionStarted, ({ goal, agent }, { paint }) => [
    `[SESSION] ${oneLine(goal, 200)}`,
    ...modelLines(agent?.selection ?? null).map(line => paint.dim(`  ${line}`)),
  ]),
  on(SessionResumed, ({ by, settings, skipsFailed, redoesCommand }, { progress, paint }) => [
    `[SESSION] continues${skipsFailed ? " without the steps that failed" : ""}${redoesCommand ? " with its interrupted command" : ""}, resumed by ${oneLine(by, 60)}: ${oneLine(progress.goal, 200)}`,
    ...modelLines(settings.selection).map(line => paint.dim(`  ${line}`)),
  ]),
  on(RequestAdded, ({ by, text }) => [`[SESSION] ${oneLine(by, 60)} adds: ${oneLine(text, 200)}`]),
  on(StageEntered, ({ stage, attempt, planVersion, checks, feedback }, { progress, paint, verbose }) => {
    const retry = attempt === 0 ? "" : ` — Retry ${attempt}/${progress.limits?.stageRetriesMax[stage] ?? "?"}`
    const reasons = verbose ? feedback.map(each => paint.dim(`    ${oneLine(each, 300)}`)) : []
    return [`${tag(stage)} ${beginning(stage, planVersion, checks.length, progress)}${retry}`, ...reasons]
  }),
  on(StageProgressed, ({ stage, message, fraction }) => {
    const share = fraction === null ? "" : ` (${Math.round(fraction * 100)} %)`
    return [`${tag(stage)} ${oneLine(message, 300)}${share}`]
  }),
  on(PlanProposed, ({ version, explanation, plan }, { paint }) => {
    const change = explanation === "" ? "" : `: ${oneLine(explanation, 300)}`
    return [`${tag("planner")} plan version ${version}${change}`, ...proposedLines(plan, paint)]
  }),
  on(PlanApproved, ({ approver }, { paint }) => [
    `${tag("planner")} ${paint.green("✓")} plan approved by ${oneLine(approver, 60)}`,
  ]),
  on(TurnFinished, (turn, { progress, paint, verbose }) => [
    ...(verbose ? textLines(turn.text, paint) : []),
    ...turnLines(turn, progress, tag(turn.stage)),
  ]),
  on(StepStarted, ({ stepId, title, index }, { progress }) => {
    const name = title === "" || title === stepId ? stepId : `${stepId}: ${title}`
    return [`${tag("executor")} step ${index + 1}/${progress.stepCount} ${oneLine(name, 120)}`]
  }),
  on(StepFinished, ({ stepId, index, success, code, message, durationMs }, { progress, paint }) => {
    const mark = success ? (message === null ? paint.green("✓") : "⚠") : paint.red("✗")
    const why = message === null ? "" : ` — ${code === null ? "" : `${code}: `}${oneLine(message, 300)}`
    const place = `step ${index + 1}/${progress.stepCount} ${oneLine(stepId, 60)}`
    return [`${tag("executor")} ${mark} ${place} (${durationText(durationMs)})${why}`]
  }),
  on(StepRefused, ({ reason }) => [`  ⚠ not finished: ${oneLine(reason, 300)}`]),
  on(ToolCallRequested, ({ tool, arguments: args }) => [
    `  [tool:${oneLine(tool, 40)}] ${subjectText(args)}`.trimEnd(),
  ]),
  on(ToolCallSettled, (settled, { paint, verbose }) => resultLines(settled, paint, verbose)),
  on(ApprovalRequested, ({ approvalId, operation, level }) => [
    `  ⚠ approval ${shortId(approvalId)}, level ${level}: ${oneLine(operation, 200)}`,
  ]),
  on(ApprovalAnswered, ({ approvalId, answer, by, reason }) => {
    const why = reason === null ? "" : `: ${oneLine(reason, 200)}`
    return [`  approval ${shortId(approvalId)} ${answer} by ${oneLine(by, 60)}${why}`]
  }),
  on(CheckFinished, ({ criterionId, kind, verdict, reason }, { paint }) => {
    const mark = { passed: paint.green("✓"), failed: paint.red("✗"), inconclusive: "⚠" }[verdict]
    const name = `${tag("verifier")} ${mark} ${oneLine(criterionId, 60)} (${oneLine(kind, 30)})`
    if (verdict === "passed") return [name]
    const [first = "", ...output] = reason.split("\n").filter(line => line.trim() !== "")
    return [
      `${name} — ${verdict}: ${oneLine(first, 300)}`,
      ...failureLines(output).map(line => paint.dim(`    ${oneLine(line, 200)}`)),
    ]
  }),
  on(CycleStarted, ({ from, to, count, limit, reason }) => [
    `⚠ Cycle ${count}/${limit}: ${from} → ${to} — ${firstLine(reason, 300)}`,
  ]),
  on(StageFinished, ({ stage, status, message, durationMs }, { paint, progress }) => {
    const mark = status === "success" ? paint.green("✓") : isEnd(status) ? paint.red("✗") : "⚠"
    // The reason is in the line before, and in the last line of the session.
    const text = message === progress.escalation?.reason ? "not finished" : firstLine(message, 300)
    return [`${tag(stage)} ${mark} ${text} (${durationText(durationMs)})`]
  }),
  on(TransitionRefused, ({ from, to, reason }, { paint }) => [
    `${tag(from)} ${paint.red("✗")} does not move to ${to}: ${oneLine(reason, 300)}`,
  ]),
  on(EscalationRaised, ({ stage, reason, exitCode }) =>
    exitCode === 0 ? [] : [`${tag(stage)} ⚠ stopped: ${firstLine(reason, 300)}`],
  ),
])

const outputLinesMax = 8

/** Returns the lines of a check's output that report the failure, else the last ones; `session logs` prints all. */
function failureLines(output: readonly string[]): readonly string[] {
  const failing = output.filter(line =>
    /\b(?:not ok|fail\w*|error\w*|expected|actual|panic\w*)\b/i.test(line),
  )
  return failing.length === 0 ? output.slice(-outputLinesMax) : failing.slice(0, outputLinesMax)
}

function on<Definition extends EventDefinition>(
  definition: Definition,
  render: (data: z.infer<Definition["data"]>, context: EventContext) => readonly string[],
): readonly [string, EventRenderer] {
  // as: the type of an event decides the shape of its data; nothing is in the log that was not parsed with it.
  return [definition.type, context => render(context.event.data as z.infer<Definition["data"]>, context)]
}

const proposedLinesMax = 60

/** Returns the proposed plan in the order of its steps, shortened when it is long. */
function proposedLines(recorded: RecordedJson, paint: Paint): readonly string[] {
  if (recorded.kind === "artifact") return [paint.dim("    a long plan: the approval prompt shows all of it")]
  const reading = readPlan(JSON.stringify(recorded.value), { check: () => [] })
  if (!("plan" in reading)) return []
  const lines = planLines(reading.plan).filter(line => line !== "")
  const more = lines.length - proposedLinesMax
  return [
    ...lines.slice(0, proposedLinesMax),
    ...(more > 0 ? [`… ${more} more lines: the approval prompt shows all of it`] : []),
  ].map(line => paint.dim(`    ${line}`))
}

function tag(stage: Stage): string {
  return `[${stage.toUpperCase()}]`
}

function beginning(stage: Stage, planVersion: number, checks: number, { stepCount }: RunProgress): string {
  switch (stage) {
    case "planner":
      return planVersion === 0 ? "makes a plan" : "makes another plan"
    case "executor":
      return `works on plan version ${planVersion}, ${counted(stepCount, "step", "steps")}`
    case "verifier":
      return checks === 0 ? "has nothing to check" : `checks ${counted(checks, "criterion", "criteria")}`
    case "reviewer":
      return "reviews the work"
  }
}

function isEnd(status: "failed" | "retry" | "cycle" | "timeout"): boolean {
  return status === "failed" || status === "timeout"
}

const refusedMax = 20

/** Returns the last lines of a session: how it ended, the exit code, refused calls, and the next commands. */
function endLines(
  sessionId: string,
  data: unknown,
  progress: RunProgress,
  { paint, prices }: { readonly paint: Paint; readonly prices: Prices },
): readonly string[] {
  const { refused, openApprovals, usage, repliesFlag, hasChanges, escalation } = progress
  // as: both events of an end carry these fields, and nothing is in the log that was not parsed.
  const { state, reason, exitCode, code, unverified, answer } = data as Rest & {
    readonly answer?: string
    readonly code?: string
  }
  const isOver = state === "FAILED" || state === "CANCELLED"
  const mark = exitCode === 0 ? paint.green("✓") : isOver ? paint.red("✗") : "⚠"
  const next = nextCommands(sessionId, state, {
    openApproval: [...openApprovals.keys()].at(-1) ?? null,
    lane: "agent",
    isDriven: false,
    repliesFlag,
    hasChanges,
  })
  const advised = escalation !== null && reason === `${escalation.reason}; ${escalation.advice}`
  const named = (text: string) => oneLine(aboutSession(text, sessionId, repliesFlag), 1000)
  return [
    ...(answer === undefined ? [] : ["", ...answerLines(answer), ""]),
    `${mark} ${state} (exit ${exitCode}): ${named(advised ? escalation.reason : reason)}${code === undefined ? "" : ` (${code})`}`,
    ...(advised ? [`→ ${named(escalation.advice)}`] : []),
    ...(unverified && state === "COMPLETED" && exitCode === 0 && answer === undefined
      ? ["⚠ the result is not verified"]
      : []),
    ...refused.slice(0, refusedMax).map(each => `⚠ refused: ${oneLine(each, 300)}`),
    ...(refused.length > refusedMax ? [`⚠ and ${refused.length - refusedMax} more were refused`] : []),
    ...usageLines(usage, prices).map(line => paint.dim(line)),
    paint.dim(`session ${sessionId}`),
    paint.dim(`next: ${next.join("  ·  ")}`),
  ]
}

type FinishedTurn = NewEvent<typeof TurnFinished>["data"]

const findingsMax = 20

/** Describes a model's turn without its text: a failure and its retry, or the verdict of a reviewer. */
function turnLines(turn: FinishedTurn, progress: RunProgress, tag: string): readonly string[] {
  const { failure, problems, stage } = turn
  const { limits, vainTurns } = progress
  if (failure !== null) {
    const again = failure.retryable ? failedText(failure.kind, progress) : ""
    return [`${tag} ⚠ the model did not answer: ${oneLine(failure.message, 300)} (${failure.kind})${again}`]
  }
  if (problems.length > 0) {
    const again = retryText(vainTurns.useless, limits?.stageRetriesMax[stage])
    return [`${tag} ⚠ the model's reply is not valid: ${oneLine(problems.join("; "), 500)}${again}`]
  }
  return stage === "reviewer" ? reviewLines(turn, tag) : []
}

function failedText(kind: string, { limits, vainTurns }: RunProgress): string {
  const count = isTooLong(kind) ? vainTurns.tooLong : vainTurns.unanswered
  return limits === null ? "" : retryText(count, retriesAllowed(limits, kind))
}

/** Returns the number of the next try; empty when there is none. */
function retryText(count: number, max: number | undefined): string {
  return max === undefined || count > max ? "" : ` — Retry ${count}/${max}`
}

function reviewLines({ output }: FinishedTurn, tag: string): readonly string[] {
  const review = output?.kind === "inline" ? readReview(output.value) : null
  if (review === null) return []
  const { decision, summary, findings } = review
  const shown = findings.slice(0, findingsMax).map(({ severity, file, line, text }) => {
    const place = file == null ? "" : ` ${oneLine(file, 200)}${line == null ? "" : `:${line}`}`
    return `  ${severity === "minor" ? "·" : "⚠"} ${severity}${place}: ${oneLine(text, 300)}`
  })
  return [`${tag} ${decision}: ${oneLine(summary, 300)}`, ...shown]
}
