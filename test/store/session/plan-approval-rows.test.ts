import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { storeFixture } from "../support/store-fixture.ts"

test("the row of an approved plan says which plan, who, when and until when", () => {
  using fixture = storeFixture()
  fixture.open().approvals.approvePlan({
    approvalId: "apr_1",
    planId: "plan-1",
    planHash: "sha256:1",
    approver: "ada",
    stepCount: 3,
    expiresAt: "2026-05-06T07:08:09Z",
  })
  using db = new Database(fixture.options.databasePath)
  expect(db.query("SELECT * FROM plan_approvals").all()).toEqual([
    {
      id: "apr_1",
      position: 1,
      plan_id: "plan-1",
      plan_hash: "sha256:1",
      approver: "ada",
      step_count: 3,
      approved_at: new Date(fixture.clock.now()).toISOString(),
      expires_at: "2026-05-06T07:08:09.000Z",
    },
  ])
})
