import { expect, test } from "bun:test"
import { seededRandom } from "../soak/random.ts"
import { randomSplices } from "./random-splices.ts"

/** A part of what `npm run soak -- --only splices` does. */
test("random splices of real files are what strings say, or change nothing", async () => {
  const { violations, applied, refused } = await randomSplices(80, seededRandom(18))
  expect(violations).toEqual([])
  expect(applied.size).toBeGreaterThanOrEqual(7)
  expect([...applied.values()].reduce((sum, each) => sum + each, 0)).toBeGreaterThan(30)
  expect(refused).toBeGreaterThan(8)
}, 120_000)
