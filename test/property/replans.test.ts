import { expect, test } from "bun:test"
import fc from "fast-check"
import { replannedSession, unadmittedRuns } from "../support/plan/replanned-session.ts"

test("plans that follow each other run nothing that stood in no question somebody granted", async () => {
  const property = fc.asyncProperty(replannedSession, async choice => {
    expect(await unadmittedRuns(choice)).toEqual([])
  })
  await fc.assert(property, { numRuns: 12, seed: 20261116 })
}, 120_000)
