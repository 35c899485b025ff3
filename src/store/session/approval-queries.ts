import { toIso } from "../../base/clock.ts"
import { ApprovalRequested } from "../../domain/events/call-events.ts"
import type { RecordedText } from "../../domain/events/recorded-text.ts"
import { PlanApproved, PlanRevoked } from "../../domain/events/session-events.ts"
import { Failure } from "../../domain/failure.ts"
import type { ArtifactStore, StoredEvent } from "../contract.ts"
import type { DatabaseConnection } from "../database/database.ts"
import { changedRow, type NoteFailure, unlessChanged } from "../database/store-failures.ts"
import { isStoredRow, readRow } from "../database/table-projection.ts"
import type { AnchorFields } from "../log/chain.ts"
import { type EventReader, fieldsOf } from "../log/event-rows.ts"
import { storedText } from "../log/recorded-values.ts"
import {
  type ApprovalRow,
  approvalStreamPrefix,
  approvalsTable,
  nextApprovalRow,
  type PlanApprovalRow,
  planApprovalRow,
  planApprovalsTable,
} from "./approval-rows.ts"
import type { ApprovalHistory, ApprovalSummary, PlanApproval } from "./contract.ts"
import type { FactsOf, RecordedQuestion, SessionFacts } from "./session-facts.ts"

/** The dependencies of approval queries. */
export interface ApprovalReading {
  readonly connection: DatabaseConnection
  readonly log: EventReader
  readonly facts: FactsOf
  readonly artifacts: ArtifactStore
  readonly note: NoteFailure
  /** Returns the anchors of the log. */
  readonly anchors: () => readonly AnchorFields[]
  /**
   * Returns the position at which a person last accepted a history that did not match its anchors; 0 if there is none.
   */
  readonly acceptedAt: () => number
}

interface AskedRow extends ApprovalRow {
  /** The time when its session ended. */
  readonly session_ended_at: string | null
}

const newestFirst = "ORDER BY requested_position DESC LIMIT ?"

/** Returns rows of the table, with the questions from their events. Notes a row that differs from its events. */
export function listApprovals(
  reading: ApprovalReading,
  now: number,
  { limit = -1, open = false, isChecked = false }: Parameters<ApprovalHistory["list"]>[0],
): readonly ApprovalSummary[] {
  const select = `SELECT approvals.*, sessions.ended_at AS session_ended_at
    FROM approvals LEFT JOIN sessions ON sessions.id = approvals.session_id`
  const { db } = reading.connection
  const rows = open
    ? db
        .query<AskedRow, [string, number]>(
          `${select} WHERE answer IS NULL AND sessions.ended_at IS NULL
             AND (expires_at IS NULL OR expires_at > ?) ${newestFirst}`,
        )
        .all(toIso(now), limit)
    : db.query<AskedRow, [number]>(`${select} ${newestFirst}`).all(limit)
  return rows.flatMap(row => {
    const summary = unlessChanged(reading.note, () => toSummary(reading, now, row, askedIn(reading, row)))
    if (isChecked) unlessChanged(reading.note, () => assertRow(reading, row))
    return summary ?? []
  })
}

/**
 * Returns an approval computed from the events of its session and of its own stream; the table only gives the position
 * of the question.
 */
export function findApproval(reading: ApprovalReading, now: number, id: string): ApprovalSummary | null {
  const stored = readRow<ApprovalRow>(reading.connection, approvalsTable, id)
  if (stored === null) return null
  const { event } = questionOf(reading, stored)
  return answeredSummary(reading, now, reading.facts(event.stream), id)
}

/** Returns the approvals that a session asked for, newest first. */
export function approvalsOf(
  reading: ApprovalReading,
  now: number,
  sessionId: string,
): readonly ApprovalSummary[] {
  const facts = reading.facts(sessionId)
  return [...(facts?.questions.keys() ?? [])].reverse().map(id => answeredSummary(reading, now, facts, id))
}

/**
 * Returns the row that the table should have, from the answers behind a position in the log. Answers before it do not
 * count: a lost part of the history may have used them.
 */
function rowOf({ log }: ApprovalReading, facts: SessionFacts | null, id: string, behind: number): AskedRow {
  const question = facts?.questions.get(id)
  if (facts == null || question === undefined) throw changedRow(approvalsTable, id)
  const answers = [...(facts.answers.has(id) ? [facts.answers.get(id)] : []), ...log.read(id)]
    .flatMap(event => event ?? [])
    .filter(({ position }) => position > behind)
    .sort((a, b) => a.position - b.position)
  const asked = nextApprovalRow(null, question.event)
  const row = answers.reduce<ApprovalRow | null>(nextApprovalRow, asked)
  if (row === null) throw changedRow(approvalsTable, id)
  return { ...row, used_at: facts.uses.get(id) ?? null, session_ended_at: facts.row.ended_at }
}

function answeredSummary(
  reading: ApprovalReading,
  now: number,
  facts: SessionFacts | null,
  id: string,
): ApprovalSummary {
  // An answer that the session has used, or recorded itself, is shown in any case.
  const isUsed = facts?.uses.has(id) === true || facts?.answers.has(id) === true
  const behind = isUsed ? 0 : reading.acceptedAt()
  const row = rowOf(reading, facts, id, behind)
  return toSummary(reading, now, row, askedIn(reading, row))
}

function assertRow(reading: ApprovalReading, row: AskedRow): void {
  const { event } = questionOf(reading, row)
  const expected = rowOf(reading, reading.facts(event.stream), row.id, 0)
  if (!isStoredRow(row, expected)) throw changedRow(approvalsTable, row.id)
}

/** Returns the question at the position that a row states. Throws if another event is there. */
function questionOf({ log }: ApprovalReading, { id, requested_position }: ApprovalRow): RecordedQuestion {
  const event = log.at(requested_position)
  const asked = fieldsOf(ApprovalRequested, event)
  if (asked?.approvalId !== id) throw changedRow(approvalsTable, id)
  return { event, asked }
}

function askedIn(reading: ApprovalReading, row: ApprovalRow): RecordedQuestion["asked"] {
  return questionOf(reading, row).asked
}

/** Returns the plans that people approved, newest first, from the events of their own streams. */
export function planApprovals(
  reading: ApprovalReading,
  filter: { readonly planHash?: string; readonly planId?: string; readonly id?: string },
): readonly PlanApproval[] {
  const { planHash, planId, id } = filter
  return approvedPlans(reading)
    .filter(({ row }) => planHash === undefined || row.plan_hash === planHash)
    .filter(({ row }) => planId === undefined || row.plan_id === planId)
    .filter(({ row }) => id === undefined || row.id === id)
    .map(approved => toPlanApproval(approved, hasEnded(reading, approved.row)))
}

interface ApprovedPlan {
  readonly row: PlanApprovalRow
  /** Read from the events: the row lacks it. */
  readonly isUnconfined: boolean
  readonly revoked: PlanApproval["revoked"]
}

/** Returns all approved plans. Throws if the table differs from the events, because people are shown the table. */
function approvedPlans({ connection, log }: ApprovalReading): readonly ApprovedPlan[] {
  const events = log.readAll(approvalStreamPrefix)
  const revocations = revocationsIn(events)
  const plans = events.flatMap(event => {
    const row = planApprovalRow(event)
    if (row === null) return []
    const isUnconfined = fieldsOf(PlanApproved, event)?.isUnconfined ?? false
    return [{ row, isUnconfined, revoked: revocations.get(row.id) ?? null }]
  })
  const stored = connection.db.query<PlanApprovalRow, []>("SELECT * FROM plan_approvals").all()
  const unexplained = new Map(stored.map(row => [row.id, row]))
  for (const { row } of plans) {
    if (!isStoredRow(unexplained.get(row.id) ?? null, row)) throw changedRow(planApprovalsTable, row.id)
    unexplained.delete(row.id)
  }
  for (const id of unexplained.keys()) throw changedRow(planApprovalsTable, id)
  return plans.toSorted((a, b) => b.row.position - a.row.position)
}

/** Returns who revoked approvals of plans, by the id of the approval. */
export function revocationsIn(events: readonly StoredEvent[]): ReadonlyMap<string, PlanApproval["revoked"]> {
  return new Map(
    events.flatMap(event => {
      const revoked = fieldsOf(PlanRevoked, event)
      if (revoked === null) return []
      const { approvalId, by, reason } = revoked
      return [[approvalId, { at: event.at, by, reason }] as const]
    }),
  )
}

/** Returns whether an approval has ended, by the log or an anchor: a clock that is set back does not renew it. */
function hasEnded(
  { connection, anchors, acceptedAt }: ApprovalReading,
  { position, expires_at }: PlanApprovalRow,
): boolean {
  if (acceptedAt() > position) return true
  const later = connection.db
    .query("SELECT 1 FROM events WHERE position > ? AND at >= ? LIMIT 1")
    .get(position, expires_at)
  return later !== null || anchors().some(anchor => anchor.position > position && anchor.at >= expires_at)
}

function toPlanApproval({ row, isUnconfined, revoked }: ApprovedPlan, hasEnded: boolean): PlanApproval {
  return {
    isUnconfined,
    revoked,
    approvalId: row.id,
    planId: row.plan_id,
    planHash: row.plan_hash,
    approver: row.approver,
    stepCount: row.step_count,
    expiresAt: row.expires_at,
    approvedAt: row.approved_at,
    hasEnded,
  }
}

function toSummary(
  { artifacts }: ApprovalReading,
  now: number,
  row: AskedRow,
  requested: RecordedQuestion["asked"],
): ApprovalSummary {
  const { callId, stepId, kind, level, category, operation, files, reason, rule, subjectHash } = requested
  // A record without the field is from an acode that showed redacted questions as if they were complete.
  const { reach = null, isRedacted = true } = requested
  const preview = previewOf(requested.preview, artifacts)
  return {
    id: row.id,
    sessionId: row.session_id,
    callId,
    stepId,
    kind,
    level,
    category,
    operation,
    reach,
    isRedacted: isRedacted || !preview.isWhole,
    files,
    reason,
    rule,
    preview: preview.text,
    subjectHash,
    requestedAt: row.requested_at,
    expiresAt: row.expires_at,
    state: stateOf(row, toIso(now)),
    answeredAt: row.answered_at,
    answeredBy: row.answered_by,
    answerReason: row.answer_reason,
    answerExpiresAt: row.answer_expires_at,
    usedAt: row.used_at,
  }
}

/**
 * Returns the preview of a question; if it is missing or was changed, a note says so: one bad preview must not hide the
 * other approvals.
 */
function previewOf(preview: RecordedText, artifacts: ArtifactStore) {
  try {
    const isMissing = preview.kind === "artifact" && artifacts.get(preview.ref) === null
    return { text: storedText(preview, artifacts), isWhole: !isMissing && preview.kind !== "omitted" }
  } catch (error) {
    if (!(error instanceof Failure && error.report.kind === "integrity")) throw error
    return { text: `[${error.report.message}: ${error.report.where}]`, isWhole: false }
  }
}

/**
 * Returns the state of a question. If it was not answered, the first of its time limit and the end of its session
 * counts.
 */
function stateOf(row: AskedRow, now: string): ApprovalSummary["state"] {
  if (row.answer !== null) return row.answer
  const seenUntil = row.session_ended_at ?? now
  if (row.expires_at !== null && row.expires_at <= seenUntil) return "expired"
  return row.session_ended_at === null ? "open" : "abandoned"
}
