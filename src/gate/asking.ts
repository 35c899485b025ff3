import { canonicalJson } from "../base/canonical.ts"
import { toIso } from "../base/clock.ts"
import { type ApprovalSubject, approvalHash, approvalUse } from "../domain/approval.ts"
import { type Decision, reachOf } from "../domain/effect.ts"
import { ApprovalAnswered, ApprovalRequested } from "../domain/events/call-events.ts"
import { type NewEvent, newEvent } from "../domain/events/definition.ts"
import type { CallError } from "../domain/tool-call.ts"
import type { DeclaredCall, PreparedCall } from "../tools/contract.ts"
import type { ApprovalReply, CallRequest, GateParts, WholeQuestion } from "./contract.ts"
import { type CallEnding, failedBy, notDone } from "./outcome.ts"
import { recordQuestion } from "./recorded.ts"

export interface CallQuestion {
  readonly callId: string
  readonly request: CallRequest
  readonly declared: DeclaredCall
  readonly prepared: PreparedCall
  readonly decision: Decision
}

export type ApprovalOutcome =
  | {
      readonly kind: "granted"
      readonly approvalId: string
      readonly prepared: PreparedCall
      /** The events to commit with the intent. */
      readonly events: readonly NewEvent[]
    }
  /** `events` are to be committed with the outcome. */
  | { readonly kind: "ended"; readonly ending: CallEnding; readonly events: readonly NewEvent[] }

/**
 * Asks the user. Only what the user saw is done: after the answer the change is computed again, and the approval
 * covers it only if nothing differs.
 */
export async function askPerson(
  parts: GateParts,
  question: CallQuestion,
  opening: readonly NewEvent[],
): Promise<ApprovalOutcome> {
  const { request, declared, prepared } = question
  const before = parts.approvals.answeredBefore(approvalHash(subjectOf(parts, prepared, question)))
  if (before !== null) return await useAnswer(parts, question, before, opening)
  const data = requestOf(parts, question)
  const asked = newEvent(ApprovalRequested, data)
  if (!parts.approvals.isStaffed) {
    if (parts.approvals.whenNobody === "rest") return left(declared.operation, [...opening, asked])
    const ending = notDone("refused", "refused", nobodyThere(declared.operation))
    return {
      kind: "ended",
      ending,
      events: [...opening, asked, unanswered(parts, data.approvalId, "no user can answer")],
    }
  }
  parts.log.append([...opening, asked])
  parts.faults.reach("gate.asked")
  try {
    const reply = await parts.approvals.ask(data, request.signal, wholeOf(question))
    if (reply.isExpired === true && parts.approvals.whenNobody === "rest") return left(declared.operation, [])
    // An answer by expiry is not in the stream of the question, so it is recorded here.
    const late = reply.isExpired === true ? [unanswered(parts, data.approvalId, reply.reason)] : []
    return await useAnswer(parts, question, reply, late)
  } catch (error) {
    // The question is in the log already: the end of the call must not record it a second time.
    return { kind: "ended", ending: failedBy(error, "notDone"), events: [] }
  }
}

/** Makes exactly what the answer covers: the change is computed once more and compared. */
async function useAnswer(
  parts: GateParts,
  question: CallQuestion,
  reply: ApprovalReply,
  events: readonly NewEvent[],
): Promise<ApprovalOutcome> {
  const { declared } = question
  if (reply.answer !== "granted") return { kind: "ended", ending: refusal(reply, declared.operation), events }
  const again = await declared.prepare()
  const use = approvalUse(reply.approval, subjectOf(parts, again, question), parts.clock.now())
  if (use.usable) return { kind: "granted", approvalId: reply.approval.id, prepared: again, events }
  return { kind: "ended", ending: notDone("refused", "refused", stale(use.reason, declared)), events }
}

function wholeOf({ declared, prepared, decision }: CallQuestion): WholeQuestion {
  return {
    operation: declared.operation,
    reach: reachOf(declared.effects),
    files: prepared.targets.map(({ path }) => path),
    reason: isConfirmation(decision) ? "the plan asks for confirmation of this step" : decision.reason,
    preview: prepared.whole ?? prepared.preview,
  }
}

function isConfirmation({ decision }: Decision): boolean {
  return decision !== "ask"
}

/** Leaves the question open: the call was not made, and is made again once there is an answer. */
function left(operation: string, events: readonly NewEvent[]): ApprovalOutcome {
  const error: CallError = {
    code: "ACODE-EXEC-005",
    message: `waiting for approval: ${operation}`,
    where: null,
    hint: "`acode approvals list` prints open questions; answer, then resume",
  }
  return { kind: "ended", ending: notDone("interrupted", "awaiting", error), events }
}

function requestOf(parts: GateParts, question: CallQuestion) {
  const { callId, request, prepared, decision } = question
  const isAskedByPlan = isConfirmation(decision)
  return {
    approvalId: parts.ids.next("apr"),
    sessionId: parts.log.sessionId,
    callId,
    stepId: request.origin.stepId,
    kind: isAskedByPlan ? ("confirmation" as const) : ("action" as const),
    category: decision.category,
    level: decision.level,
    ...recordQuestion(wholeOf(question), prepared.preview, parts.redactor, parts.artifacts),
    rule: isAskedByPlan ? "plan.requires_confirmation" : decision.rule,
    subjectHash: approvalHash(subjectOf(parts, prepared, question)),
    // The desk measures the wait with a clock that cannot be set; when it ends, the answer is one by expiry.
    expiresAt: null,
    options: request.isGrantedAsWritten
      ? ["approve", "deny", "stop"]
      : ["approve", "deny", "skip", "modify", "stop"],
  }
}

/**
 * Returns what an approval is bound to. The identity of the call is part of it: an approval of one call does not
 * cover the next, however alike. A call of a model has the id that the model gave it, because it may be made only
 * after a rest.
 */
function subjectOf(
  parts: GateParts,
  { subject, targets }: PreparedCall,
  { callId, request: { tool, arguments: given, origin, askedAs } }: CallQuestion,
): ApprovalSubject {
  const byModel = origin.modelCallId === null ? null : `${origin.stepId ?? ""}/${origin.modelCallId}`
  const asked = byModel ?? askedAs ?? callId
  return {
    argv: [parts.log.sessionId, asked, ...subject.argv],
    cwd: subject.cwd,
    environment: subject.environment,
    call: { tool, argsDigest: parts.fingerprint(canonicalJson(given)) },
    isConfined: parts.room.hasSandbox,
    ...(subject.network === undefined ? {} : { network: subject.network }),
    policyVersion: parts.policyVersion,
    target: targets.length === 0 ? { kind: "none" } : { kind: "files", changes: targets },
  }
}

function unanswered(parts: GateParts, approvalId: string, reason: string | null): NewEvent {
  return newEvent(ApprovalAnswered, {
    approvalId,
    answer: "refused",
    by: "nobody",
    via: "nobody",
    reason,
    expiresAt: toIso(parts.clock.now()),
  })
}

function nobodyThere(operation: string): CallError {
  return {
    code: "ACODE-EXEC-005",
    message: `no user can approve: ${operation}`,
    where: null,
    hint: "run it at a terminal, or grant it beforehand",
  }
}

function refusal({ answer, by, reason, isExpired }: ApprovalReply, operation: string): CallEnding {
  const said = reason === null ? "" : `: ${reason}`
  const error: CallError = {
    code: "ACODE-EXEC-005",
    message: isExpired === true ? `not approved${said}: ${operation}` : `${by} refused: ${operation}${said}`,
    where: null,
    hint: null,
  }
  return notDone("refused", answer === "stopped" ? "stopped" : "refused", error)
}

function stale(
  reason: "refused" | "used" | "expired" | "notYet" | "changed",
  declared: DeclaredCall,
): CallError {
  const isChanged = reason === "changed"
  return {
    code: isChanged ? "ACODE-APPR-003" : "ACODE-APPR-004",
    message: isChanged
      ? `the approval is for a different change than this one: ${declared.operation}`
      : `the approval cannot be used any more (${reason}): ${declared.operation}`,
    where: null,
    hint: "ask again and review the change",
  }
}
