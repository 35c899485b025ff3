import { describe, expect, test } from "bun:test"
import { idOf, recorded } from "../../src/cli/recorded-id.ts"
import { failureOf } from "../store/support/store-fixture.ts"

function history(...ids: readonly string[]) {
  return { matching: (typed: string) => ids.filter(id => id.startsWith(typed) || id.endsWith(typed)) }
}

const many = history("ses_1a", "ses_1b", "ses_2c", "ses_3c", "ses_4d")

describe("an id", () => {
  test("is found by its beginning, its end or the whole of it", () => {
    for (const typed of ["ses_1a", "ses_4", "4d"])
      expect(idOf(many, typed, recorded.session)).toBe(typed === "ses_1a" ? "ses_1a" : "ses_4d")
  })

  test("that fits nothing is unknown, and the hint says where the ids are", () => {
    expect(failureOf(() => idOf(many, "zz", recorded.session)).report).toMatchObject({
      kind: "usage",
      code: "ACODE-CLI-004",
      message: 'no session has the id "zz"',
      hint: "`acode session list` shows the ids",
    })
  })

  test("that fits several is ambiguous, and four of them are named", () => {
    expect(failureOf(() => idOf(many, "ses_", recorded.session)).report).toMatchObject({
      code: "ACODE-CLI-005",
      message: '"ses_" fits 5 sessions: ses_1a, ses_1b, ses_2c, ses_3c, …',
    })
    expect(failureOf(() => idOf(many, "c", recorded.session)).report.message).toBe(
      '"c" fits 2 sessions: ses_2c, ses_3c',
    )
  })

  test("that is empty fits nothing, even where there is only one", () => {
    expect(failureOf(() => idOf(history("ses_1"), "", recorded.session)).report.code).toBe("ACODE-CLI-004")
  })

  test("without any history is unknown", () => {
    expect(failureOf(() => idOf(null, "x", recorded.execution)).report.code).toBe("ACODE-CLI-004")
  })

  test("of an approval has a code of its own", () => {
    expect(failureOf(() => idOf(null, "x", recorded.approval)).report).toMatchObject({
      kind: "usage",
      code: "ACODE-APPR-001",
    })
  })

  test("that is hostile is quoted", () => {
    expect(failureOf(() => idOf(null, "\u001b[2J", recorded.evidence)).report.message).toContain("\\x1b[2J")
  })
})
