import { Database } from "bun:sqlite"
import { describe, expect, test } from "bun:test"
import type { ApprovalRow } from "../../../src/store/session/approval-rows.ts"
import { event, startSession } from "../support/session-events.ts"
import { codeOf, type StoreFixture, storeFixture } from "../support/store-fixture.ts"

const id = "apr_1"

function rowOf(fixture: StoreFixture): ApprovalRow | null {
  using db = new Database(fixture.options.databasePath)
  return db.query<ApprovalRow, [string]>("SELECT * FROM approvals WHERE id = ?").get(id)
}

describe("the row of an approval", () => {
  test("says who asks and until when, in one spelling of time", () => {
    using fixture = storeFixture()
    const session = startSession(fixture.open())
    session.append(event.approvalRequested(id, session.id, { expiresAt: "2026-05-06T07:08:09Z" }))
    expect(rowOf(fixture)).toEqual({
      id,
      requested_position: 2,
      session_id: session.id,
      requested_at: new Date(fixture.clock.now()).toISOString(),
      expires_at: "2026-05-06T07:08:09.000Z",
      answer: null,
      answered_at: null,
      answered_by: null,
      answer_reason: null,
      answer_expires_at: null,
      used_at: null,
    })
  })

  test("keeps the first answer, in whichever stream it stands", () => {
    using fixture = storeFixture()
    const session = startSession(fixture.open())
    session.append(event.approvalRequested(id, session.id))
    session.append(
      event.approvalAnswered(id, { answer: "granted", by: "ada", via: "prompt", reason: "fine" }),
    )
    session.append(event.approvalAnswered(id))
    expect(rowOf(fixture)).toMatchObject({
      answer: "granted",
      answered_by: "ada",
      answer_reason: "fine",
      answer_expires_at: "2026-01-02T04:00:00.000Z",
    })
  })

  test("remembers when it was used", () => {
    using fixture = storeFixture()
    const session = startSession(fixture.open())
    session.append(event.approvalRequested(id, session.id), event.approvalAnswered(id, { answer: "granted" }))
    fixture.clock.advance(2_000)
    session.append(event.callStarted("cal_1", { approvalId: id }))
    expect(rowOf(fixture)?.used_at).toBe(new Date(fixture.clock.now()).toISOString())
  })

  test("a second use is not recorded at all", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const session = startSession(store)
    session.append(event.approvalRequested(id, session.id), event.approvalAnswered(id, { answer: "granted" }))
    session.append(event.callStarted("cal_1", { approvalId: id }))
    const before = store.log.read(session.id).length
    expect(codeOf(() => session.append(event.callStarted("cal_2", { approvalId: id })))).toBe("ACODE-DB-007")
    expect(store.log.read(session.id)).toHaveLength(before)
  })

  test("is not made by an answer that no one asked for", () => {
    using fixture = storeFixture()
    startSession(fixture.open()).append(event.approvalAnswered(id))
    expect(rowOf(fixture)).toBeNull()
  })
})
