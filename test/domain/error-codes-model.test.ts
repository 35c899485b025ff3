import { expect, test } from "bun:test"
import { errorCodes, modelErrorCodes } from "../../src/domain/error-codes.ts"

test("servers, scripts, recordings, modes, consents, models and keys have a code each", () => {
  const numbers = ["001", "002", "003", "004", "005", "006", "007", "008"]
  expect(modelErrorCodes.map(({ code }) => code)).toEqual(numbers.map(number => `ACODE-MODEL-${number}`))
})

test("all of them are on the error page, each once", () => {
  const page = errorCodes.map(({ code }) => code)
  for (const { code } of modelErrorCodes) expect(page.filter(each => each === code)).toEqual([code])
})
