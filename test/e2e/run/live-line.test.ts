import { describe, expect } from "bun:test"
import { acodeProgram } from "../../support/acode.ts"
import { agentWorkspace } from "../../support/agent/agent-workspace.ts"
import { eventually } from "../../support/eventually.ts"
import { missingProgram, testWhere } from "../../support/requirement.ts"
import { reply } from "../../support/script-replies.ts"
import { openTerminal } from "../../support/terminal/terminal.ts"

const terminalTest = testWhere(missingProgram("tmux"))

describe("at a terminal a model that takes its time", () => {
  terminalTest("is seen to be waited for, and nothing of that stays", async () => {
    using room = agentWorkspace()
    const slow = { fault: { kind: "slow", after_ms: 2_500 } }
    room.script({ ...reply.plan({ write: ["a.txt"] }), ...slow })
    const argv = [acodeProgram(), "run", "make a file", "--script", room.scriptFile]
    using terminal = openTerminal({ argv, cwd: room.workspace.root, env: room.environment })
    expect(await terminal.see("the model is asked (planner): 1 s")).not.toContain("version 1")
    expect(await terminal.see("a approve")).not.toContain("is asked (planner)")
    terminal.type("x")
    expect(await terminal.exitStatus()).toBe(23)
  })
})

describe("at a terminal another session", () => {
  terminalTest(
    "is seen to be waited for",
    async () => {
      using room = agentWorkspace()
      const plan = reply.plan({ write: ["a.txt"] })
      room.script({ ...plan, fault: { kind: "slow", after_ms: 6_000 } })
      const flags = ["--plan-only", "--script", room.scriptFile]
      await using first = room.start("run", "first", "--json", ...flags)
      await eventually("it works", async () =>
        (await room.acode("session", "list", "--json")).stdout.includes('"first"'),
      )
      room.script(plan)
      const argv = [acodeProgram(), "run", "second", "--wait", ...flags]
      using terminal = openTerminal({ argv, cwd: room.workspace.root, env: room.environment })
      await terminal.see(`(process ${first.pid}): 1 s`)
      expect(await terminal.see("[SESSION] second")).not.toContain("waits for")
      expect(await terminal.exitStatus()).toBe(0)
    },
    30_000,
  )
})
