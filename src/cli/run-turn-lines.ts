import { oneLine } from "../base/text.ts"
import type { NewEvent } from "../domain/event-definition.ts"
import { isTooLong, retriesAllowed } from "../domain/pipeline/failed-turn.ts"
import { readReview } from "../domain/pipeline/review.ts"
import type { TurnFinished } from "../domain/pipeline/turn-events.ts"
import type { RunProgress } from "./run-progress.ts"

type FinishedTurn = NewEvent<typeof TurnFinished>["data"]

const findingsMax = 20

/** What a person is told of a reply without its text: that it failed and is tried again, or what a reviewer says. */
export function turnLines(turn: FinishedTurn, progress: RunProgress, tag: string): readonly string[] {
  const { failure, problems, stage } = turn
  const { limits, vainTurns } = progress
  if (failure !== null) {
    const again = failure.retryable ? failedText(failure.kind, progress) : ""
    return [`${tag} ⚠ the model did not answer: ${oneLine(failure.message, 300)} (${failure.kind})${again}`]
  }
  if (problems.length > 0) {
    const again = retryText(vainTurns.useless, limits?.stageRetriesMax[stage])
    return [`${tag} ⚠ the answer is of no use: ${oneLine(problems.join("; "), 500)}${again}`]
  }
  return stage === "reviewer" ? reviewLines(turn, tag) : []
}

function failedText(kind: string, { limits, vainTurns }: RunProgress): string {
  const count = isTooLong(kind) ? vainTurns.tooLong : vainTurns.unanswered
  return limits === null ? "" : retryText(count, retriesAllowed(limits, kind))
}

/** Said only while there is another try. */
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
