import { describe, expect, test } from "bun:test"
import { type AcodeRun, runAcode, startAcode } from "../support/acode.ts"
import { check } from "../support/checker/checker.ts"
import { crashes } from "../support/crash/crash.ts"
import { eventually } from "../support/eventually.ts"
import { processesWith, untilNoProcessWith } from "../support/processes.ts"
import { confinedKind, missingSandbox, testWhere } from "../support/requirement.ts"
import { type TempWorkspace, tempWorkspace } from "../support/workspace/temp-workspace.ts"

const confinedTest = testWhere(missingSandbox)

function acode(
  workspace: TempWorkspace,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<AcodeRun> {
  return runAcode(args, { cwd: workspace.root, env: { ...workspace.environment, ...env } })
}

/** The sleeping programs themselves, not the shells and guards whose command line names them too. */
function sleepers(marker: string): number {
  return processesWith(`sleep ${marker}`).filter(live => live.commandLine.startsWith("sleep")).length
}

async function listed(workspace: TempWorkspace): Promise<{ ending: string | null; commandLine: string }[]> {
  return JSON.parse((await acode(workspace, ["runs", "list", "--json"])).stdout)
}

describe("kill -9 at every numbered point of an execution", () => {
  for (const sandbox of ["none", confinedKind]) {
    const runs = sandbox === confinedKind ? confinedTest : test
    runs(
      `leaves a history that opens, verifies and names what it does not know (${sandbox})`,
      async () => {
        using workspace = tempWorkspace()
        let points = 0
        for await (const crash of crashes(failpoint =>
          acode(workspace, ["exec", "--sandbox", sandbox, "--", "sh", "-c", "echo work > made"], failpoint),
        )) {
          points = crash.point
          const [latest] = await listed(workspace)
          if (crash.crashed) {
            // Before the intent nothing was written, after the outcome everything was.
            expect([undefined, "interrupted", "exited"]).toContain(latest?.ending ?? undefined)
          } else expect(latest?.ending).toBe("exited")
          expect(await check(workspace)).toEqual([])
          expect((await acode(workspace, ["audit", "verify"])).exitCode).toBe(0)
        }
        expect(points).toBeGreaterThan(8)
      },
      120_000,
    )
  }
})

describe("kill -9 of acode while a command runs", () => {
  for (const sandbox of ["none", confinedKind]) {
    const runs = sandbox === confinedKind ? confinedTest : test
    runs(`leaves nothing running once acode is used again (${sandbox})`, async () => {
      using workspace = tempWorkspace()
      const marker = `51${process.pid}9`
      const script = `setsid sleep ${marker} & sleep ${marker}`
      await using running = startAcode(["exec", "--sandbox", sandbox, "--", "sh", "-c", script], {
        cwd: workspace.root,
        env: workspace.environment,
      })
      await eventually("both sleepers run", () => sleepers(marker) === 2)
      running.kill("SIGKILL")
      await running.ended
      // Confined processes die with acode; unconfined ones are ended by the next acode that looks.
      if (sandbox === confinedKind) await untilNoProcessWith(`sleep ${marker}`)
      expect(await listed(workspace)).toMatchObject([{ ending: "interrupted" }])
      expect(sleepers(marker)).toBe(0)
      expect(await check(workspace)).toEqual([])
    })
  }
})

test("100 commands from 4 processes at once are all recorded and the chain is intact", async () => {
  using workspace = tempWorkspace()
  const line = `for i in $(seq 25); do "$0" exec --sandbox none -- true || exit 1; done`
  const { acodeProgram } = await import("../support/acode.ts")
  const workers = Array.from({ length: 4 }, () =>
    Bun.spawn(["sh", "-c", line, acodeProgram()], {
      cwd: workspace.root,
      env: { ...workspace.environment },
      stdout: "ignore",
      stderr: "pipe",
    }),
  )
  const codes = await Promise.all(workers.map(worker => worker.exited))
  expect(codes).toEqual([0, 0, 0, 0])
  const all = JSON.parse((await acode(workspace, ["runs", "list", "--limit", "1000", "--json"])).stdout)
  expect(all).toHaveLength(100)
  expect(all.every((row: { success: boolean }) => row.success)).toBe(true)
  expect((await acode(workspace, ["audit", "verify"])).exitCode).toBe(0)
}, 120_000)
