import { expect, test } from "bun:test"
import { agentWorkspace } from "../../support/agent/agent-workspace.ts"
import { greeting } from "../../support/script-replies.ts"

test("a recording inside of the workspace can be replayed there", async () => {
  using room = agentWorkspace()
  room.script(...greeting())
  expect((await room.run("--yes=plan", "--record", "session.jsonl")).exitCode).toBe(0)
  expect((await room.acode("session", "undo", "--yes")).exitCode).toBe(0)
  expect(room.file("greeting.txt")).toBeNull()
  const again = await room.acode("run", "do what is asked", "--yes=plan", "--replay", "session.jsonl")
  expect([again.exitCode, room.file("greeting.txt")]).toEqual([0, "hello\n"])
})
