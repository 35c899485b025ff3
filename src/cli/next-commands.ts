import { shellQuoted } from "../base/text.ts"
import type { Lane, SessionState } from "../domain/session-events.ts"
import { shortId } from "./format.ts"

interface NextStand {
  readonly lane: Lane
  readonly openApproval: string | null
  readonly isDriven: boolean
  /** What a resume has to be given; null when nothing. */
  readonly repliesFlag: string | null
}

/** What a person types next, the likeliest first. */
export function nextCommands(
  id: string,
  state: SessionState,
  { lane, openApproval, isDriven, repliesFlag }: NextStand,
): readonly string[] {
  const short = shellQuoted(shortId(id))
  const answer = openApproval === null ? [] : [`acode approve ${shortId(openApproval)}`]
  if (state === "COMPLETED" || state === "FAILED" || state === "CANCELLED")
    return [`acode session show ${short}`, `acode session undo ${short}`]
  // Nobody pauses, cancels or resumes a plan run from elsewhere.
  if (lane === "plan") return [...answer, `acode session show ${short}`]
  if (isDriven) return [...answer, `acode pause ${short}`, `acode cancel ${short}`]
  const resume = `acode resume ${short}${repliesFlag === null ? "" : ` ${repliesFlag}`}`
  return [...answer, resume, `acode session show ${short}`, `acode cancel ${short}`]
}
