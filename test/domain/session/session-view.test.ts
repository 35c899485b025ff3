import { describe, expect, test } from "bun:test"
import type { NewEvent } from "../../../src/domain/events/definition.ts"
import { type SessionEvent, sessionView } from "../../../src/domain/session/session-view.ts"
import { event } from "../../store/support/session-events.ts"

const origin = {
  planId: "plan-1",
  planHash: "sha256:1",
  taskId: "t1",
  stepId: "s1",
  stepKey: "k1",
  modelCallId: null,
}

/** The events as the log would give them back, a second apart. */
function viewOf(...events: readonly NewEvent[]) {
  const recorded = events.map(
    ({ type, data }, index): SessionEvent => ({ seq: index + 1, at: at(index), type, data }),
  )
  return sessionView("ses_1", recorded)
}

function at(index: number): string {
  return `2026-01-02T03:04:0${index}.000Z`
}

describe("the view of a session", () => {
  test("of no events is a session that nothing is known about", () => {
    expect(viewOf()).toMatchObject({ id: "ses_1", state: "CREATED", steps: [], calls: [], endedAt: null })
  })

  test("that has just started has its plan and no end", () => {
    const view = viewOf(event.sessionStarted({ goal: "tidy up", stepCount: 3, approvalId: "apr_9" }))
    expect(view).toMatchObject({
      lane: "plan",
      goal: "tidy up",
      state: "CREATED",
      planId: "plan-1",
      planHash: `sha256:${"1".repeat(64)}`,
      approvalId: "apr_9",
      stepCount: 3,
      reason: null,
      exitCode: null,
      startedAt: at(0),
      endedAt: null,
      undoneAt: null,
      partlyUndoneAt: null,
    })
  })

  test("executes from its first step on, and ends as its last event says", () => {
    const running = [event.sessionStarted(), event.stepStarted()]
    expect(viewOf(...running).state).toBe("EXECUTING")
    const end = event.sessionFinished({
      state: "FAILED",
      reason: "step failed",
      exitCode: 30,
      unverified: true,
    })
    expect(viewOf(...running, end)).toMatchObject({
      state: "FAILED",
      reason: "step failed",
      exitCode: 30,
      unverified: true,
      endedAt: at(2),
    })
  })

  test("that rests has a reason and no end", () => {
    const view = viewOf(event.sessionStarted(), event.sessionRested())
    expect(view).toMatchObject({ state: "AWAITING_APPROVAL", exitCode: 10, endedAt: null })
  })

  test("that was undone says when, and still how it ended", () => {
    const view = viewOf(event.sessionStarted(), event.sessionFinished(), event.sessionUndone())
    expect(view).toMatchObject({ state: "COMPLETED", endedAt: at(1), undoneAt: at(2), partlyUndoneAt: null })
  })

  test("that was undone but for something is not undone", () => {
    for (const left of [{ foreign: ["b.txt"] }, { blocked: [{ path: "b.txt", reason: "no copy" }] }]) {
      const view = viewOf(event.sessionStarted(), event.sessionFinished(), event.sessionUndone(left))
      expect(view).toMatchObject({ undoneAt: null, partlyUndoneAt: at(2) })
    }
  })

  test("that goes on after it was undone is not undone any more", () => {
    const view = viewOf(
      event.sessionStarted(),
      event.sessionRested(),
      event.sessionUndone(),
      event.sessionResumed(),
    )
    expect(view).toMatchObject({ state: "EXECUTING", undoneAt: null })
  })

  test("passes over events it does not know", () => {
    const unknown = { type: "moon.waxed", version: 1, data: { phase: 3 } }
    expect(viewOf(event.sessionStarted(), unknown).goal).toBe("tidy up")
  })
})

describe("a step", () => {
  const begun = [event.sessionStarted(), event.stepStarted()]

  test("is open while it runs and already names the evidence of its call", () => {
    expect(viewOf(...begun).steps).toMatchObject([
      { id: "s1", outcome: "open", evidenceId: null, endedAt: null },
    ])
    const asked = viewOf(...begun, event.callRequested("cal_1", { origin }))
    expect(asked.steps).toMatchObject([{ outcome: "open", evidenceId: "cal_1" }])
  })

  test("succeeds with the evidence of its call", () => {
    const { steps } = viewOf(
      ...begun,
      event.callRequested("cal_1", { origin }),
      event.callStarted("cal_1"),
      event.callSettled("cal_1"),
      event.stepFinished({ callId: "cal_1", durationMs: 7, waitMs: 2 }),
    )
    expect(steps).toEqual([
      {
        id: "s1",
        taskId: "t1",
        planNumber: 0,
        index: 0,
        stepCount: 1,
        title: "first",
        tool: "file_read",
        stepKey: "k1",
        outcome: "succeeded",
        evidenceId: "cal_1",
        code: null,
        message: null,
        startedAt: at(1),
        endedAt: at(5),
        durationMs: 7,
        waitMs: 2,
      },
    ])
  })

  test("fails with its code, also when it never came to a call", () => {
    const failed = event.stepFinished({ success: false, code: "E101", message: "a.txt is not there" })
    expect(viewOf(...begun, failed).steps).toMatchObject([
      { outcome: "failed", evidenceId: null, code: "E101", message: "a.txt is not there" },
    ])
  })

  test("whose call was interrupted is interrupted, not failed", () => {
    const { steps } = viewOf(
      ...begun,
      event.callRequested("cal_1", { origin }),
      event.callSettled("cal_1", { outcome: "interrupted", certainty: "unknown" }),
      event.stepFinished({ success: false, callId: "cal_1", code: "ACODE-EXEC-001" }),
    )
    expect(steps).toMatchObject([{ outcome: "interrupted" }])
  })

  test("that a session left open when it ended was interrupted", () => {
    const ended = viewOf(...begun, event.callRequested("cal_1", { origin }), event.sessionFinished())
    expect(ended.steps).toMatchObject([{ outcome: "interrupted", evidenceId: "cal_1", endedAt: null }])
  })

  test("takes only calls of its own task", () => {
    const other = event.callRequested("cal_2", { origin: { ...origin, taskId: "t2" } })
    expect(viewOf(...begun, other).steps).toMatchObject([{ evidenceId: null }])
  })

  test("that was finished without having started is passed over", () => {
    expect(viewOf(event.sessionStarted(), event.stepFinished({ index: 7 })).steps).toEqual([])
  })
})

describe("an approval of a session", () => {
  const asked = [
    event.sessionStarted(),
    event.approvalRequested("apr_1", "ses_1", { callId: "cal_1", level: 3 }),
  ]

  test("is open until it is answered", () => {
    expect(viewOf(...asked).approvals).toEqual([
      {
        id: "apr_1",
        callId: "cal_1",
        stepId: "s1",
        operation: "write a.txt",
        level: 3,
        requestedAt: at(1),
        answer: null,
        answeredBy: null,
        answeredAt: null,
        reason: null,
      },
    ])
  })

  test("has its first answer, and no later one", () => {
    const first = event.approvalAnswered("apr_1", { answer: "granted", by: "ada", reason: "looks fine" })
    const second = event.approvalAnswered("apr_1", { answer: "refused", by: "bob" })
    expect(viewOf(...asked, first, second).approvals).toMatchObject([
      { answer: "granted", answeredBy: "ada", answeredAt: at(2), reason: "looks fine" },
    ])
  })

  test("that nobody asked for is passed over", () => {
    expect(viewOf(event.sessionStarted(), event.approvalAnswered("apr_9")).approvals).toEqual([])
  })
})
