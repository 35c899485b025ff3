import type { ApprovalAnswer, ApprovalKind } from "../../domain/events/call-events.ts"
import type { Lane, SessionState } from "../../domain/events/session-events.ts"
import type { ProcessIdentity } from "../../domain/process-identity.ts"

/**
 * The sessions of this workspace. One session is computed from its signed events; a list is read from a projection of
 * the log, and nothing is decided by it.
 */
export interface SessionHistory {
  /** The session that was started last. By its place in the log: clocks are set back, and positions are not. */
  latest(): SessionSummary | null
  /** Only the first event of it is looked at. */
  latestId(): string | null
  /** The one that was started last comes first. `isChecked` notes each that its events say otherwise of. */
  list(filter: {
    readonly lane?: Lane
    readonly limit?: number
    readonly isChecked?: boolean
  }): readonly SessionSummary[]
  matching(typed: string): readonly string[]
  /** Throws ACODE-SEC-004 when one of its events was changed. */
  find(id: string): SessionSummary | null
  /**
   * Sessions of a lane, or of all, that have neither ended nor rested, and whose process is gone. Oldest first; one
   * whose events were changed is left out and noted.
   */
  interrupted(isAlive: (owner: ProcessIdentity) => boolean, lane?: Lane): readonly SessionSummary[]
}

export interface SessionSummary {
  readonly id: string
  readonly lane: Lane
  readonly goal: string
  readonly planId: string | null
  readonly planHash: string | null
  readonly state: SessionState
  /** Null while it runs. */
  readonly reason: string | null
  readonly exitCode: number | null
  readonly stepCount: number
  /** Steps that succeeded. */
  readonly stepsDone: number
  readonly startedAt: string
  readonly endedAt: string | null
  readonly owner: ProcessIdentity
  /** When all of its changes were restored; null again once it goes on. */
  readonly undoneAt: string | null
  /** When only some of them were, the last time it was undone; null again once it goes on. */
  readonly partlyUndoneAt: string | null
}

/**
 * Questions to people and their answers, and approvals of whole plans. All of it is computed from signed events but for
 * `list` and `matching`, by which nothing is decided.
 */
export interface ApprovalHistory {
  /**
   * Newest first, by the log; `open` alone leaves out what is answered, expired or of a session that has ended.
   * `isChecked` notes each that its events say otherwise of.
   */
  list(filter: {
    readonly open?: boolean
    readonly limit?: number
    readonly isChecked?: boolean
  }): readonly ApprovalSummary[]
  /** Ids of questions, or of approved plans. */
  matching(typed: string, of?: "questions" | "plans"): readonly string[]
  find(id: string): ApprovalSummary | null
  /** All that a session has asked, newest first. */
  ofSession(sessionId: string): readonly ApprovalSummary[]
  /** Appends the answer to a stream of its own; ACODE-APPR-002 when there is one, or can be none any more. */
  answer(answer: AnswerToApproval): ApprovalSummary
  /** Records that a person approved exactly this plan. */
  approvePlan(approval: NewPlanApproval): PlanApproval
  /** Newest first, by their positions in the log. */
  plansApproved(filter: { readonly planHash?: string; readonly planId?: string }): readonly PlanApproval[]
  findPlan(id: string): PlanApproval | null
}

export interface ApprovalSummary {
  readonly id: string
  readonly sessionId: string
  /** The call it is about; null for plans and reviews. */
  readonly callId: string | null
  readonly stepId: string | null
  readonly kind: ApprovalKind
  readonly level: number
  readonly category: string
  readonly operation: string
  /** What of the network and of the files it could touch; null in records that do not say. */
  readonly reach: string | null
  /** Parts that look like secrets are not in the record. */
  readonly isRedacted: boolean
  readonly files: readonly string[]
  readonly reason: string
  readonly rule: string
  readonly preview: string
  readonly subjectHash: string
  readonly requestedAt: string
  readonly expiresAt: string | null
  readonly state: "open" | "expired" | "abandoned" | ApprovalAnswer
  readonly answeredAt: string | null
  readonly answeredBy: string | null
  readonly answerReason: string | null
  readonly answerExpiresAt: string | null
  /** When the action it allows was begun. It allows no second one. */
  readonly usedAt: string | null
}

export interface AnswerToApproval {
  readonly approvalId: string
  readonly answer: ApprovalAnswer
  readonly by: string
  readonly via: "prompt" | "command"
  readonly reason: string | null
}

export interface NewPlanApproval {
  readonly approvalId: string
  readonly planId: string
  readonly planHash: string
  readonly approver: string
  readonly stepCount: number
  readonly expiresAt: string
  /** The approver was shown that nothing confines the commands of its steps. */
  readonly isUnconfined?: boolean
}

export interface PlanApproval extends NewPlanApproval {
  readonly isUnconfined: boolean
  readonly approvedAt: string
  /** The log has an event behind it from after its end. */
  readonly hasEnded: boolean
}
