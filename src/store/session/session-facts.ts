import type { z } from "zod"
import { ApprovalAnswered, ApprovalRequested, ToolCallStarted } from "../../domain/events/call-events.ts"
import { SessionResumed } from "../../domain/events/pipeline-events.ts"
import { SessionStarted, SessionUndone } from "../../domain/events/session-events.ts"
import type { StoredEvent } from "../contract.ts"
import { type EventReader, fieldsOf } from "../log/event-rows.ts"
import { nextSessionRow, type SessionRow } from "./session-rows.ts"

/**
 * The facts that the events of a session establish: everything that decides what may be done. Computed from the signed
 * events only, because a process with access to the database file can change a table.
 */
export interface SessionFacts {
  /** The row that the table should have. */
  readonly row: SessionRow
  /**
   * The time when it was last undone, and whether something was not restored; null if it was not undone, or was resumed
   * since.
   */
  readonly undone: { readonly at: string; readonly isPartly: boolean } | null
  /** The approval of the plan that it runs. */
  readonly planApprovalId: string | null
  /** The questions to people by their ids, oldest first. */
  readonly questions: ReadonlyMap<string, RecordedQuestion>
  /** Answers in the stream of the session, the first one to each question. */
  readonly answers: ReadonlyMap<string, StoredEvent>
  /** The time when the action that an answer allows was started, by the id of the question. */
  readonly uses: ReadonlyMap<string, string>
}

/** A question that the session asked, and the event that holds it. */
export interface RecordedQuestion {
  readonly event: StoredEvent
  readonly asked: z.infer<typeof ApprovalRequested.data>
}

/** Returns the facts of a session; null if it has no events. Throws ACODE-SEC-004 if one of them was changed. */
export type FactsOf = (sessionId: string) => SessionFacts | null

/** Returns a reader of facts, which remembers those of each session and reads only newer events. */
export function sessionFacts(log: EventReader): FactsOf {
  const known = new Map<string, Draft>()
  return sessionId => {
    const draft = known.get(sessionId)
    const added = draft === undefined ? null : log.readBehind(sessionId, draft.last)
    if (draft !== undefined && added !== null) {
      for (const event of added) add(draft, event)
      return draft
    }
    const fresh = firstFacts(log, sessionId)
    if (fresh === null) known.delete(sessionId)
    else known.set(sessionId, fresh)
    return fresh
  }
}

interface Draft extends SessionFacts {
  row: SessionRow
  undone: SessionFacts["undone"]
  readonly questions: Map<string, RecordedQuestion>
  readonly answers: Map<string, StoredEvent>
  readonly uses: Map<string, string>
  last: StoredEvent
}

function firstFacts(log: EventReader, sessionId: string): Draft | null {
  let draft: Draft | null = null
  for (const event of log.each(sessionId)) {
    if (draft !== null) add(draft, event)
    else draft = begun(event)
    if (draft === null) return null
  }
  return draft
}

function begun(event: StoredEvent): Draft | null {
  const row = nextSessionRow(null, event)
  if (row === null) return null
  const planApprovalId = fieldsOf(SessionStarted, event)?.approvalId ?? null
  const none = { questions: new Map(), answers: new Map(), uses: new Map() }
  return { row, undone: null, planApprovalId, ...none, last: event }
}

function add(draft: Draft, event: StoredEvent): void {
  draft.last = event
  draft.row = nextSessionRow(draft.row, event) ?? draft.row
  const undone = fieldsOf(SessionUndone, event)
  if (undone !== null)
    draft.undone = { at: event.at, isPartly: undone.foreign.length + undone.blocked.length > 0 }
  if (fieldsOf(SessionResumed, event) !== null) draft.undone = null
  const asked = fieldsOf(ApprovalRequested, event)
  if (asked !== null) draft.questions.set(asked.approvalId, { event, asked })
  const answered = fieldsOf(ApprovalAnswered, event)
  if (answered !== null && !draft.answers.has(answered.approvalId))
    draft.answers.set(answered.approvalId, event)
  const used = fieldsOf(ToolCallStarted, event)?.approvalId ?? null
  if (used !== null && !draft.uses.has(used)) draft.uses.set(used, event.at)
}
