import { expect, test } from "bun:test"
import { isTooLong, retriesAllowed } from "../../../src/domain/pipeline/retry.ts"
import { defaultLimits } from "../../../src/domain/pipeline-settings.ts"

test("a model that does not answer is asked twice more, and one that holds less three times with less", () => {
  expect(retriesAllowed(defaultLimits, "overloaded")).toBe(2)
  expect(retriesAllowed(defaultLimits, "contextTooLong")).toBe(3)
  expect(["contextTooLong", "overloaded", "timeout"].filter(isTooLong)).toEqual(["contextTooLong"])
})

test("each has its own limit, and where only one was recorded it holds for both", () => {
  const both = { ...defaultLimits, stepRetriesMax: 7, modelRetriesMax: 0 }
  expect([retriesAllowed(both, "timeout"), retriesAllowed(both, "contextTooLong")]).toEqual([0, 7])
  const older = { ...both, modelRetriesMax: undefined }
  expect([retriesAllowed(older, "timeout"), retriesAllowed(older, "contextTooLong")]).toEqual([7, 7])
})
