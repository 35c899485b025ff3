import { describe, expect } from "bun:test"
import { acodeProgram } from "../support/acode.ts"
import { processesWith } from "../support/processes.ts"
import { missingProgram, testWhere } from "../support/requirement.ts"
import { openTerminal } from "../support/terminal/terminal.ts"
import { tempWorkspace } from "../support/workspace/temp-workspace.ts"

const terminalTest = testWhere(missingProgram("tmux"))

describe("at a real terminal", () => {
  terminalTest("output is live: the first line is there while the command still runs", async () => {
    using workspace = tempWorkspace()
    const argv = [
      acodeProgram(),
      "exec",
      "--timeout",
      "60",
      "--",
      "sh",
      "-c",
      "echo first; sleep 50; echo last",
    ]
    using terminal = openTerminal({ argv, cwd: workspace.root, env: workspace.environment })
    const screen = await terminal.see("first")
    expect(screen).not.toContain("last")
    terminal.press("C-c")
    expect(await terminal.exitStatus()).toBe(130)
  })

  terminalTest("a person is told once which sandbox and network are in force", async () => {
    using workspace = tempWorkspace()
    const argv = [acodeProgram(), "exec", "--", "echo", "done"]
    using terminal = openTerminal({ argv, cwd: workspace.root, env: workspace.environment })
    expect(await terminal.exitStatus()).toBe(0)
    const screen = await terminal.see("done")
    expect(screen).toContain("sandbox")
    expect(screen.match(/sandbox/g)).toHaveLength(1)
  })

  terminalTest("Ctrl-C ends the whole tree, and the run is recorded as cancelled", async () => {
    using workspace = tempWorkspace()
    const marker = `41${process.pid}3`
    const script = `setsid sleep ${marker} & echo ready; sleep ${marker}`
    const argv = [acodeProgram(), "exec", "--", "sh", "-c", script]
    using terminal = openTerminal({ argv, cwd: workspace.root, env: workspace.environment })
    await terminal.see("ready")
    terminal.press("C-c")
    expect(await terminal.exitStatus()).toBe(130)
    expect(processesWith(`sleep ${marker}`).filter(live => live.commandLine.startsWith("sleep"))).toEqual([])
    const listed = Bun.spawnSync([acodeProgram(), "runs", "list", "--json"], {
      cwd: workspace.root,
      env: { ...workspace.environment },
    })
    expect(JSON.parse(listed.stdout.toString())).toMatchObject([{ ending: "cancelled", success: false }])
  })

  terminalTest("recorded escapes are made visible instead of being acted on", async () => {
    using workspace = tempWorkspace()
    const env = { ...workspace.environment }
    const title = "\\033]0;owned\\007\\033[2Jgone"
    Bun.spawnSync([acodeProgram(), "exec", "--", "printf", title], { cwd: workspace.root, env })
    const listed = Bun.spawnSync([acodeProgram(), "runs", "list", "--json"], { cwd: workspace.root, env })
    const [{ id }] = JSON.parse(listed.stdout.toString())
    using terminal = openTerminal({ argv: [acodeProgram(), "runs", "show", id], cwd: workspace.root, env })
    const output = "\\x1b]0;owned\\x07\\x1b[2Jgone"
    expect(await terminal.see(output)).toContain(id)
  })
})
