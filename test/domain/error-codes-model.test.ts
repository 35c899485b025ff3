import { expect, test } from "bun:test"
import { errorCodes } from "../../src/domain/error-codes.ts"
import { modelErrorCodes } from "../../src/domain/error-codes-model.ts"

test("a missing model, a bad script and a bad recording have a code each", () => {
  expect(modelErrorCodes.map(({ code }) => code)).toEqual([
    "ACODE-MODEL-001",
    "ACODE-MODEL-002",
    "ACODE-MODEL-003",
  ])
})

test("all of them are on the error page, each once", () => {
  const page = errorCodes.map(({ code }) => code)
  for (const { code } of modelErrorCodes) expect(page.filter(each => each === code)).toEqual([code])
})
