import { expect, test } from "bun:test"
import { errorCodes, sessionErrorCodes } from "../../src/domain/error-codes.ts"

test("every way a session can end before its goal has a code, and so has undoing one", () => {
  expect(sessionErrorCodes.map(({ code }) => code)).toEqual([
    ...Array.from({ length: 8 }, (_, index) => `ACODE-ORCH-00${index + 1}`),
    "ACODE-UNDO-001",
    "ACODE-UNDO-002",
    "ACODE-UNDO-003",
  ])
})

test("all of them are on the error page, each once", () => {
  const page = errorCodes.map(({ code }) => code)
  for (const { code } of sessionErrorCodes) expect(page.filter(each => each === code)).toEqual([code])
})
