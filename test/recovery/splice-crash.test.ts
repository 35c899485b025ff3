import { expect, test } from "bun:test"
import { crashSplices } from "../support/crash/splice-crash.ts"

/** A part of the points; `npm run soak -- --only splice-points` dies at each of them. */
test("kill -9 at numbered points of splices: each file is old or new, and the index answers as it is", async () => {
  const { found, last } = await crashSplices({ first: 3, every: 9 })
  expect(found).toEqual([])
  expect(last).toBeGreaterThan(80)
}, 300_000)
