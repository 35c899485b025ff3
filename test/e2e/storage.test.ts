import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { statSync } from "node:fs"
import { join } from "node:path"
import { runOne } from "../store/support/store-fixture.ts"
import { type AcodeRun, runAcode } from "../support/acode.ts"
import { check } from "../support/checker.ts"
import { fixedClock } from "../support/fixed-clock.ts"
import { openTempStore } from "../support/temp-store.ts"
import { type TempWorkspace, tempWorkspace } from "../support/temp-workspace.ts"

let workspace: TempWorkspace
beforeEach(() => {
  workspace = tempWorkspace()
})
afterEach(() => workspace[Symbol.dispose]())

const dayMs = 24 * 3_600_000
const acode = (...args: string[]): Promise<AcodeRun> =>
  runAcode(args, { cwd: workspace.root, env: workspace.environment })
const databaseBytes = () => statSync(join(workspace.root, ".agent/workspace.db")).size

/** Executions of so many days ago, as an acode of then recorded them. */
function executions(daysAgo: number, count: number): void {
  using store = openTempStore(workspace, { clock: fixedClock(Date.now() - daysAgo * dayMs) })
  for (let index = 0; index < count; index++)
    runOne(store, { result: { stdout: `${daysAgo} ${index} `.repeat(500) } }, `exe_${daysAgo}_${index}`)
}

describe("acode runs prune", () => {
  test("makes the database smaller, and the rest of the history still verifies", async () => {
    executions(40, 400)
    executions(0, 20)
    const before = databaseBytes()
    const { exitCode, stdout } = await acode("runs", "prune", "--older-than", "30d")
    expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/^400 executions removed, .* freed\n$/)])
    expect(databaseBytes()).toBeLessThan(before / 2)
    expect((await acode("audit", "verify")).exitCode).toBe(0)
    expect(JSON.parse((await acode("runs", "list", "--json")).stdout)).toHaveLength(20)
    expect(await check(workspace)).toEqual([])
  })

  test("removes nothing because the last records are years old, until the clock is said to be right", async () => {
    executions(3650, 3)
    const first = await acode("runs", "prune", "--older-than", "30d")
    expect(first.stdout).toStartWith("0 executions removed")
    expect(first.stderr).toContain("--trust-clock")
    const trusting = await acode("runs", "prune", "--older-than", "30d", "--trust-clock")
    expect([trusting.stdout, trusting.stderr]).toEqual([expect.stringMatching(/^3 executions removed/), ""])
  })
})
