import { describe, expect, test } from "bun:test"
import { Judgement, readReview } from "../../../src/domain/pipeline/review.ts"

describe("a review", () => {
  test("may leave its findings out", () => {
    expect(readReview({ decision: "approve", summary: "good" })).toEqual({
      decision: "approve",
      summary: "good",
      findings: [],
    })
  })

  test("keeps what it found and where", () => {
    const findings = [{ severity: "major", file: "a.ts", line: 3, text: "it leaks" }]
    expect(readReview({ decision: "fix", summary: "not yet", findings })?.findings).toEqual([
      { severity: "major", file: "a.ts", line: 3, text: "it leaks" },
    ])
  })

  test.each([
    ["another decision", { decision: "maybe", summary: "" }],
    ["no summary", { decision: "approve" }],
    ["a key nobody knows", { decision: "approve", summary: "", mood: "fine" }],
    ["no object", ["approve"]],
  ])("with %s is none", (_, value) => {
    expect(readReview(value)).toBeNull()
  })
})

test("a judgement names a verdict for each criterion", () => {
  const criteria = [{ id: "a5", verdict: "inconclusive", reason: "cannot be seen" }]
  expect(Judgement().safeParse({ criteria }).success).toBe(true)
  expect(Judgement().safeParse({ criteria: [{ id: "a5", verdict: "yes", reason: "" }] }).success).toBe(false)
})
