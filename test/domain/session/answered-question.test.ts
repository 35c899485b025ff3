import { describe, expect, test } from "bun:test"
import { emptyPipeline, type PlanView, withAnswer } from "../../../src/domain/session/pipeline-view.ts"
import { answeredReason } from "../../../src/domain/session/session-view.ts"

const plan = (planHash: string, approver: string | null): PlanView => ({
  version: 1,
  planHash,
  approver,
  explanation: "",
  proposedAt: "2026-01-02T03:04:05.000Z",
})
const granted = { answer: "granted", answeredBy: "ann" } as const
const question = { approvalId: "apr_1", planHash: "two" }

function approverOf(last: PlanView, asked: Parameters<typeof withAnswer>[2]): string | null | undefined {
  const pipeline = { ...emptyPipeline, plans: [plan("one", "bob"), last] }
  const { plans } = withAnswer(pipeline, question, asked)
  expect(plans[0]).toEqual(plan("one", "bob"))
  return plans.at(-1)?.approver
}

describe("an answer that the session has not taken over", () => {
  test("says who approved the plan it was asked about", () => {
    expect(approverOf(plan("two", null), granted)).toBe("ann")
    expect(withAnswer(emptyPipeline, question, granted)).toBe(emptyPipeline)
  })

  test("says nothing about another plan, nor over what the session knows", () => {
    expect(approverOf(plan("three", null), granted)).toBeNull()
    expect(approverOf(plan("two", "--yes=plan"), granted)).toBe("--yes=plan")
  })

  test("approves nothing when it is another one, or none", () => {
    expect(approverOf(plan("two", null), { answer: "refused", answeredBy: "ann" })).toBeNull()
    expect(approverOf(plan("two", null), undefined)).toBeNull()
  })

  test("is why nobody has to answer any more", () => {
    expect(answeredReason("refused", "ann")).toBe("answered: refused by ann; `acode resume` continues")
  })
})
