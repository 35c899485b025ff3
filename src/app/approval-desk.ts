import { assert } from "../base/assert.ts"
import type { Clock } from "../base/clock.ts"
import { printable } from "../base/text.ts"
import type { ApprovalAnswer } from "../domain/events/call-events.ts"
import { Failure } from "../domain/failure.ts"
import type { ApprovalDesk, ApprovalReply } from "../gate/contract.ts"
import type { ApprovalHistory, ApprovalSummary } from "../store/session/contract.ts"

/** The whole question to a person: exactly what will be done, including what the log omits because it looks secret. */
export interface ApprovalQuestion {
  readonly approval: ApprovalSummary
  /** `approve deny skip modify stop`, or fewer of them. */
  readonly options: readonly string[]
}

export interface PromptedAnswer {
  readonly answer: ApprovalAnswer
  readonly reason: string | null
}

/** Asks the person at this terminal. Returns null soon after the signal, when another terminal answered first. */
export type ApprovalPrompt = (
  question: ApprovalQuestion,
  dismissed: AbortSignal,
) => Promise<PromptedAnswer | null>

/** Calls `check` at an interval until the returned function is called. */
export type Repeat = (everyMs: number, check: () => void) => () => void

export interface DeskParts {
  /** The session whose questions are asked here. */
  readonly sessionId: string
  readonly approvals: ApprovalHistory
  /** True when a person sits at this terminal. */
  readonly isInteractive: boolean
  readonly prompt: ApprovalPrompt
  /** The fate of a question when no person is at this terminal to answer it. */
  readonly whenNobody: "deny" | "rest"
  /** The time a question waits for an answer; null waits for ever. */
  readonly timeoutMs: number | null
  /** Prints why a question disappears from the prompt before the person there has answered it. */
  readonly notice: (text: string) => void
  /** The name of the user at this terminal. */
  readonly by: string
  readonly clock: Clock
  readonly repeat?: Repeat
}

const checkEveryMs = 100

/** Asks here and at every other terminal at once; the first answer counts, wherever it was given. */
export function approvalDesk(parts: DeskParts): ApprovalDesk {
  return {
    isStaffed: parts.isInteractive,
    whenNobody: parts.whenNobody,
    answeredBefore: subjectHash => answeredBefore(parts, subjectHash),
    ask: async ({ approvalId, options }, signal, whole = null) => {
      const question = { approval: { ...recorded(parts, approvalId), ...whole }, options }
      if (signal?.aborted) return stopped(question.approval, parts.clock).reply
      const waiting = Promise.withResolvers<Settlement>()
      const askedMs = parts.clock.monotonicMs()
      const dismissal = new AbortController()
      const check = () => {
        try {
          const settled = settlementOf(recorded(parts, approvalId), parts)
          const isLate = parts.clock.monotonicMs() - askedMs >= (parts.timeoutMs ?? Number.POSITIVE_INFINITY)
          if (settled !== null) waiting.resolve(settled)
          else if (isLate) waiting.resolve(expired(question.approval, parts.clock, parts.timeoutMs))
        } catch (error) {
          waiting.reject(error)
        }
      }
      const stop = () => waiting.resolve(stopped(question.approval, parts.clock))
      const endChecking = (parts.repeat ?? repeatOnTimer)(checkEveryMs, check)
      signal?.addEventListener("abort", stop)
      const prompting = parts.prompt(question, dismissal.signal).then(given => {
        if (given !== null) waiting.resolve(record(parts, approvalId, given))
      })
      prompting.catch(waiting.reject)
      try {
        const { reply, notice } = await waiting.promise
        dismissal.abort()
        await prompting
        if (notice !== null) parts.notice(notice)
        return reply
      } finally {
        endChecking()
        signal?.removeEventListener("abort", stop)
        dismissal.abort()
        // The prompt restores the terminal before anything else prints to it. An error in the prompt is thrown already.
        await prompting.catch(() => undefined)
      }
    },
  }
}

/** Returns the newest answer that was given to an open question of this session since it was asked. */
function answeredBefore({ approvals, sessionId }: DeskParts, subjectHash: string): ApprovalReply | null {
  const found = approvals
    .ofSession(sessionId)
    .find(each => each.subjectHash === subjectHash && each.usedAt === null && isAnswered(each.state))
  return found === undefined || !isAnswered(found.state) ? null : answeredReply(found, found.state)
}

function isAnswered(state: ApprovalSummary["state"]): state is ApprovalAnswer {
  return state !== "open" && state !== "expired" && state !== "abandoned"
}

/** The reply to a question, and the notice for the person at the prompt when the reply is not theirs. */
interface Settlement {
  readonly reply: ApprovalReply
  readonly notice: string | null
}

/** Records the answer given here, or returns the answer of another terminal when that came first. */
function record(parts: DeskParts, approvalId: string, given: PromptedAnswer): Settlement {
  try {
    const answered = parts.approvals.answer({ approvalId, ...given, by: parts.by, via: "prompt" })
    return { reply: answeredReply(answered, given.answer), notice: null }
  } catch (error) {
    if (!(error instanceof Failure) || error.report.code !== "ACODE-APPR-002") throw error
    const settled = settlementOf(recorded(parts, approvalId), parts)
    if (settled === null) throw error
    return settled
  }
}

/** Returns the settlement of a request that is no longer open; null while it is open. */
function settlementOf(approval: ApprovalSummary, { clock }: DeskParts): Settlement | null {
  const { state, expiresAt, answeredBy } = approval
  const isExpired = expiresAt !== null && clock.now() >= Date.parse(expiresAt)
  if (state === "expired" || (state === "open" && isExpired)) return expired(approval, clock, null)
  if (state === "open") return null
  if (state === "abandoned") return stopped(approval, clock)
  const notice = `answered at another terminal by ${printable(answeredBy ?? "unknown")}: ${state}`
  return { reply: answeredReply(approval, state), notice }
}

function answeredReply(approval: ApprovalSummary, answer: ApprovalAnswer): ApprovalReply {
  const { id, subjectHash, answeredAt, answerExpiresAt, answeredBy, answerReason, usedAt } = approval
  assert(answeredAt !== null && answerExpiresAt !== null, `the answer to ${id} has its times`)
  return {
    answer,
    by: answeredBy ?? "unknown",
    reason: answerReason,
    approval: {
      id,
      subjectHash,
      answer: answer === "granted" ? "granted" : "refused",
      answeredAt: Date.parse(answeredAt),
      expiresAt: Date.parse(answerExpiresAt),
      usedAt: usedAt === null ? null : Date.parse(usedAt),
    },
  }
}

/** Settles a question without an answer. `waitedMs` is null where a changed clock makes the time unknown. */
function expired(approval: ApprovalSummary, clock: Clock, waitedMs: number | null): Settlement {
  const reason = waitedMs === null ? "no answer in time" : `no answer within ${waitedMs / 1000} s`
  return { reply: { ...unanswered(approval, "refused", reason, clock), isExpired: true }, notice: reason }
}

function stopped(approval: ApprovalSummary, clock: Clock): Settlement {
  const reason = "interrupted while waiting for an answer"
  return { reply: unanswered(approval, "stopped", reason, clock), notice: null }
}

/** Returns a reply without an answer in the log, which therefore never allows anything. */
function unanswered(
  { id, subjectHash }: ApprovalSummary,
  answer: "refused" | "stopped",
  reason: string,
  clock: Clock,
): ApprovalReply {
  const now = clock.now()
  const approval = {
    id,
    subjectHash,
    answer: "refused",
    answeredAt: now,
    expiresAt: now,
    usedAt: null,
  } as const
  return { answer, by: "nobody", reason, approval }
}

function recorded({ approvals }: DeskParts, approvalId: string): ApprovalSummary {
  const found = approvals.find(approvalId)
  assert(found !== null, `the request ${approvalId} is in the log before a person is asked`)
  return found
}

function repeatOnTimer(everyMs: number, check: () => void): () => void {
  const timer = setInterval(check, everyMs)
  return () => clearInterval(timer)
}
