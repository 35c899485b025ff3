import { oneLine } from "../base/text.ts"
import type { Rest } from "../domain/pipeline/state.ts"
import { answerLines } from "./format.ts"
import { aboutSession, nextCommands } from "./next-commands.ts"
import type { Paint } from "./output.ts"
import type { RunProgress } from "./run-progress.ts"
import { type Prices, usageLines } from "./usage-text.ts"

const refusedMax = 20

/** How it ended, with which exit code, what was not allowed, and what to type next. */
export function endLines(
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
    ...{ lane: "agent", isDriven: false, repliesFlag, hasChanges },
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
