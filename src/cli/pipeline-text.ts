import { firstLine, oneLine } from "../base/text.ts"
import type { CheckView, PipelineView, StageView } from "../domain/pipeline/pipeline-view.ts"
import { durationText } from "./format.ts"

/** What an agent session went through: its plans, its stages in order, what was checked, and why it went back. */
export function pipelineLines({
  plans,
  stages,
  cycles,
  checks,
  escalations,
}: PipelineView): readonly string[] {
  return [
    ...plans.map(({ version, planHash, approver, explanation }) => {
      const approved = approver === null ? "not approved" : `approved by ${oneLine(approver, 60)}`
      return `[PLAN ${version}] ${planHash.slice(0, 19)}…, ${approved}${noteOf(explanation)}`
    }),
    ...stages.map(stageLine),
    ...checks.map(checkLine),
    ...cycles.map(
      ({ from, to, count, limit, reason }) =>
        `⚠ Cycle ${count}/${limit}: ${from} → ${to} — ${firstLine(reason, 300)}`,
    ),
    // Whoever asked only for a plan has got it: nothing has failed.
    ...escalations
      .filter(({ exitCode }) => exitCode !== 0)
      .map(({ stage, level, reason }) => `⚠ [${stage.toUpperCase()}] ${level}: ${oneLine(reason, 300)}`),
  ]
}

function stageLine({ stage, attempt, status, message, durationMs }: StageView): string {
  const retry = attempt === 0 ? "" : `, Retry ${attempt}`
  const took = durationMs === null ? "" : ` (${durationText(durationMs)})`
  const mark = status === null ? "…" : status === "success" ? "✓" : status === "failed" ? "✗" : "⚠"
  return `[${stage.toUpperCase()}] ${mark} ${status ?? "open"}${retry}${took}${noteOf(message ?? "")}`
}

const marks = { passed: "✓", failed: "✗", inconclusive: "⚠" } as const

function checkLine({ round, criterionId, kind, verdict, reason }: CheckView): string {
  const why = verdict === "passed" ? "" : noteOf(reason)
  return `[CHECK ${round}] ${marks[verdict]} ${oneLine(criterionId, 60)} (${oneLine(kind, 30)}) ${verdict}${why}`
}

function noteOf(text: string): string {
  return text === "" ? "" : ` — ${oneLine(text, 300)}`
}
