import { Database } from "bun:sqlite"
import { describe, expect, test } from "bun:test"
import type { Store } from "../../src/store/contract.ts"
import { changing, event, remarks, type SessionWriter, startSession } from "./support/session-events.ts"
import { runOne, storeFixture } from "./support/store-fixture.ts"

/** Two sessions, one of them still at work, with calls, an approval that was used and one that was not. */
function filled() {
  const fixture = storeFixture()
  const store = fixture.open()
  store.approvals.approvePlan({
    approvalId: "apr_plan",
    planId: "plan-1",
    planHash: "sha256:1",
    approver: "ada",
    stepCount: 1,
    expiresAt: "2027-01-01T00:00:00.000Z",
  })
  const session = startSession(store)
  session.append(event.stepStarted(), event.callRequested("cal_1"))
  session.append(event.approvalRequested("apr_1", session.id, { preview: artifact(store) }))
  store.approvals.answer({ approvalId: "apr_1", answer: "granted", by: "ada", via: "command", reason: null })
  session.append(event.callStarted("cal_1", { approvalId: "apr_1" }))
  session.append(event.callSettled("cal_1", { ...remarks("a.ts", "TS1"), ...changing("b.ts") }))
  session.append(event.stepFinished(), event.sessionFinished(), event.sessionUndone())
  const running = startSession(store)
  running.append(event.callRequested("cal_2"), event.approvalRequested("apr_2", running.id))
  runOne(store)
  return {
    store,
    session,
    running,
    change: (sql: string) => {
      using db = new Database(fixture.options.databasePath)
      db.run(sql)
    },
    [Symbol.dispose]: () => fixture[Symbol.dispose](),
  }
}

function artifact(store: Store): { kind: "artifact"; ref: string; bytes: number } {
  return { kind: "artifact", ref: store.artifacts.put(new TextEncoder().encode("preview")), bytes: 7 }
}

describe("verifying a log with sessions in it", () => {
  test("finds nothing wrong when nothing was changed", () => {
    using at = filled()
    expect(at.store.verify()).toMatchObject({ ok: true, problems: [], streams: 5 })
  })

  test("finds nothing wrong with half a character that a model said", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const session = startSession(store, { goal: "say \ud83d" })
    const half = { ...remarks("a\ude00.ts", "TS\ud83d"), ...changing("b\ud83d.ts") }
    session.append(event.callRequested("cal_1", { tool: "edit\ud83d" }), event.callSettled("cal_1", half))
    session.append(event.sessionRested({ reason: "I cannot \ud83d" }))
    runOne(store, { command: { arguments: ["x\ud83d"] } })
    expect(store.verify()).toMatchObject({ ok: true, problems: [] })
  })

  const changes: readonly (readonly [table: string, sql: string])[] = [
    ["sessions", "UPDATE sessions SET state = 'FAILED' WHERE undone_at IS NOT NULL"],
    ["sessions", "UPDATE sessions SET exit_code = 0, reason = 'done' WHERE reason IS NULL"],
    ["sessions", "UPDATE sessions SET goal = 'something else' WHERE reason IS NULL"],
    ["approvals", "UPDATE approvals SET answer = 'granted', answered_by = 'eve' WHERE id = 'apr_2'"],
    ["approvals", "UPDATE approvals SET used_at = NULL WHERE id = 'apr_1'"],
    ["approvals", "UPDATE approvals SET answer_expires_at = '2099-01-01T00:00:00.000Z' WHERE id = 'apr_1'"],
    ["plan_approvals", "UPDATE plan_approvals SET plan_hash = 'sha256:2'"],
    ["evidence", "UPDATE evidence SET status = 'succeeded' WHERE id = 'cal_2'"],
    ["evidence", "UPDATE evidence SET result_digest = 'x' WHERE id = 'cal_1'"],
    ["evidence_files", "UPDATE evidence_files SET changed = 0 WHERE path = 'b.ts'"],
    ["evidence_files", "UPDATE evidence_files SET path = 'c.ts' WHERE path = 'b.ts'"],
    ["evidence_diagnostics", "UPDATE evidence_diagnostics SET code = 'TS2'"],
  ]

  test.each(changes)("finds a row of %s that was changed: %s", (table, sql) => {
    using at = filled()
    at.change(sql)
    const { ok, problems } = at.store.verify()
    expect(ok).toBe(false)
    expect(problems.map(({ what }) => what)).toEqual([`the table ${table} does not match this event`])
    expect(problems[0]?.position).toBeGreaterThan(0)
  })

  test("names the session whose row was changed, and no other", () => {
    using at = filled()
    at.change(`UPDATE sessions SET steps_done = 9 WHERE id = '${at.running.id}'`)
    const ofStream = (writer: SessionWriter) => at.store.verify(writer.id).problems.length
    expect([ofStream(at.running), ofStream(at.session)]).toEqual([1, 0])
  })

  test.each([
    "sessions",
    "approvals",
    "plan_approvals",
    "evidence",
    "evidence_files",
    "evidence_diagnostics",
  ])("finds rows of %s that are gone", table => {
    using at = filled()
    at.change(`DELETE FROM ${table}`)
    expect(at.store.verify().problems.at(-1)?.what).toMatch(new RegExp(`^the table ${table} has 0 rows`))
  })

  test("finds an artifact of a session that the table of references forgot", () => {
    using at = filled()
    at.change("DELETE FROM artifact_references")
    expect(at.store.verify().problems[0]).toMatchObject({ stream: at.session.id, seq: 4 })
  })
})
