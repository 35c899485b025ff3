import { Database } from "bun:sqlite"
import { describe, expect, test } from "bun:test"
import { rmSync } from "node:fs"
import type { AnswerToApproval } from "../../../src/store/session/contract.ts"
import { event, type SessionWriter, startSession } from "../support/session-events.ts"
import { failureOf, hides, type StoreFixture, storeFixture } from "../support/store-fixture.ts"

const answer = (change: Partial<AnswerToApproval> = {}): AnswerToApproval => ({
  approvalId: "apr_1",
  answer: "granted",
  by: "ada",
  via: "command",
  reason: null,
  ...change,
})

function asked(fixture: StoreFixture, change: Parameters<typeof event.approvalRequested>[2] = {}) {
  const store = fixture.open()
  const session: SessionWriter = startSession(store)
  session.append(event.approvalRequested("apr_1", session.id, change))
  return { store, session }
}

const at = (fixture: StoreFixture, ms = 0) => new Date(fixture.clock.now() + ms).toISOString()

describe("answering an approval request", () => {
  test("records the answer in a stream of its own and says what stands now", () => {
    using fixture = storeFixture()
    const { store } = asked(fixture)
    expect(store.approvals.answer(answer({ reason: "looks right" }))).toMatchObject({
      state: "granted",
      answeredBy: "ada",
      answeredAt: at(fixture),
      answerReason: "looks right",
      answerExpiresAt: at(fixture, 600_000),
      usedAt: null,
    })
    const events = store.log.read("apr_1")
    expect(events.map(({ seq, type }) => [seq, type])).toEqual([[1, "approval.answered"]])
    expect(store.verify()).toMatchObject({ ok: true })
  })

  test("leaves no lease behind", () => {
    using fixture = storeFixture()
    asked(fixture).store.approvals.answer(answer())
    using db = new Database(fixture.options.databasePath)
    expect(db.query("SELECT * FROM leases WHERE stream = 'apr_1'").all()).toEqual([])
  })

  test("lasts as long as it is reported to", () => {
    using fixture = storeFixture()
    asked(fixture)
    const store = fixture.open({ answerLastsMs: 1_000 })
    expect(store.approvals.answer(answer()).answerExpiresAt).toBe(at(fixture, 1_000))
  })

  test.each(["granted", "refused", "skipped", "stopped"] as const)("can be %s", given => {
    using fixture = storeFixture()
    const { store } = asked(fixture)
    expect(store.approvals.answer(answer({ answer: given })).state).toBe(given)
  })

  test("keeps secrets out of what is written", () => {
    using fixture = storeFixture()
    asked(fixture)
    const store = fixture.open({ redactor: hides("hunter2") })
    const said = store.approvals.answer(answer({ reason: "the password is hunter2" }))
    expect(said.answerReason).toBe("the password is [REDACTED:test]")
  })
})

describe("an answer is refused", () => {
  test("when nothing asks under this id", () => {
    using fixture = storeFixture()
    const { store } = asked(fixture)
    const { report } = failureOf(() => store.approvals.answer(answer({ approvalId: "apr_2" })))
    expect(report).toMatchObject({ code: "ACODE-APPR-001", kind: "usage", where: "apr_2" })
  })

  test("when there is one already, with what it says", () => {
    using fixture = storeFixture()
    const { store } = asked(fixture)
    store.approvals.answer(answer({ answer: "refused", by: "eve" }))
    const { report } = failureOf(() => store.approvals.answer(answer()))
    expect(report).toMatchObject({ code: "ACODE-APPR-002", kind: "usage" })
    expect(report.message).toContain("refused by eve")
    expect(store.approvals.find("apr_1")?.state).toBe("refused")
    expect(store.log.read("apr_1")).toHaveLength(1)
  })

  test("when the session itself recorded that no one answered", () => {
    using fixture = storeFixture()
    const { store, session } = asked(fixture)
    session.append(event.approvalAnswered("apr_1"))
    expect(failureOf(() => store.approvals.answer(answer())).report.code).toBe("ACODE-APPR-002")
    expect(store.log.read("apr_1")).toEqual([])
  })

  test("when the request has expired", () => {
    using fixture = storeFixture()
    const { store } = asked(fixture, { expiresAt: at(fixture, 1_000) })
    fixture.clock.advance(1_000)
    const { report } = failureOf(() => store.approvals.answer(answer()))
    expect(report.code).toBe("ACODE-APPR-002")
    expect(report.message).toContain("expired")
  })

  test("when its session has ended", () => {
    using fixture = storeFixture()
    const { store, session } = asked(fixture)
    session.append(event.sessionFinished())
    const { report } = failureOf(() => store.approvals.answer(answer()))
    expect(report.code).toBe("ACODE-APPR-002")
    expect(report.message).toContain("session that has ended")
  })
})

describe("approving a plan", () => {
  const approval = {
    approvalId: "apr_p",
    planId: "plan-1",
    planHash: "sha256:1",
    approver: "ada",
    stepCount: 3,
    expiresAt: "2027-01-01T00:00:00.000Z",
    isUnconfined: true,
  }

  test("is an event in a stream of its own", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    expect(store.approvals.approvePlan(approval)).toEqual({
      ...approval,
      approvedAt: at(fixture),
      revoked: null,
      hasEnded: false,
    })
    expect(store.log.read("apr_p").map(({ type }) => type)).toEqual(["plan.approved"])
    expect(store.verify()).toMatchObject({ ok: true, streams: 1 })
  })

  test("is recorded once under one id", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    store.approvals.approvePlan(approval)
    const again = failureOf(() => store.approvals.approvePlan({ ...approval, planHash: "sha256:2" }))
    expect(again.report.code).toBe("ACODE-DB-007")
    expect(store.approvals.findPlan("apr_p")?.planHash).toBe("sha256:1")
  })
})

describe("a history that a person accepted although it did not match its anchors", () => {
  const accept = (fixture: StoreFixture, store: ReturnType<typeof asked>["store"]) => {
    rmSync(fixture.options.anchorsDirectory, { recursive: true })
    return store.accept({ by: "ada", reason: "lost", setAside: null })
  }

  test("has no answer in it that was not used before: the question is open, and can be answered again", () => {
    using fixture = storeFixture()
    const { store, session } = asked(fixture)
    store.approvals.answer(answer({ by: "eve" }))
    expect(store.approvals.ofSession(session.id)).toMatchObject([{ state: "granted", answeredBy: "eve" }])
    accept(fixture, store)
    expect(store.approvals.ofSession(session.id)).toMatchObject([{ state: "open", answeredBy: null }])
    store.approvals.answer(answer({ answer: "refused" }))
    expect(store.approvals.find("apr_1")).toMatchObject({ state: "refused", answeredBy: "ada" })
    expect(store.verify()).toMatchObject({ ok: true, accepted: [{ by: "ada", reason: "lost" }] })
    expect(() => store.assertGenuine(session.id)).not.toThrow()
  })

  test("reports of an answer that was used, or that the session has taken over, as it was", () => {
    using fixture = storeFixture()
    const { store, session } = asked(fixture)
    store.approvals.answer(answer())
    session.append(event.callStarted("cal_1", { approvalId: "apr_1" }))
    session.append(event.approvalRequested("apr_2", session.id), event.approvalAnswered("apr_2"))
    accept(fixture, store)
    expect(store.approvals.ofSession(session.id).map(({ state }) => state)).toEqual(["refused", "granted"])
  })

  test("has no approved plan in it that still holds", () => {
    using fixture = storeFixture()
    const { store } = asked(fixture)
    const plan = { planId: "p", planHash: "sha256:1", approver: "ada", stepCount: 1 }
    const expiresAt = "2099-01-01T00:00:00.000Z"
    store.approvals.approvePlan({ approvalId: "apr_p", ...plan, expiresAt })
    accept(fixture, store)
    store.approvals.approvePlan({ approvalId: "apr_q", ...plan, expiresAt })
    expect(store.approvals.plansApproved({}).map(({ hasEnded }) => hasEnded)).toEqual([false, true])
  })
})
