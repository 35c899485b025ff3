import { Database } from "bun:sqlite"
import { describe, expect, test } from "bun:test"
import { newEvent } from "../../../src/domain/events/definition.ts"
import { PlanApproved } from "../../../src/domain/events/session-events.ts"
import { processIdentity } from "../../../src/store/process-identity.ts"
import type { SessionRow } from "../../../src/store/session/session-rows.ts"
import { event, sessionWriter, startSession } from "../support/session-events.ts"
import { type StoreFixture, storeFixture } from "../support/store-fixture.ts"

function rowOf(fixture: StoreFixture, id: string): SessionRow | null {
  using db = new Database(fixture.options.databasePath)
  return db.query<SessionRow, [string]>("SELECT * FROM sessions WHERE id = ?").get(id)
}

describe("the row of a session", () => {
  test("is there from its first event on, with everything that is known by then", () => {
    using fixture = storeFixture()
    const session = startSession(fixture.open(), { goal: "rename foo", stepCount: 3 })
    const { bootId, pid, startTicks } = processIdentity()
    expect(rowOf(fixture, session.id)).toEqual({
      id: session.id,
      started_position: 1,
      lane: "plan",
      goal: "rename foo",
      plan_id: "plan-1",
      plan_hash: `sha256:${"1".repeat(64)}`,
      state: "CREATED",
      reason: null,
      exit_code: null,
      step_count: 3,
      steps_done: 0,
      started_at: new Date(fixture.clock.now()).toISOString(),
      ended_at: null,
      boot_id: bootId,
      pid,
      start_ticks: startTicks,
      undone_at: null,
    })
  })

  test("learns from an approved plan what is to be done, and no plan run is approved by that", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const session = startSession(store, { lane: "agent", planId: null, stepCount: 0 })
    const expiresAt = "2099-05-06T07:08:09Z"
    const approved = { approvalId: "apr_9", planId: "p", planHash: "sha256:9", approver: "ada", stepCount: 4 }
    session.append(newEvent(PlanApproved, { ...approved, expiresAt }))
    expect(rowOf(fixture, session.id)).toMatchObject({ plan_id: "p", step_count: 4 })
    expect(store.approvals.plansApproved({ planHash: "sha256:9" })).toEqual([])
  })

  test("counts the steps that succeeded, and no others", () => {
    using fixture = storeFixture()
    const session = startSession(fixture.open(), { stepCount: 3 })
    session.append(event.stepStarted(), event.stepFinished())
    expect(rowOf(fixture, session.id)).toMatchObject({ state: "EXECUTING", steps_done: 1 })
    session.append(event.stepStarted({ index: 1 }), event.stepFinished({ index: 1, success: false }))
    expect(rowOf(fixture, session.id)).toMatchObject({ steps_done: 1 })
  })

  test("reports a session that rests from one that has ended", () => {
    using fixture = storeFixture()
    const session = startSession(fixture.open())
    session.append(event.sessionRested())
    expect(rowOf(fixture, session.id)).toMatchObject({
      state: "AWAITING_APPROVAL",
      reason: "nobody is there",
      exit_code: 10,
      ended_at: null,
    })
    fixture.clock.advance(1_000)
    session.append(event.sessionFinished({ state: "FAILED", reason: "step 2 failed", exitCode: 30 }))
    expect(rowOf(fixture, session.id)).toMatchObject({
      state: "FAILED",
      reason: "step 2 failed",
      exit_code: 30,
      ended_at: new Date(fixture.clock.now()).toISOString(),
    })
  })

  test("remembers when its changes were restored", () => {
    using fixture = storeFixture()
    const session = startSession(fixture.open())
    session.append(event.sessionFinished(), event.sessionUndone())
    expect(rowOf(fixture, session.id)?.undone_at).toBe(new Date(fixture.clock.now()).toISOString())
  })

  test("may change after an undoing: a session that rests continues, one that has ended is undone again", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const [cancelled, resumed, twice] = [startSession(store), startSession(store), startSession(store)]
    for (const session of [cancelled, resumed]) session.append(event.sessionRested(), event.sessionUndone())
    twice.append(event.sessionFinished(), event.sessionUndone())
    fixture.clock.advance(1_000)
    cancelled.append(event.sessionFinished({ state: "CANCELLED", exitCode: 30 }))
    resumed.append(event.sessionResumed(), event.stepStarted())
    twice.append(event.sessionUndone())
    expect(rowOf(fixture, cancelled.id)).toMatchObject({ state: "CANCELLED", exit_code: 30 })
    expect(rowOf(fixture, resumed.id)).toMatchObject({ state: "EXECUTING", reason: null })
    expect(rowOf(fixture, twice.id)?.undone_at).toBe(new Date(fixture.clock.now()).toISOString())
    expect(store.verify()).toMatchObject({ ok: true, problems: [] })
  })

  test("is not made by events of a stream that never said it is a session", () => {
    using fixture = storeFixture()
    const stray = sessionWriter(fixture.open())
    stray.append(event.stepStarted(), event.stepFinished(), event.sessionFinished())
    expect(rowOf(fixture, stray.id)).toBeNull()
  })

  test("does not change by what happens in another session", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const [one, other] = [startSession(store), startSession(store)]
    other.append(event.stepStarted(), event.stepFinished(), event.sessionFinished())
    expect(rowOf(fixture, one.id)).toMatchObject({ state: "CREATED", steps_done: 0, reason: null })
  })
})
