import { expect, test } from "bun:test"
import { exitCodeOf } from "../../../src/domain/failure.ts"
import { closedApproval, unknownApproval } from "../../../src/store/session/approvals.ts"

test("an id that no one asks under is a mistake of the caller, who is reported where to look", () => {
  const { report } = unknownApproval("apr_x")
  expect(report).toMatchObject({ code: "ACODE-APPR-001", where: "apr_x" })
  expect(exitCodeOf(report.kind)).toBe(2)
  expect(report.hint).toContain("acode approvals list")
})

test("a request that can have no answer any more says why", () => {
  const { report } = closedApproval("apr_x", "has expired")
  expect(report).toMatchObject({
    code: "ACODE-APPR-002",
    message: "the approval request has expired",
    where: "apr_x",
  })
  expect(exitCodeOf(report.kind)).toBe(2)
})
