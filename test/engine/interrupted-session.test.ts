import { afterEach, describe, expect, test } from "bun:test"
import { systemIds } from "../../src/base/clock.ts"
import { ToolCallSettled } from "../../src/domain/events/call-events.ts"
import { SessionFinished, StepFinished } from "../../src/domain/events/session-events.ts"
import { endInterruptedPlan, openCommands } from "../../src/engine/interrupted-session.ts"
import { planUndo, undo } from "../../src/engine/undo.ts"
import { beginAndDie, beginCommand, dyingRoom, recoveryParts } from "../gate/interrupted-calls.ts"
import { event } from "../store/support/session-events.ts"
import { type GateRoom, gateRoom } from "../support/plan/gate-room.ts"

let room: GateRoom
afterEach(() => room[Symbol.dispose]())

async function end(): Promise<void> {
  await endInterruptedPlan({ ...recoveryParts(room), log: room.log }, room.events())
}

describe("a plan run whose process is gone", () => {
  test("in the middle of a step ends with what the step did, in one commit", async () => {
    room = dyingRoom({ files: { "a.txt": "old\n" } })
    room.log.append([
      event.stepStarted({ stepId: "s1", index: 0 }),
      event.stepFinished({ stepId: "s1", index: 0 }),
    ])
    room.log.append([event.stepStarted({ stepId: "s2", index: 1 })])
    await beginAndDie(room, "write_file", { path: "a.txt", content: "new\n" })
    room.put("a.txt", "new\n")
    room.commits.length = 0
    await end()
    expect(room.commits).toEqual([["tool_call.settled", "step.finished", "session.finished"]])
    const [settled] = room.data(ToolCallSettled)
    expect(settled).toMatchObject({ outcome: "interrupted", certainty: "done" })
    expect(room.data(StepFinished).at(-1)).toMatchObject({
      stepId: "s2",
      index: 1,
      success: false,
      callId: settled?.callId,
      code: "ACODE-EXE-013",
      message: expect.stringContaining("write_file was done: a.txt"),
    })
    expect(room.data(SessionFinished)).toMatchObject([
      { state: "FAILED", exitCode: 30, treeDigest: (await room.workspace.tree()).digest },
    ])
    expect(room.data(SessionFinished)[0]?.reason).toContain("write_file was done")
    expect(room.read("a.txt")).toBe("new\n")
  })

  test("can be undone like any other", async () => {
    room = dyingRoom({ files: { "a.txt": "old\n" } })
    await beginAndDie(room, "write_file", { path: "a.txt", content: "new\n" })
    room.put("a.txt", "new\n")
    await end()
    const { checkpoints, store, log, workspace } = room
    const { sessionId } = log
    const { artifacts } = store
    const parts = { sessionId, checkpoints, artifacts, ids: systemIds, workspace, others: [] }
    const plan = await planUndo(parts, room.events())
    const undone = await undo(parts, plan, new Map(), work => log.whileOwned(work))
    expect(undone.restored).toEqual(["a.txt"])
    expect(room.read("a.txt")).toBe("old\n")
  })

  test("in the middle of what nobody can look up exits 60", async () => {
    room = gateRoom()
    room.log.append([event.stepStarted()])
    await beginCommand(room, { effectClass: "once", hasCheckpoint: false })
    expect(openCommands(room.events())).toEqual(["exe_1"])
    await end()
    expect(room.data(SessionFinished)).toMatchObject([{ state: "FAILED", exitCode: 60 }])
    expect(openCommands(room.events())).toEqual([])
    expect(room.store.executions.show("exe_1")?.result.ending).toBe("interrupted")
  })

  test("before its tool was called has no call to name", async () => {
    room = gateRoom()
    room.log.append([event.stepStarted({ index: 3 })])
    await end()
    expect(room.data(StepFinished)).toMatchObject([
      { index: 3, success: false, callId: null, code: "ACODE-EXE-013", diagnostics: [] },
    ])
  })

  test("between two steps says that every step that began is finished", async () => {
    room = gateRoom()
    room.log.append([event.stepStarted(), event.stepFinished()])
    room.commits.length = 0
    await end()
    expect(room.commits).toEqual([["session.finished"]])
    expect(room.data(SessionFinished)[0]).toMatchObject({
      exitCode: 30,
      reason: expect.stringContaining("between two steps"),
    })
  })

  test("leaves a chain that verifies, and a session nobody finds open again", async () => {
    room = dyingRoom({ files: { "a.txt": "old\n" } })
    await beginAndDie(room, "read_file", { path: "a.txt" })
    await end()
    expect(room.store.verify().problems).toEqual([])
    expect(room.store.sessions.interrupted(() => false)).toEqual([])
    expect(room.store.sessions.find(room.log.sessionId)).toMatchObject({ state: "FAILED", exitCode: 30 })
  })

  test("while a person was asked leaves the question without an answer, and nothing done", async () => {
    room = gateRoom({ files: { "a.txt": "old\n" } })
    room.log.append([
      event.stepStarted(),
      event.callRequested("cal_1", { tool: "file_write" }),
      event.approvalRequested("apr_1", room.log.sessionId),
    ])
    await end()
    expect(room.data(ToolCallSettled)).toMatchObject([{ outcome: "interrupted", certainty: "notDone" }])
    expect(room.store.approvals.find("apr_1")).toMatchObject({ state: "abandoned" })
  })
})
