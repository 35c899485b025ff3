import { describe, expect, test } from "bun:test"
import { agentService } from "../../support/agent/agent-service.ts"
import { check } from "../../support/checker/checker.ts"
import { longSession } from "../../support/crash/long-session.ts"

describe("a long session", () => {
  test("works with 100 steps, 1,000 calls and 10 cycles", async () => {
    using room = agentService({})
    const end = await room.drive(longSession(100, 10, 10), { limits: { cyclesMax: 10 } })
    const count = (type: string) => room.events.filter(event => event.type === type).length
    expect([end.state, end.exitCode]).toEqual(["COMPLETED", 0])
    expect(count("step.finished")).toBe(110)
    expect(count("tool_call.settled")).toBe(1_010)
    expect(count("cycle.started")).toBe(10)
    expect(room.file("count.txt")).toBe("10\n")
    expect(await check(room.workspace)).toEqual([])
  }, 120_000)
})
