import { describe, expect, test } from "bun:test"
import { agentWorkspace } from "../support/agent-workspace.ts"
import { greeting } from "../support/script-replies.ts"

describe("the replies of a session that came from a file", () => {
  test("are not asked of a server when it goes on without one", async () => {
    using room = agentWorkspace()
    room.script(...greeting())
    const rested = await room.acode("run", "x", "--plan-only", "--yes=plan", "--script", room.scriptFile)
    expect(rested.stdout).toMatch(/next: acode resume \w+ --script FILE {2}·/)
    expect((await room.acode("status")).stdout).toMatch(/acode resume \w+ --script FILE {2}·/)
    for (const line of [["resume"], ["resume", "--mode", "local-only"]]) {
      const { exitCode, stderr } = await room.acode(...line)
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining("say --script FILE (or --replay FILE)")])
    }
    // Nothing is written of a resume that was refused.
    expect((await room.acode("session", "logs", "--json")).stdout).not.toContain("session.resumed")
    expect((await room.resume()).exitCode).toBe(0)
  })
})
