import { shellQuoted } from "../base/text.ts"
import type { Lane, SessionState } from "../domain/session-events.ts"
import { shortId } from "./format.ts"

export interface NextStand {
  readonly lane: Lane
  readonly openApproval: string | null
  readonly isDriven: boolean
  /** What a resume has to be given; null when nothing. */
  readonly repliesFlag: string | null
  /** Whether there is anything to undo. */
  readonly hasChanges: boolean
}

/** What a person types next, the likeliest first. */
export function nextCommands(id: string, state: SessionState, stand: NextStand): readonly string[] {
  const { lane, openApproval, isDriven, hasChanges } = stand
  const short = shellQuoted(shortId(id))
  const answer = openApproval === null ? [] : [`acode approve ${shortId(openApproval)}`]
  if (state === "COMPLETED" || state === "FAILED" || state === "CANCELLED")
    return [`acode session show ${short}`, ...(hasChanges ? [`acode session undo ${short}`] : [])]
  // Nobody pauses, cancels or resumes a plan run from elsewhere.
  if (lane === "plan") return [...answer, `acode session show ${short}`]
  if (isDriven) return [...answer, `acode pause ${short}`, `acode cancel ${short}`]
  return [...answer, resumeCommand(id, stand), `acode session show ${short}`, `acode cancel ${short}`]
}

/** How this session, and no other one, goes on. */
export function resumeCommand(id: string, { repliesFlag }: Pick<NextStand, "repliesFlag">): string {
  return `acode resume ${shellQuoted(shortId(id))}${repliesFlag === null ? "" : ` ${repliesFlag}`}`
}
