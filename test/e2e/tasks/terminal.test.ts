import { expect } from "bun:test"
import { acodeProgram } from "../../support/acode.ts"
import { check } from "../../support/checker/checker.ts"
import { missingProgram, testWhere } from "../../support/requirement.ts"
import { taskWorkspace } from "../../support/task-workspace.ts"
import { openTerminal } from "../../support/terminal/terminal.ts"

testWhere(missingProgram("tmux"))(
  "at a terminal of 80 columns the last line says which task a model is asked for, until Ctrl-C cancels it",
  async () => {
    using room = taskWorkspace()
    for (const id of ["one", "two", "three"]) room.task(id)
    const slow = { stage: "agent", text: "late", fault: { kind: "slow", after_ms: 3_600_000 } }
    const script = room.script({ stage: "agent", text: "words" }, slow, slow)
    const argv = [acodeProgram(), "agent", "run", "--pending", "--parallel", "2", "--script", script]
    const env = { ...room.temp.environment, HOME: room.temp.outside }
    using terminal = openTerminal({ argv, cwd: room.temp.root, env, columns: 80, rows: 24 })
    const screen = await terminal.see(/… .* is asked \((one|two|three)\) and 1 other task: \d+ s$/m)
    expect(screen).toMatch(/^✓ (one|two|three) → out\/\w+\.md/m)
    terminal.press("C-c")
    expect(await terminal.exitStatus()).toBe(130)
    expect(terminal.screen()).not.toContain("is asked")
    const statuses = ["one", "two", "three"].map(id => room.stored(id).status)
    expect(statuses.toSorted()).toEqual(["cancelled", "cancelled", "completed"])
    expect(await check(room.temp)).toEqual([])
  },
)
