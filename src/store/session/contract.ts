import type { ApprovalAnswer, ApprovalKind } from "../../domain/events/call-events.ts"
import type { Lane, SessionState } from "../../domain/events/session-events.ts"
import type { ProcessIdentity } from "../../domain/process-identity.ts"

/**
 * The sessions of this workspace. A single session is computed from its signed events; a list is read from a projection
 * of the log, and decides nothing.
 */
export interface SessionHistory {
  /** Returns the session that started last, by its position in the log: a clock can be set back, positions cannot. */
  latest(): SessionSummary | null
  /** Returns the id of the session that started last. Reads only the first event of that session. */
  latestId(): string | null
  /** Returns sessions, the one that started last first. `isChecked` notes each row that differs from its events. */
  list(filter: {
    readonly lane?: Lane
    readonly limit?: number
    readonly isChecked?: boolean
  }): readonly SessionSummary[]
  /** Returns the ids that begin or end with `typed`. */
  matching(typed: string): readonly string[]
  /** Returns a session; null if there is none. Throws ACODE-SEC-004 if one of its events was changed. */
  find(id: string): SessionSummary | null
  /**
   * Returns the sessions of a lane, or of all, that have neither ended nor rested and whose process is dead. Oldest
   * first; a session whose events were changed is left out and noted.
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
  /** The reason why it ended or rests; null while it runs. */
  readonly reason: string | null
  readonly exitCode: number | null
  readonly stepCount: number
  /** Steps that succeeded. */
  readonly stepsDone: number
  readonly startedAt: string
  readonly endedAt: string | null
  readonly owner: ProcessIdentity
  /** The time when all of its changes were restored; null again once it is resumed. */
  readonly undoneAt: string | null
  /** The time when some of its changes were last restored and others not; null again once it is resumed. */
  readonly partlyUndoneAt: string | null
}

/**
 * Questions to people and their answers, and approvals of whole plans. Everything is computed from signed events,
 * except `list` and `matching`, which decide nothing.
 */
export interface ApprovalHistory {
  /**
   * Returns questions, newest first by the log; `open` leaves out those that are answered, expired or of a session that
   * has ended. `isChecked` notes each row that differs from its events.
   */
  list(filter: {
    readonly open?: boolean
    readonly limit?: number
    readonly isChecked?: boolean
  }): readonly ApprovalSummary[]
  /** Returns the ids of questions, or of approved plans, that begin or end with `typed`. */
  matching(typed: string, of?: "questions" | "plans"): readonly string[]
  find(id: string): ApprovalSummary | null
  /** Returns the questions of a session, newest first. */
  ofSession(sessionId: string): readonly ApprovalSummary[]
  /**
   * Appends the answer to a stream of its own. Throws ACODE-APPR-002 if there is an answer, or the question is closed.
   */
  answer(answer: AnswerToApproval): ApprovalSummary
  /** Records that a person approved exactly this plan. */
  approvePlan(approval: NewPlanApproval): PlanApproval
  /** Ends the approval of a plan. Throws ACODE-APPR-001 if there is none, ACODE-APPR-002 if it has ended. */
  revokePlan(revocation: NewPlanRevocation): PlanApproval
  /** Returns approvals of plans, newest first by the log. */
  plansApproved(filter: { readonly planHash?: string; readonly planId?: string }): readonly PlanApproval[]
  findPlan(id: string): PlanApproval | null
  /** Returns the revocation of the approval of a plan, from its own events alone; null if there is none. */
  revocationOf(id: string): PlanApproval["revoked"]
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
  /** The parts of the network and of the file system that it could reach; null in records without it. */
  readonly reach: string | null
  /** True if the record lacks parts that look like secrets. */
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
  /** The time when the action that it allows was started. It allows no second one. */
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
  /** True if the approver was shown that nothing confines the commands of its steps. */
  readonly isUnconfined?: boolean
}

export interface NewPlanRevocation {
  readonly approvalId: string
  readonly by: string
  readonly reason: string | null
}

export interface PlanApproval extends NewPlanApproval {
  readonly isUnconfined: boolean
  readonly approvedAt: string
  /** Null unless a person ended it. */
  readonly revoked: { readonly at: string; readonly by: string; readonly reason: string | null } | null
  /** True if a later event of the log has a time after its end. */
  readonly hasEnded: boolean
}
