import { describe, expect, test } from "bun:test"
import {
  callAsked,
  callBegan,
  callSettled,
  replied,
  startMs,
  wanted,
} from "../../support/pipeline/pipeline-events.ts"
import { atReviewer, atStep, stepAt } from "../../support/pipeline/pipeline-sessions.ts"

const asking = () => atStep().add(replied({ calls: [wanted("c1", "write_file")] }), callAsked("call_1", "c1"))
const resultOf = ({ state }: ReturnType<typeof atStep>) => state.turns[0]?.calls[0]?.result ?? null

describe("a call", () => {
  test("is open until it is settled", () => {
    const session = asking()
    const open = { callId: "call_1", modelCallId: "c1", stepId: null, effectClass: null, isRead: false }
    expect(session.state.openCalls).toEqual([open])
    session.add(callBegan("call_1", "replace"))
    expect(session.state.openCalls).toEqual([{ ...open, effectClass: "replace" }])
    expect(session.add(callSettled("call_1")).state.openCalls).toEqual([])
  })

  test("gives the model its result", () => {
    expect(resultOf(asking().add(callSettled("call_1")))).toEqual({
      outcome: "succeeded",
      certainty: "done",
      text: "ok",
      digest: "digest",
    })
  })

  test("that failed is known by its message where it has no digest", () => {
    const error = { code: "ACODE-EXE-003", message: "it broke", where: null, hint: null }
    const settled = callSettled("call_1", { outcome: "failed", error, resultDigest: null, text: null })
    expect(resultOf(asking().add(settled))).toMatchObject({ text: "", digest: "it broke" })
  })

  test.each([
    ["notDone", null],
    ["partly", null],
    ["done", "done"],
    ["unknown", "unknown"],
  ] as const)("that was cut off and is %s has the result %p", (certainty, result) => {
    const session = asking().add(callSettled("call_1", { outcome: "interrupted", certainty }))
    expect(resultOf(session)?.certainty ?? null).toBe(result)
    expect(session.state.unknownCall).toBe(certainty === "unknown" ? "call_1" : null)
  })
})

describe("a step", () => {
  test("knows what its calls did", () => {
    const session = asking().add(callSettled("call_1", { changed: ["a", "b"] }), callAsked("call_2"))
    session.add(callSettled("call_2", { changed: ["b", "c"], executionId: "exe_1" }))
    expect(stepAt(session, 0)).toMatchObject({
      callCount: 2,
      commandCount: 1,
      changedPaths: ["a", "b", "c"],
      lastCall: { callId: "call_2", failure: null },
      refusalCode: null,
    })
  })

  test("does not count calls that were not let happen, but remembers why", () => {
    const error = { code: "ACODE-SEC-005", message: "outside", where: null, hint: null }
    const denied = callSettled("call_1", { outcome: "denied", certainty: "notDone", error })
    const session = asking().add(denied)
    const lastCall = { callId: "call_1", failure: { code: "ACODE-SEC-005", message: "outside" } }
    expect(stepAt(session, 0)).toMatchObject({ callCount: 0, lastCall, refusalCode: "ACODE-SEC-005" })
  })

  test("does not count calls that are made again", () => {
    const session = asking().add(callSettled("call_1", { outcome: "interrupted", certainty: "notDone" }))
    expect(stepAt(session, 0)).toMatchObject({ callCount: 0, lastCall: null })
  })

  test("is not held up by a person who takes time", () => {
    const session = asking().add(callSettled("call_1", { waitMs: 300 }))
    expect(stepAt(session, 0).startedAtMs).toBe(startMs + 300)
    expect(session.state.stage?.enteredAtMs).toBe(startMs + 300)
    expect(session.state.drivenSinceMs).toBe(startMs + 300)
  })
})

describe("the last change of a file", () => {
  test("is that of the last call that changed one, whatever stage it is", () => {
    const session = atReviewer()
    const before = session.state.lastChangeSeq
    session.add(callAsked("call_8"), callSettled("call_8"))
    expect(session.state.lastChangeSeq).toBe(before)
    session.add(callAsked("call_9"), callSettled("call_9", { changed: ["a"] }))
    expect(session.state.lastChangeSeq).toBe(session.events.length)
  })

  test("may be too many to stand in the event", () => {
    const changes = { kind: "artifact", ref: "sha256:0", bytes: 9_000, count: 400 } as const
    const session = asking().add(callSettled("call_1", { changes }))
    expect(session.state.lastChangeSeq).toBe(session.events.length)
    expect(stepAt(session, 0).changedPaths).toEqual(["…"])
  })
})
