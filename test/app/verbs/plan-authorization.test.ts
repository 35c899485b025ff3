import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { authorizationOf } from "../../../src/app/verbs/plans.ts"
import { toIso } from "../../../src/base/clock.ts"
import type { Plan } from "../../../src/domain/plan/plan.ts"
import type { Store } from "../../../src/store/contract.ts"
import { failureOf } from "../../store/support/store-fixture.ts"
import { type FixedClock, fixedClock } from "../../support/fixed-clock.ts"
import { runnableOf } from "../../support/plan/plan-room.ts"
import { planText } from "../../support/plan/plan-workspace.ts"
import { openTempStore } from "../../support/workspace/temp-store.ts"
import { type TempWorkspace, tempWorkspace } from "../../support/workspace/temp-workspace.ts"

let temp: TempWorkspace
let clock: FixedClock
let store: Store
beforeEach(() => {
  temp = tempWorkspace()
  clock = fixedClock()
  store = openTempStore(temp, { clock })
})
afterEach(() => {
  store[Symbol.dispose]()
  temp[Symbol.dispose]()
})

const hour = 3_600_000
const planOf = (path: string, planId = "demo"): Plan =>
  runnableOf(planText([["file_read", { path }]], planId)).plan

let approvals = 0

function approve(plan: Plan, forMs = hour): string {
  approvals += 1
  const approvalId = `apr_${approvals}`
  const { planId, hash: planHash } = plan
  const expiresAt = toIso(clock.now() + forMs)
  store.approvals.approvePlan({ approvalId, planId, planHash, approver: "ada", stepCount: 1, expiresAt })
  return approvalId
}

const authorize = (plan: Plan, approvalId: string | null = null) =>
  authorizationOf(store.approvals, { plan, where: "p.json", approvalId }, clock.now())
const refusal = (plan: Plan, approvalId: string | null = null) =>
  failureOf(() => authorize(plan, approvalId)).report

describe("a plan", () => {
  test("that nobody approved is refused with its hash", () => {
    const plan = planOf("a.txt")
    expect(refusal(plan)).toMatchObject({
      kind: "denied",
      code: "E002",
      where: "p.json",
      message: `this plan has not been approved (${plan.hash})`,
      hint: expect.stringContaining("acode plan approve"),
    })
  })

  test("that was approved runs under that approval", () => {
    const plan = planOf("a.txt")
    const approvalId = approve(plan)
    expect(authorize(plan)).toMatchObject({ approvalId, approver: "ada", planHash: plan.hash })
    expect(authorize(plan, approvalId).approvalId).toBe(approvalId)
  })

  test("that was changed after its approval is refused, with what was approved", () => {
    const approved = planOf("a.txt")
    const approvalId = approve(approved)
    for (const named of [null, approvalId])
      expect(refusal(planOf("b.txt"), named)).toMatchObject({
        kind: "denied",
        code: "E002",
        message: `the plan was changed after its approval of 2026-01-02T03:04:05.678Z, which is of ${approved.hash}`,
      })
  })

  test("in another spelling is the same plan", () => {
    const text = planText([["file_read", { path: "a.txt" }]], "demo")
    approve(planOf("a.txt"))
    const reordered = JSON.stringify(
      Object.fromEntries(Object.entries(JSON.parse(text)).toReversed()),
      null,
      4,
    )
    expect(authorize(runnableOf(reordered).plan).approver).toBe("ada")
  })

  test("is refused from the very moment its approval ends", () => {
    const plan = planOf("a.txt")
    const approvalId = approve(plan, hour)
    clock.advance(hour - 1)
    expect(authorize(plan).approvalId).toBe(approvalId)
    clock.advance(1)
    for (const named of [null, approvalId])
      expect(refusal(plan, named)).toMatchObject({
        code: "E002",
        message: "the approval of this plan ended at 2026-01-02T04:04:05.678Z",
      })
  })

  test("runs under the newest approval that still holds, whichever ended before", () => {
    const plan = planOf("a.txt")
    const long = approve(plan, 10 * hour)
    clock.advance(1)
    approve(plan, hour)
    clock.advance(2 * hour)
    expect(authorize(plan).approvalId).toBe(long)
  })
})

describe("an approval that is named", () => {
  test("must be of this plan", () => {
    const other = approve(planOf("a.txt", "another"))
    approve(planOf("a.txt"))
    expect(refusal(planOf("a.txt"), other)).toMatchObject({
      kind: "denied",
      code: "E003",
      message: 'the approval is of the plan "another", and this is "demo"',
    })
  })

  test("must be there", () => {
    expect(refusal(planOf("a.txt"), "apr_none")).toMatchObject({ kind: "usage", code: "ACODE-APPR-001" })
  })
})

describe("the end of an approval, when the clock is set", () => {
  test("is not put off by a clock that was set back before it", () => {
    const plan = planOf("a.txt")
    const approvalId = approve(plan)
    clock.jump(-1)
    for (const id of [null, approvalId])
      expect(refusal(plan, id)).toMatchObject({
        code: "E002",
        message: expect.stringContaining("before the"),
      })
    clock.jump(1)
    expect(authorize(plan).approvalId).toBe(approvalId)
  })

  test("has come once an event was recorded after it, wherever the clock is set then", () => {
    const plan = planOf("a.txt")
    const approvalId = approve(plan)
    clock.jump(hour)
    approve(planOf("other.txt", "other"))
    clock.jump(-hour / 2)
    for (const id of [null, approvalId])
      expect(refusal(plan, id)).toMatchObject({ code: "E002", message: expect.stringContaining("ended at") })
  })

  test("does not come for approvals given after a clock that was years ahead is right again", () => {
    clock.jump(10 * 365 * 24 * hour)
    approve(planOf("other.txt", "other"))
    clock.jump(-10 * 365 * 24 * hour)
    const plan = planOf("a.txt")
    const approvalId = approve(plan)
    expect(authorize(plan).approvalId).toBe(approvalId)
  })
})
