import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { createSessionRecorder } from "../../src/gate/session-recorder.ts"
import { processIdentity } from "../../src/store/process-identity.ts"
import { event } from "../store/support/session-events.ts"
import { recordOf, startOf } from "../store/support/store-fixture.ts"
import { type GateRoom, gateRoom } from "../support/plan/gate-room.ts"

let room: GateRoom
let recorder: ReturnType<typeof createSessionRecorder>
beforeEach(() => {
  room = gateRoom()
  recorder = createSessionRecorder(room.log, room.store.executions, processIdentity())
})
afterEach(() => room[Symbol.dispose]())

const ofCall = { correlationIds: { toolCallId: "cal_1" } }
const outputs = { stdout: null, stderr: null }

function begin(): void {
  recorder.announce("cal_1", [event.callRequested("cal_1"), event.callStarted("cal_1")])
  const { command, correlationIds, sandbox } = startOf("exe_1", ofCall)
  recorder.started({ id: "exe_1", command, correlationIds, sandbox })
}

describe("a command in a session", () => {
  test("starts in one commit with the intent of its call, and not before", () => {
    recorder.announce("cal_1", [event.callRequested("cal_1")])
    expect([room.commits, recorder.hasStarted("cal_1")]).toEqual([[], false])
    begin()
    expect(room.commits).toEqual([["tool_call.requested", "tool_call.started", "command.started"]])
    expect(recorder.hasStarted("cal_1")).toBe(true)
    expect(room.store.executions.list({})).toMatchObject([{ id: "exe_1", ending: null }])
  })

  test("keeps its end for the commit of the outcome", () => {
    begin()
    recorder.finished(recordOf("exe_1", ofCall), outputs)
    expect(room.commits).toHaveLength(1)
    const outcome = recorder.takeOutcome("cal_1")
    expect(outcome).toMatchObject({ type: "command.finished", data: { executionId: "exe_1" } })
    if (outcome === null) throw new Error("it has ended")
    room.log.append([outcome, event.callSettled("cal_1")])
    expect(room.store.executions.show("exe_1")).toEqual(recordOf("exe_1", ofCall))
  })

  test("is forgotten once its outcome was taken", () => {
    begin()
    recorder.finished(recordOf("exe_1", ofCall), outputs)
    recorder.takeOutcome("cal_1")
    expect([recorder.hasStarted("cal_1"), recorder.takeOutcome("cal_1")]).toEqual([false, null])
  })

  test("that started and gave no end is closed as interrupted", () => {
    begin()
    expect(recorder.takeOutcome("cal_1")).toMatchObject({
      data: { executionId: "exe_1", result: { ending: "interrupted" } },
    })
  })

  test("that never started has no outcome", () => {
    recorder.announce("cal_1", [event.callRequested("cal_1")])
    expect(recorder.takeOutcome("cal_1")).toBeNull()
  })

  test("of no call is a mistake", () => {
    const { command, correlationIds, sandbox } = startOf("exe_2", { correlationIds: { toolCallId: "cal_2" } })
    expect(() => recorder.started({ id: "exe_2", command, correlationIds, sandbox })).toThrow("announced")
    expect(room.commits).toEqual([])
  })
})
