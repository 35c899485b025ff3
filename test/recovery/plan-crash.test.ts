import { describe, expect, test } from "bun:test"
import { crashPlanRun, crashPlanUndo } from "../support/crash/plan-crash.ts"

/** A part of the points; `npm run soak -- --only plan-points` dies at each of them. */
describe("kill -9 at numbered points of a plan with every tool", () => {
  test("leaves a session that says exactly what happened, and a tree that is exactly that", async () => {
    const { found, last } = await crashPlanRun({ first: 2, every: 3 })
    expect(found).toEqual([])
    expect(last).toBeGreaterThan(150)
    expect(last).toBeLessThan(1_000)
  }, 600_000)
})

describe("kill -9 at numbered points of session undo", () => {
  test("leaves what a second undo puts back completely", async () => {
    const { found, last } = await crashPlanUndo({ first: 1, every: 4 })
    expect(found).toEqual([])
    expect(last).toBeGreaterThan(20)
  }, 600_000)
})
