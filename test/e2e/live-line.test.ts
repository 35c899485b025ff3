import { describe, expect } from "bun:test"
import { acodeProgram } from "../support/acode.ts"
import { agentWorkspace } from "../support/agent-workspace.ts"
import { missingProgram, testWhere } from "../support/requirement.ts"
import { reply } from "../support/script-replies.ts"
import { openTerminal } from "../support/terminal.ts"

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
