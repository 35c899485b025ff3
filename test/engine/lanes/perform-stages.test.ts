import { afterEach, describe, expect, test } from "bun:test"
import { type AgentRoom, agentRoom } from "../../support/agent/agent-room.ts"
import { check } from "../../support/checker/checker.ts"
import { greeting, reply } from "../../support/script-replies.ts"

let room: AgentRoom | null = null
afterEach(() => {
  room?.[Symbol.dispose]()
  room = null
})

/** Somebody else writes the file each time the review begins. */
function meddling(times: number) {
  let count = 0
  return {
    surface: {
      onEvent: ({ type, data }: { readonly type: string; readonly data: unknown }) => {
        if (type !== "stage.entered" || (data as { readonly stage: string }).stage !== "reviewer") return
        if (count < times) room?.workspace.write("greeting.txt", `hello number ${++count}\n`)
      },
    },
  }
}

describe("a tree that was changed after its verification", () => {
  test("is not done: it is verified again", async () => {
    room = await agentRoom(greeting(reply.review("approve"), reply.review("approve")), meddling(1))
    expect(await room.drive()).toMatchObject({ state: "COMPLETED", exitCode: 0 })
    expect(room.data("transition.refused")).toMatchObject([{ from: "reviewer", to: "complete" }])
    expect(room.data("check.finished")).toHaveLength(2)
    expect(await check(room.workspace)).toEqual([])
  })

  test("never ends in exit 0 while it goes on; with another cycle it is verified again", async () => {
    const limits = { cyclesMax: 1 }
    room = await agentRoom(greeting(...[1, 2, 3].map(() => reply.review("approve"))), {
      ...meddling(2),
      limits,
    })
    expect(await room.drive()).toMatchObject({
      exitCode: 21,
      reason: expect.stringContaining("--max-cycles 2"),
    })
    limits.cyclesMax = 2
    expect(await room.drive()).toMatchObject({ state: "COMPLETED", exitCode: 0 })
    expect(room.data("check.finished")).toHaveLength(3)
    expect(await check(room.workspace)).toEqual([])
  })

  test("is exit 40 where no cycle may be taken", async () => {
    room = await agentRoom(greeting(), { ...meddling(1), limits: { cyclesMax: 0 } })
    expect(await room.drive()).toMatchObject({ exitCode: 40 })
  })
})

describe("the end of a session", () => {
  test("says how long it took, in tools as well", async () => {
    room = await agentRoom(greeting())
    await room.drive()
    const [end] = room.data("session.finished")
    const tools = room.data("tool_call.settled").map(({ durationMs }) => Number(durationMs))
    expect(end?.["toolMs"]).toBe(tools.reduce((sum, each) => sum + each, 0))
    expect(Number(end?.["wallMs"])).toBeGreaterThan(0)
  })

  test("is unverified where nothing was to be checked, and says so", async () => {
    room = await agentRoom([
      reply.plan({ write: ["greeting.txt"] }),
      reply.write("greeting.txt", "x"),
      reply.finish(),
      reply.review("approve"),
    ])
    expect(await room.drive()).toMatchObject({ exitCode: 41, unverified: true })
  })

  test("comes with the end of the stage and the move in one commit", async () => {
    room = await agentRoom(greeting())
    await room.drive()
    const moves = room.events().flatMap((event, index, all) => {
      return event.type === "stage.transitioned" ? [all[index - 1]?.type] : []
    })
    expect(moves).toEqual(["stage.finished", "stage.finished", "stage.finished", "stage.finished"])
  })
})
