import { describe, expect, test } from "bun:test"
import { crashAtEveryPoint, planFile, recoveryViolations, undoViolations } from "../support/plan-crash.ts"

/** Undoing takes as long as all the rest, so only what crashed at every so manieth point is undone. */
const undoneEvery = 5

describe("kill -9 at every numbered point of a plan with every tool", () => {
  test("leaves a session that says exactly what happened, and a tree that is exactly that", async () => {
    const { found, last } = await crashAtEveryPoint(3, async (saved, point) => {
      const env = { ACODE_FAILPOINT: String(point) }
      const { signal } = await saved.acode(["plan", "run", planFile(saved.workspace)], env)
      const problems = await recoveryViolations(saved)
      if (point % undoneEvery === 0) problems.push(...(await undoViolations(saved)))
      return { isCrashed: signal === "SIGKILL", problems }
    })
    expect(found).toEqual([])
    expect(last).toBeGreaterThan(150)
    expect(last).toBeLessThan(1_000)
  }, 600_000)
})
