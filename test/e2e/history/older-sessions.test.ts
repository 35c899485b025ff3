import { expect, test } from "bun:test"
import { agentRoom } from "../../support/agent/agent-room.ts"
import { check } from "../../support/checker/checker.ts"
import { greeting, reply } from "../../support/script-replies.ts"

test("a session from before models had a limit of their own is read, verified and resumed with the limit it had", async () => {
  const busy = reply.fault("planner", "overloaded")
  const limits = { modelRetriesMax: undefined, stepRetriesMax: 4 }
  using room = await agentRoom([...Array(8).fill(busy), ...greeting()], { limits })
  expect(await room.drive()).toMatchObject({ exitCode: 4 })
  expect(room.requests).toHaveLength(5)
  const [started] = room.data("session.started")
  expect(started).toMatchObject({ agent: { limits: { stepRetriesMax: 4 } } })
  expect(JSON.stringify(started)).not.toContain("modelRetriesMax")

  for (const command of [
    ["audit", "verify"],
    ["session", "validate"],
    ["session", "show"],
  ])
    expect([command, (await room.acode(...command)).exitCode]).toEqual([command, 0])
  const resumed = await room.resume("--yes=plan")
  expect([resumed.exitCode, room.file("greeting.txt")]).toEqual([0, "hello\n"])
  expect(resumed.data("turn.finished").filter(({ failure }) => failure !== null)).toHaveLength(3)
  expect(await check(room.workspace)).toEqual([])
}, 60_000)
