import { expect } from "bun:test"
import { closeSync, openSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { acodeProgram } from "../support/acode.ts"
import { eventually } from "../support/eventually.ts"
import { planWorkspace } from "../support/plan/plan-workspace.ts"
import { missingSandbox, testWhere } from "../support/requirement.ts"

testWhere(missingSandbox)(
  "what a killed run printed into the workspace is not among its changes, and undo leaves it",
  async () => {
    using room = planWorkspace()
    const { root, environment } = room.workspace
    room.plan([["run_command", { argv: ["sh", "-c", "echo x > partial.txt; exec sleep 60"] }]])
    await room.acode("plan", "approve", room.planFile)
    const output = openSync(join(root, "out.txt"), "w")
    const run = Bun.spawn([acodeProgram(), "plan", "run", room.planFile], {
      cwd: root,
      env: { ...environment },
      stdio: ["ignore", output, output],
    })
    closeSync(output)
    await eventually("the command has begun", () => Bun.file(join(root, "partial.txt")).size > 0)
    run.kill("SIGKILL")
    await run.exited
    const shown = JSON.parse((await room.acode("session", "show", "--json")).stdout)
    expect(shown).toMatchObject({ state: "FAILED", exitCode: 60 })
    expect(shown.reason).toContain("partial.txt")
    expect(shown.reason).not.toContain("out.txt")
    const undone = await room.acode("session", "undo", "--commands", "--json")
    expect(JSON.parse(undone.stdout)).toMatchObject({ removed: ["partial.txt"], foreign: [] })
    expect(readFileSync(join(root, "out.txt"), "utf8")).toContain("[1/1]")
  },
)
