import { describe, expect, test } from "bun:test"
import { newEvent } from "../../../src/domain/events/definition.ts"
import {
  SessionCancelled,
  SessionPaused,
  StageProgressed,
} from "../../../src/domain/events/pipeline-events.ts"
import { SessionFinished } from "../../../src/domain/events/session-events.ts"
import { applyEvent, fold } from "../../../src/domain/pipeline/fold.ts"
import { activeState } from "../../../src/domain/pipeline/state.ts"
import {
  answered,
  asked,
  contents,
  ended,
  moved,
  RecordedSession,
  rested,
  resumed,
  settingsOf,
  started,
  startMs,
  stepEnded,
} from "../../support/pipeline/pipeline-events.ts"
import {
  atExecutor,
  atPlanner,
  atProposal,
  atReviewer,
  atStep,
  stepAt,
} from "../../support/pipeline/pipeline-sessions.ts"

const settings = settingsOf()

const unused = { requests: 0, input: 0, output: 0 }

describe("the state of a session", () => {
  test("is this when it has just started", () => {
    expect(new RecordedSession(settings).state).toEqual({
      sessionId: "ses_1",
      request: "get it done",
      requestSeq: 1,
      exchanges: [],
      lastRest: null,
      settings,
      state: "CREATED",
      rest: null,
      finished: null,
      stage: null,
      moved: null,
      history: [],
      cycles: { "verifier→executor": 0, "reviewer→executor": 0, "reviewer→planner": 0 },
      plans: [],
      steps: [],
      answer: null,
      turns: [],
      escalation: null,
      unknownCall: null,
      openCalls: [],
      touchedFiles: [],
      knownFiles: [],
      openCallDecision: null,
      verification: null,
      lastVerification: null,
      replyCount: 0,
      lastChangeSeq: 0,
      changed: { paths: new Set(), isComplete: true, hasReachedOut: false },
      failedChecks: new Set(),
      tokens: 0,
      usage: { planner: unused, executor: unused, verifier: unused, reviewer: unused },
      told: { turnSeq: 0, windowTokens: null, leftOut: [] },
      estimatedTokens: 0,
      tokenScales: new Map(),
      spentTokens: 0,
      tooLong: {},
      cutOff: {},
      drivenSinceMs: startMs,
    })
  })

  test("is none before it has started, and for a run of a plan", () => {
    const at = new Date(startMs).toISOString()
    const event = { stream: "ses_1", seq: 1, at, ...started(null) }
    expect(fold([], contents)).toBeNull()
    expect(fold([event], contents)).toBeNull()
    expect(applyEvent(null, { ...event, ...rested(0) }, contents)).toBeNull()
  })

  test("is the same however often it is made from the events", () => {
    const session = atReviewer()
    expect(session.refold()).toEqual(session.state)
    expect(session.refold()).toEqual(session.refold())
  })

  test("does not change by what says nothing about the pipeline", () => {
    const session = atStep()
    const before = session.state
    session.add(newEvent(StageProgressed, { stage: "executor", message: "half", fraction: 0.5 }))
    expect(session.state).toEqual(before)
  })
})

describe("a session", () => {
  test("rests with what it was told", () => {
    const rest = { state: "PAUSED", reason: "it rests", exitCode: 31, unverified: false } as const
    expect(atStep().add(rested(31)).state).toMatchObject({ state: "PAUSED", rest, finished: null })
  })

  test("has ended with what it was told, and nothing else", () => {
    const end = { state: "COMPLETED", reason: "done", exitCode: 0, unverified: true } as const
    const times = { treeDigest: null, wallMs: 1, toolMs: 2, waitMs: 3 }
    const { state } = atReviewer().add(rested(22), newEvent(SessionFinished, { ...end, ...times }))
    expect([state.state, state.rest, state.finished]).toEqual(["COMPLETED", null, end])
  })

  test("rests from the moment it is paused, and has ended from the moment it is cancelled", () => {
    const by = { by: "ann", reason: "lunch" }
    expect(atStep().add(newEvent(SessionPaused, by)).state.rest).toEqual({
      state: "PAUSED",
      reason: "lunch",
      exitCode: 22,
      unverified: true,
    })
    expect(atStep().add(newEvent(SessionCancelled, by)).state.finished).toEqual({
      state: "CANCELLED",
      reason: "lunch",
      exitCode: 23,
      unverified: true,
    })
  })
})

describe("a session that goes on", () => {
  test("has new settings and a new clock, and is where it was", () => {
    const session = atExecutor().add(rested(22))
    session.nowMs += 1_000
    const changed = settingsOf({ cyclesMax: 7 })
    const { state } = session.add(resumed(changed))
    expect([state.state, state.rest, state.settings]).toEqual(["EXECUTING", null, changed])
    expect(state.drivenSinceMs).toBe(startMs + 1_000)
    expect(state.stage?.stage).toBe("executor")
  })

  test("takes failed steps up again only when a person has seen that they failed", () => {
    const failing = () => {
      const session = atStep()
      return session.add(stepEnded(stepAt(session, 0), false))
    }
    const statuses = [
      failing().add(rested(30), resumed(settings)),
      failing().add(rested(30), resumed(settings, true)),
      failing().add(resumed(settings)),
    ].map(session => stepAt(session, 0).status)
    expect(statuses).toEqual(["pending", "skipped", "failed"])
  })
})

describe("a session that is driven", () => {
  test("plans until the planner has moved on", () => {
    expect(activeState(atPlanner().state)).toBe("PLANNING")
    expect(activeState({ ...atPlanner().state, stage: null })).toBe("PLANNING")
    expect(activeState(atProposal().add(ended("planner"), moved("planner", "executor")).state)).toBe(
      "EXECUTING",
    )
  })

  test("executes in every later stage", () => {
    expect([atExecutor(), atReviewer()].map(({ state }) => activeState(state))).toEqual([
      "EXECUTING",
      "EXECUTING",
    ])
  })

  test("waits while a question about its plan is open", () => {
    const session = atProposal().add(asked("plan"))
    expect(activeState(session.state)).toBe("AWAITING_APPROVAL")
    expect(activeState(session.add(answered("refused")).state)).toBe("PLANNING")
  })

  test("waits while a question about its review is open", () => {
    const session = atReviewer().add(asked("review"))
    expect(activeState(session.state)).toBe("AWAITING_APPROVAL")
    expect(activeState(session.add(answered("granted")).state)).toBe("EXECUTING")
  })
})
