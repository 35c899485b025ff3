import { describe, expect, test } from "bun:test"
import { writeFileSync } from "node:fs"
import { artifactPath } from "../../../src/store/artifacts/artifacts.ts"
import type { Store } from "../../../src/store/contract.ts"
import { event, type SessionWriter, startSession } from "../support/session-events.ts"
import { type StoreFixture, storeFixture } from "../support/store-fixture.ts"

const later = (fixture: StoreFixture, ms: number) => new Date(fixture.clock.now() + ms).toISOString()
const idsOf = (found: readonly { readonly id: string }[]) => found.map(({ id }) => id)

function asking(store: Store): SessionWriter {
  return startSession(store)
}

describe("an approval request", () => {
  test("is found with everything a person needs to decide", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const session = asking(store)
    session.append(event.approvalRequested("apr_1", session.id, { kind: "confirmation", stepId: null }))
    expect(store.approvals.find("apr_1")).toEqual({
      id: "apr_1",
      sessionId: session.id,
      callId: "cal_1",
      stepId: null,
      kind: "confirmation",
      level: 2,
      category: "FILE_WRITE",
      operation: "write a.txt",
      reach: null,
      isRedacted: true,
      files: ["a.txt"],
      reason: "writes are asked",
      rule: "default",
      preview: "+ line",
      subjectHash: `sha256:${"3".repeat(64)}`,
      requestedAt: later(fixture, 0),
      expiresAt: null,
      state: "open",
      answeredAt: null,
      answeredBy: null,
      answerReason: null,
      answerExpiresAt: null,
      usedAt: null,
    })
    expect(store.approvals.find("apr_2")).toBeNull()
  })

  test("is listed and found with a preview that was changed, which is not shown", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const session = asking(store)
    const ref = store.artifacts.put(new TextEncoder().encode("a long preview"))
    session.append(
      event.approvalRequested("apr_1", session.id, { preview: { kind: "artifact", ref, bytes: 14 } }),
      event.approvalRequested("apr_2", session.id),
    )
    writeFileSync(artifactPath(fixture.options.artifactsDirectory, ref), "a kind preview")
    expect(store.approvals.list({ open: true }).map(({ preview }) => preview)).toEqual([
      "+ line",
      `[the content of an artifact does not match its name: ${ref}]`,
    ])
    expect(store.approvals.find("apr_1")?.state).toBe("open")
  })

  test("has its preview read from the artifact a long one is kept in", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const session = asking(store)
    const ref = store.artifacts.put(new TextEncoder().encode("a long preview"))
    session.append(
      event.approvalRequested("apr_1", session.id, { preview: { kind: "artifact", ref, bytes: 14 } }),
    )
    expect(store.approvals.find("apr_1")?.preview).toBe("a long preview")
  })

  test("is expired from its last moment on", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const session = asking(store)
    session.append(event.approvalRequested("apr_1", session.id, { expiresAt: later(fixture, 1_000) }))
    fixture.clock.advance(999)
    expect(store.approvals.find("apr_1")?.state).toBe("open")
    fixture.clock.advance(1)
    expect(store.approvals.find("apr_1")?.state).toBe("expired")
    expect(store.approvals.list({ open: true })).toEqual([])
  })

  test("is abandoned when its session ended first, and stays so when its time comes", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const session = asking(store)
    session.append(event.approvalRequested("apr_1", session.id, { expiresAt: later(fixture, 1_000) }))
    session.append(event.sessionFinished())
    expect(store.approvals.find("apr_1")?.state).toBe("abandoned")
    fixture.clock.advance(5_000)
    expect(store.approvals.find("apr_1")?.state).toBe("abandoned")
  })

  test("stays expired when its session ends later", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const session = asking(store)
    session.append(event.approvalRequested("apr_1", session.id, { expiresAt: later(fixture, 1_000) }))
    fixture.clock.advance(5_000)
    session.append(event.sessionFinished())
    expect(store.approvals.find("apr_1")?.state).toBe("expired")
  })

  test("stays open while its session rests", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const session = asking(store)
    session.append(event.approvalRequested("apr_1", session.id), event.sessionRested())
    expect(idsOf(store.approvals.list({ open: true }))).toEqual(["apr_1"])
  })
})

describe("the list of approval requests", () => {
  test("has the newest first, and the open ones alone when asked for", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const [session, ended] = [asking(store), asking(store)]
    session.append(event.approvalRequested("apr_1", session.id))
    session.append(event.approvalRequested("apr_2", session.id), event.approvalAnswered("apr_2"))
    ended.append(event.approvalRequested("apr_3", ended.id), event.sessionFinished())
    fixture.clock.advance(1)
    session.append(event.approvalRequested("apr_4", session.id))
    expect(idsOf(store.approvals.list({}))).toEqual(["apr_4", "apr_3", "apr_2", "apr_1"])
    expect(idsOf(store.approvals.list({ open: true }))).toEqual(["apr_4", "apr_1"])
    expect(idsOf(store.approvals.list({ open: true, limit: 1 }))).toEqual(["apr_4"])
    expect(idsOf(store.approvals.list({ limit: 3 }))).toEqual(["apr_4", "apr_3", "apr_2"])
  })

  test("is matched by beginnings and ends of ids", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const session = asking(store)
    session.append(
      event.approvalRequested("apr_1", session.id),
      event.approvalRequested("apr_12", session.id),
    )
    expect(store.approvals.matching("apr_")).toEqual(["apr_1", "apr_12"])
    expect(store.approvals.matching("apr_1")).toEqual(["apr_1"])
    expect(store.approvals.matching("2")).toEqual(["apr_12"])
    expect(store.approvals.matching("_")).toEqual([])
  })
})

describe("approved plans", () => {
  const approval = { approver: "ada", stepCount: 2, expiresAt: "2027-01-01T00:00:00.000Z" }

  test("are found by hash and by id, newest first", () => {
    using fixture = storeFixture()
    const { approvals } = fixture.open()
    for (const [approvalId, planId, planHash] of [
      ["apr_1", "plan-1", "h1"],
      ["apr_2", "plan-1", "h2"],
      ["apr_3", "plan-2", "h2"],
    ] as const) {
      approvals.approvePlan({ approvalId, planId, planHash, ...approval })
      fixture.clock.advance(1)
    }
    const found = (filter: Parameters<typeof approvals.plansApproved>[0]) =>
      approvals.plansApproved(filter).map(({ approvalId }) => approvalId)
    expect(found({})).toEqual(["apr_3", "apr_2", "apr_1"])
    expect(found({ planHash: "h2" })).toEqual(["apr_3", "apr_2"])
    expect(found({ planId: "plan-1" })).toEqual(["apr_2", "apr_1"])
    expect(found({ planId: "plan-2", planHash: "h1" })).toEqual([])
    expect(approvals.findPlan("apr_2")).toMatchObject({ planId: "plan-1", planHash: "h2" })
    expect(approvals.findPlan("apr_9")).toBeNull()
  })
})
