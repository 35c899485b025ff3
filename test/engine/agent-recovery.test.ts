import { afterEach, describe, expect, test } from "bun:test"
import { type AgentRoom, agentRoom } from "../support/agent-room.ts"
import { check } from "../support/checker.ts"
import { contains, open, reply } from "../support/script-replies.ts"

let room: AgentRoom | null = null
afterEach(() => {
  room?.[Symbol.dispose]()
  room = null
})

const steps = [open("s1"), open("s2", "RUN_COMMAND", { depends_on: ["s1"] })]
const replies = [
  reply.plan({
    write: ["*.txt"],
    commands: [["sh", "-c"]],
    steps,
    acceptance: [contains("greeting.txt", "hello"), contains("built.txt", "once", "a2")],
  }),
  reply.calls(
    ["write_file", { path: "greeting.txt", content: "hello\n" }],
    ["write_file", { path: "other.txt", content: "x\n" }],
  ),
  reply.finish(),
  reply.calls(["run_command", { argv: ["sh", "-c", "echo once > built.txt"] }]),
  reply.finish(),
  reply.review("approve"),
]

class Died extends Error {}

/** Ends the process, as far as the session can tell, at the n-th of these points. */
function dyingAt(points: readonly string[], count: number) {
  let reached = 0
  return {
    reach: (point: string) => {
      if (points.includes(point) && ++reached === count) throw new Died()
    },
  }
}

const points = ["agent.asked", "agent.performed", "agent.checked"]

describe("a session whose process died", () => {
  test.each([3, 8, 12, 16, 20, 24, 28])("after point %i ends with the same files", async count => {
    room = await agentRoom(replies)
    await expect(room.drive({ faults: dyingAt(points, count) })).rejects.toThrow(Died)
    expect(await room.drive()).toMatchObject({ state: "COMPLETED", exitCode: 0 })
    expect(["greeting.txt", "other.txt", "built.txt"].map(room.file)).toEqual(["hello\n", "x\n", "once\n"])
    expect(await check(room.workspace)).toEqual([])
  })

  test("cannot make a call whose arguments held a secret; the model is told and asks again", async () => {
    const secret = "ghp_0123456789abcdefghijABCDEFGHIJ456789"
    const write = reply.write("keys.txt", `token: ${secret}\n`)
    const plan = reply.plan({ write: ["keys.txt"], acceptance: [contains("keys.txt", "token")] })
    room = await agentRoom([plan, write, write, reply.finish(), reply.review("approve")])
    const dies = { call: () => Promise.reject(new Died()) }
    await expect(room.drive({ gate: dies })).rejects.toThrow(Died)
    expect(await room.drive()).toMatchObject({ state: "COMPLETED", exitCode: 0 })
    const errors = room.data("tool_call.settled").map(({ error }) => error)
    expect(errors).toMatchObject([{ code: "ACODE-EXEC-007" }, null])
    expect(room.data("tool_call.requested").map(({ tool }) => tool)).toEqual(["write_file", "write_file"])
    expect(room.file("keys.txt")).toBe(`token: ${secret}\n`)
    const found = await check(room.workspace, { secrets: [secret] })
    expect(found.filter(line => !line.includes("/checkpoints/"))).toEqual([])
  })

  test("asks for the reply again that was not recorded, and for no other", async () => {
    room = await agentRoom(replies)
    await expect(room.drive({ faults: dyingAt(["agent.asked"], 2) })).rejects.toThrow(Died)
    await room.drive()
    expect(room.requests.map(({ replyIndex }) => replyIndex)).toEqual([0, 1, 2, 3, 4, 5])
  })

  test("does what was not done, and never twice what was", async () => {
    room = await agentRoom(replies)
    await expect(room.drive({ faults: dyingAt(["agent.performed"], 9) })).rejects.toThrow(Died)
    const before = room.data("tool_call.settled").length
    expect(await room.drive()).toMatchObject({ exitCode: 0 })
    expect(before).toBeGreaterThan(0)
    expect(room.data("tool_call.settled")).toHaveLength(3)
    expect(room.data("session.resumed")).toHaveLength(1)
  })
})
