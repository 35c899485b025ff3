import { assert } from "../base/assert.ts"
import type { Clock } from "../base/clock.ts"
import { printable } from "../base/text.ts"
import type { ApprovalAnswer } from "../domain/events/call-events.ts"
import { Failure } from "../domain/failure.ts"
import type { ApprovalDesk, ApprovalReply } from "../gate/contract.ts"
import type { ApprovalHistory, ApprovalSummary } from "../store/session/contract.ts"

/** What a person is asked, whole: exactly what will be done, also what the log leaves out because it looks secret. */
export interface ApprovalQuestion {
  readonly approval: ApprovalSummary
  /** `approve deny skip modify stop`, or fewer of them. */
  readonly options: readonly string[]
}

export interface PromptedAnswer {
  readonly answer: ApprovalAnswer
  readonly reason: string | null
}

/** Asks the person at this terminal. Gives null soon after the signal, when somebody else was faster. */
export type ApprovalPrompt = (
  question: ApprovalQuestion,
  dismissed: AbortSignal,
) => Promise<PromptedAnswer | null>

/** Calls again and again until it is told to end. */
export type Repeat = (everyMs: number, look: () => void) => () => void

export interface DeskParts {
  /** Whose questions are put here. */
  readonly sessionId: string
  readonly approvals: ApprovalHistory
  /** Whether a person sits at this terminal. */
  readonly isInteractive: boolean
  readonly prompt: ApprovalPrompt
  /** What becomes of a question that nobody here can answer. */
  readonly whenNobody: "deny" | "rest"
  /** How long a question waits for an answer; null waits for ever. */
  readonly timeoutMs: number | null
  /** For what the person at the prompt is told when it is taken from them. */
  readonly notice: (text: string) => void
  /** Who sits at this terminal. */
  readonly by: string
  readonly clock: Clock
  readonly repeat?: Repeat
}

const lookEveryMs = 100

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
      const look = () => {
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
      const endLooking = (parts.repeat ?? repeatOnTimer)(lookEveryMs, look)
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
        endLooking()
        signal?.removeEventListener("abort", stop)
        dismissal.abort()
        // The terminal is as it was before anybody else prints to it. What went wrong in the prompt is thrown already.
        await prompting.catch(() => undefined)
      }
    },
  }
}

/** Questions of this session that were left open and answered since, newest first. */
function answeredBefore({ approvals, sessionId }: DeskParts, subjectHash: string): ApprovalReply | null {
  const found = approvals
    .ofSession(sessionId)
    .find(each => each.subjectHash === subjectHash && each.usedAt === null && isAnswered(each.state))
  return found === undefined || !isAnswered(found.state) ? null : answeredReply(found, found.state)
}

function isAnswered(state: ApprovalSummary["state"]): state is ApprovalAnswer {
  return state !== "open" && state !== "expired" && state !== "abandoned"
}

/** How it was settled, and what the person at the prompt is told when it was not by them. */
interface Settlement {
  readonly reply: ApprovalReply
  readonly notice: string | null
}

/** The answer given here, unless another terminal was faster: then theirs. */
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

/** How a request that is no longer open was settled; null while it is open. */
function settlementOf(approval: ApprovalSummary, { clock }: DeskParts): Settlement | null {
  const { state, expiresAt, answeredBy } = approval
  const isExpired = expiresAt !== null && clock.now() >= Date.parse(expiresAt)
  if (state === "expired" || (state === "open" && isExpired)) return expired(approval, clock, null)
  if (state === "open") return null
  if (state === "abandoned") return stopped(approval, clock)
  const notice = `answered at another terminal by ${printable(answeredBy ?? "somebody")}: ${state}`
  return { reply: answeredReply(approval, state), notice }
}

function answeredReply(approval: ApprovalSummary, answer: ApprovalAnswer): ApprovalReply {
  const { id, subjectHash, answeredAt, answerExpiresAt, answeredBy, answerReason, usedAt } = approval
  assert(answeredAt !== null && answerExpiresAt !== null, `the answer to ${id} has its times`)
  return {
    answer,
    by: answeredBy ?? "somebody",
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

/** A clock that was set says nothing about how long it was waited. */
function expired(approval: ApprovalSummary, clock: Clock, waitedMs: number | null): Settlement {
  const reason = waitedMs === null ? "nobody answered in time" : `nobody answered within ${waitedMs / 1000} s`
  return { reply: { ...unanswered(approval, "refused", reason, clock), isExpired: true }, notice: reason }
}

function stopped(approval: ApprovalSummary, clock: Clock): Settlement {
  const reason = "it was interrupted while somebody was asked"
  return { reply: unanswered(approval, "stopped", reason, clock), notice: null }
}

/** There is no answer in the log, so this one can allow nothing. */
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
  assert(found !== null, `the request ${approvalId} is in the log before anybody is asked`)
  return found
}

function repeatOnTimer(everyMs: number, look: () => void): () => void {
  const timer = setInterval(look, everyMs)
  return () => clearInterval(timer)
}
