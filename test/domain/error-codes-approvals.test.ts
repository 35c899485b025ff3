import { expect, test } from "bun:test"
import { approvalErrorCodes } from "../../src/domain/error-codes-approvals.ts"

test("every way an approval can be of no use has its own code", () => {
  expect(approvalErrorCodes.map(({ code }) => code)).toEqual([
    "ACODE-APPR-001",
    "ACODE-APPR-002",
    "ACODE-APPR-003",
    "ACODE-APPR-004",
  ])
})

test("who is told that something is unknown or closed is told where to look", () => {
  for (const { code, action } of approvalErrorCodes.slice(0, 2))
    expect(action, code).toContain("`acode approvals")
})
