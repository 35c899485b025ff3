import type { AppService } from "../../app/service.ts"
import { shellQuoted } from "../../base/text.ts"
import type { Lane, SessionState } from "../../domain/events/session-events.ts"
import { Failure } from "../../domain/failure.ts"
import { repliesFlag } from "../../models/recorded.ts"
import { shortId } from "./format.ts"

export interface NextStand {
  readonly lane: Lane
  readonly openApproval: string | null
  readonly isDriven: boolean
  /** The flag for replies that `resume` needs; null when it needs none. */
  readonly repliesFlag: string | null
  /** True when there are changes to undo. */
  readonly hasChanges: boolean
}

/** Returns the commands that a person may type next, the most likely first. */
export function nextCommands(id: string, state: SessionState, stand: NextStand): readonly string[] {
  const { lane, openApproval, isDriven, hasChanges } = stand
  const short = shellQuoted(shortId(id))
  const answer = openApproval === null ? [] : [`acode approve ${shortId(openApproval)}`]
  if (state === "COMPLETED" || state === "FAILED" || state === "CANCELLED")
    return [`acode session show ${short}`, ...(hasChanges ? [`acode session undo ${short}`] : [])]
  if (lane === "skill")
    return isDriven
      ? [`acode session show ${short}`]
      : ["acode agent run --pending", `acode session show ${short}`]
  // A plan run cannot be paused, cancelled or resumed by another process.
  if (lane === "plan") return [...answer, `acode session show ${short}`]
  if (isDriven) return [...answer, `acode pause ${short}`, `acode cancel ${short}`]
  const resume = `acode resume ${short}${stand.repliesFlag === null ? "" : ` ${stand.repliesFlag}`}`
  return [...answer, resume, `acode session show ${short}`, `acode cancel ${short}`]
}

/**
 * Adds the session's id to the commands in a recorded text: without an id they mean the latest session. Also adds the
 * flag for scripted replies to `resume`, which needs it again.
 */
export function aboutSession(text: string, id: string, neededReplies: string | null): string {
  const short = shellQuoted(shortId(id))
  return text.replace(
    /`acode (resume|session show|session undo|session logs|cancel)((?: --[^`]*)?)`/g,
    (_, verb, flags) => {
      const isAsked = verb === "resume" && neededReplies !== null && !flags.includes("--model")
      return `\`acode ${verb} ${short}${flags}${isAsked ? ` ${neededReplies}` : ""}\``
    },
  )
}

/** Returns the failure with its session named in the commands of its hint. */
export async function namingSession(failure: Failure, service: AppService): Promise<Failure> {
  const { where = "", hint } = failure.report
  if (hint === undefined) return failure
  try {
    const state = await service.agentState(where)
    const replies = state === null ? null : repliesFlag(state.settings.selection)
    return new Failure({ ...failure.report, hint: aboutSession(hint, where, replies) }, { cause: failure })
  } catch (error) {
    // The failure may be that the session cannot be read: its own hint is better then.
    if (error instanceof Failure) return failure
    throw error
  }
}
