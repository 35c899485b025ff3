import { describe, expect, test } from "bun:test"
import { agentWorkspace } from "../../support/agent/agent-workspace.ts"
import { scriptedAnswers } from "../../support/model-server/scripted.ts"
import { startModelServer } from "../../support/model-server/server.ts"
import { greeting } from "../../support/script-replies.ts"
import { tcpDoor } from "../../support/tcp-door.ts"
import { httpWorkspace } from "../../support/workspace/http-workspace.ts"

describe("the replies of a session that came from a file", () => {
  test("are not asked of a server when it goes on without one", async () => {
    using room = agentWorkspace()
    room.script(...greeting())
    const rested = await room.acode("run", "x", "--plan-only", "--yes=plan", "--script", room.scriptFile)
    expect(rested.stdout).toMatch(/next: acode resume \w+ --script \S+script\.json {2}·/)
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

test("a server that is somewhere else by now is used as soon as the configuration says so", async () => {
  const answer = scriptedAnswers(greeting())
  await using server = await startModelServer({ protocol: "openai", answer })
  await using door = await tcpDoor(server.endpoint)
  using room = httpWorkspace({ endpoint: door.endpoint, model: { provider: "openai" } })
  expect((await room.ask("--plan-only", "--yes=plan")).exitCode).toBe(0)
  await door.shut()
  room.configure({ endpoint: server.endpoint, model: { provider: "openai" } })
  const end = await room.goOn()
  expect([end.exitCode, room.file("greeting.txt")]).toEqual([0, "hello\n"])
  expect(end.stderr).toContain(`${server.endpoint} instead of ${door.endpoint}`)
  expect(end.data("session.resumed")[0]).toMatchObject({
    settings: { selection: { endpoint: server.endpoint } },
  })
}, 30_000)
