import { describe, expect, test } from "bun:test"
import { approveEveryTool, planFile, recoveryViolations, undoViolations } from "../support/plan-crash.ts"
import { savedWorkspace } from "../support/saved-workspace.ts"

/** How many workspaces are crashed at the same time. */
const width = 3
/** Undoing takes as long as all the rest, so only what crashed at every so manieth point is undone. */
const undoneEvery = 5

describe("kill -9 at every numbered point of a plan with every tool", () => {
  test("leaves a session that says exactly what happened, and a tree that is exactly that", async () => {
    const found: string[] = []
    let next = 1
    let last = Number.POSITIVE_INFINITY
    const lane = async () => {
      using saved = savedWorkspace()
      await approveEveryTool(saved)
      for (let point = next++; point < last; point = next++) {
        saved.restore("approved")
        const env = { ACODE_FAILPOINT: String(point) }
        const { signal } = await saved.acode(["plan", "run", planFile(saved.workspace)], env)
        if (signal !== "SIGKILL") last = Math.min(last, point)
        const problems = await recoveryViolations(saved)
        if (point % undoneEvery === 0) problems.push(...(await undoViolations(saved)))
        found.push(...problems.map(problem => `point ${point}: ${problem}`))
      }
    }
    const began = performance.now()
    await Promise.all(Array.from({ length: width }, lane))
    const seconds = ((performance.now() - began) / 1_000).toFixed(0)
    process.stdout.write(`  ${last - 1} points, ${found.length} violations, ${seconds} s\n`)
    expect(found).toEqual([])
    expect(last).toBeGreaterThan(150)
    expect(last).toBeLessThan(1_000)
  }, 600_000)
})
