import { PlanProposed, SessionResumed, StageEntered } from "../../domain/events/pipeline-events.ts"
import {
  type Lane,
  PlanApproved,
  SessionFinished,
  SessionRested,
  SessionStarted,
  type SessionState,
  SessionUndone,
  StepFinished,
  StepStarted,
} from "../../domain/events/session-events.ts"
import type { ProcessIdentity } from "../../domain/process-identity.ts"
import type { StoredEvent } from "../contract.ts"
import { type TableRow, tableProjection } from "../database/table-projection.ts"
import { fieldsOf } from "../log/event-rows.ts"

/** A row of the table `sessions`, computed from the events in the stream of the session. */
export interface SessionRow extends TableRow {
  readonly id: string
  readonly started_position: number
  readonly lane: Lane
  readonly goal: string
  readonly plan_id: string | null
  readonly plan_hash: string | null
  readonly state: SessionState
  readonly reason: string | null
  readonly exit_code: number | null
  readonly step_count: number
  readonly steps_done: number
  readonly started_at: string
  readonly ended_at: string | null
  readonly boot_id: string
  readonly pid: number
  readonly start_ticks: string
  readonly undone_at: string | null
}

export const sessionsTable = "sessions"

/** Returns the row of a session after one more of its events; null before the first. */
export function nextSessionRow(row: SessionRow | null, event: StoredEvent): SessionRow | null {
  return row === null ? startedRow(event) : changedRow(row, event)
}

const sessionEventTypes: ReadonlySet<string> = new Set(
  [
    SessionStarted,
    SessionResumed,
    SessionRested,
    SessionFinished,
    SessionUndone,
    StageEntered,
    PlanProposed,
    PlanApproved,
    StepStarted,
    StepFinished,
  ].map(definition => definition.type),
)

export const sessionRows = tableProjection<SessionRow>({
  table: sessionsTable,
  createdBy: SessionStarted.type,
  eventTypes: sessionEventTypes,
  positionColumn: "started_position",
  idOf: event => (sessionEventTypes.has(event.type) ? event.stream : null),
  next: nextSessionRow,
  // A resting session can be undone and resumed, and a finished one can be undone again for what was not restored.
  isFinal: () => false,
  detailTables: [],
  detailsOf: () => [],
})

function startedRow(event: StoredEvent): SessionRow | null {
  const started = fieldsOf(SessionStarted, event)
  if (started === null) return null
  return {
    id: event.stream,
    started_position: event.position,
    lane: started.lane,
    goal: started.goal,
    plan_id: started.planId,
    plan_hash: started.planHash,
    state: "CREATED",
    reason: null,
    exit_code: null,
    step_count: started.stepCount,
    steps_done: 0,
    started_at: event.at,
    ended_at: null,
    ...ownerOf(started.owner),
    undone_at: null,
  }
}

function changedRow(row: SessionRow, event: StoredEvent): SessionRow {
  if (fieldsOf(StepStarted, event) !== null) return { ...row, state: "EXECUTING" }
  const entered = fieldsOf(StageEntered, event)
  if (entered !== null) return { ...row, state: entered.stage === "planner" ? "PLANNING" : "EXECUTING" }
  const proposed = fieldsOf(PlanProposed, event)
  if (proposed !== null) return { ...row, plan_hash: proposed.planHash }
  const approved = fieldsOf(PlanApproved, event)
  if (approved !== null) return { ...row, plan_id: approved.planId, step_count: approved.stepCount }
  const resumed = fieldsOf(SessionResumed, event)
  if (resumed !== null)
    return {
      ...row,
      ...ownerOf(resumed.owner),
      state: "EXECUTING",
      reason: null,
      exit_code: null,
      ended_at: null,
    }
  const step = fieldsOf(StepFinished, event)
  if (step !== null) return step.success ? { ...row, steps_done: row.steps_done + 1 } : row
  const rested = fieldsOf(SessionRested, event)
  if (rested !== null) return { ...row, ...endOf(rested) }
  const finished = fieldsOf(SessionFinished, event)
  if (finished !== null) return { ...row, ...endOf(finished), ended_at: event.at }
  if (fieldsOf(SessionUndone, event) !== null) return { ...row, undone_at: event.at }
  return row
}

function ownerOf({ bootId, pid, startTicks }: ProcessIdentity) {
  return { boot_id: bootId, pid, start_ticks: startTicks }
}

function endOf(end: { readonly state: SessionState; readonly reason: string; readonly exitCode: number }) {
  return { state: end.state, reason: end.reason, exit_code: end.exitCode }
}
