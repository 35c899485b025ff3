import { describe, expect, test } from "bun:test"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { startAcode } from "../support/acode.ts"
import { check } from "../support/checker/checker.ts"
import { planFile } from "../support/crash/plan-crash.ts"
import { eventually } from "../support/eventually.ts"
import { sessionRows } from "../support/plan/plan-report.ts"
import { processesWith } from "../support/processes.ts"
import { confinedKind, missingSandbox, testWhere } from "../support/requirement.ts"
import { type SavedWorkspace, savedWorkspace } from "../support/workspace/saved-workspace.ts"

const confinedTest = testWhere(missingSandbox)

/** A plan of one step, approved; saved as `approved`. */
async function approve(saved: SavedWorkspace, tool: string, args: object): Promise<void> {
  const plan = { plan_id: "one", intent: "MUTATE", steps: [{ step_id: "only", tool, arguments: args }] }
  writeFileSync(planFile(saved.workspace), JSON.stringify(plan))
  expect((await saved.acode(["plan", "approve", planFile(saved.workspace)])).exitCode).toBe(0)
  saved.save("approved")
}

interface Shown {
  readonly state: string
  readonly exitCode: number
  readonly reason: string
  readonly calls: readonly { readonly outcome: string; readonly certainty: string }[]
}

async function shown(saved: SavedWorkspace): Promise<Shown> {
  return JSON.parse((await saved.acode(["session", "show", "--json"])).stdout)
}

describe("kill -9 while a command runs that reaches more than the workspace", () => {
  for (const sandbox of [confinedKind, "none"]) {
    const runs = sandbox === confinedKind ? confinedTest : test
    runs(
      `is told as unknown, exits 60 and leaves nothing running (${sandbox})`,
      async () => {
        using saved = savedWorkspace()
        const { workspace } = saved
        const marker = `61${process.pid}${sandbox.length}`
        mkdirSync(join(workspace.configHome, "acode"))
        writeFileSync(
          join(workspace.configHome, "acode", "config.yml"),
          `schema_version: "1"\nexecution:\n  sandbox: ${sandbox}\n`,
        )
        const script = `echo begun > begun.txt; setsid sleep ${marker} & sleep ${marker}`
        await approve(saved, "run_command", { argv: ["sh", "-c", script], network: "host" })
        await using running = startAcode(["plan", "run", planFile(workspace)], {
          cwd: workspace.root,
          env: workspace.environment,
        })
        const sleepers = () =>
          processesWith(`sleep ${marker}`).filter(live => live.commandLine.startsWith("sleep"))
        await eventually("both sleepers run", () => sleepers().length === 2)
        running.kill("SIGKILL")
        await running.ended
        const session = await shown(saved)
        expect(session).toMatchObject({
          state: "FAILED",
          exitCode: 60,
          calls: [{ outcome: "interrupted", certainty: "unknown" }],
        })
        expect(session.reason).toContain("it is unknown whether")
        expect(sleepers()).toEqual([])
        expect(await check(workspace)).toEqual([])
        expect((await saved.acode(["audit", "verify"])).exitCode).toBe(0)
      },
      60_000,
    )
  }
})

describe("an edit by somebody else between the crash and the recovery", () => {
  const cases = [
    { tool: "write_file", arguments: { path: "notes.txt", content: "ours\n" } },
    { tool: "delete_file", arguments: { paths: ["other.txt", "notes.txt"] } },
  ]
  test("is left alone, and the outcome of what was at that file is unknown", async () => {
    const found = await Promise.all(cases.map(({ tool, arguments: args }) => editedAfterCrash(tool, args)))
    for (const { atIntents } of found) expect(atIntents).toBeGreaterThan(3)
    expect(found.flatMap(({ wrong }) => wrong)).toEqual([])
  }, 240_000)
})

/** Crashes at every point between intent and outcome, with `notes.txt` changed before the next start. */
async function editedAfterCrash(tool: string, args: object) {
  using saved = savedWorkspace()
  const { workspace } = saved
  const path = workspace.write("notes.txt", "before\n")
  workspace.write("other.txt", "other\n")
  await approve(saved, tool, args)
  const wrong: unknown[] = []
  let atIntents = 0
  for (let point = 1; ; point++) {
    saved.restore("approved")
    const env = { ACODE_FAILPOINT: String(point) }
    const { signal } = await saved.acode(["plan", "run", planFile(workspace)], env)
    if (signal !== "SIGKILL") return { atIntents, wrong }
    const types = new Set(sessionRows(workspace).map(row => row.type))
    if (!types.has("tool_call.started") || types.has("tool_call.settled")) continue
    atIntents += 1
    writeFileSync(path, "somebody else\n")
    const { exitCode, calls } = await shown(saved)
    const text = readFileSync(path, "utf8")
    if (exitCode !== 60 || calls[0]?.certainty !== "unknown" || text !== "somebody else\n")
      wrong.push({ tool, point, exitCode, calls, text })
    wrong.push(...(await check(workspace)))
  }
}
