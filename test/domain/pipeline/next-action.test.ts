import { describe, expect, test } from "bun:test"
import { newEvent } from "../../../src/domain/events/definition.ts"
import { SessionCancelled, SessionPaused } from "../../../src/domain/events/pipeline-events.ts"
import {
  backoffMs,
  deadlineMs,
  stageDeadlineMs,
  stepDeadlineMs,
} from "../../../src/domain/pipeline/limits.ts"
import { nextAction } from "../../../src/domain/pipeline/next-action.ts"
import {
  callAsked,
  callBegan,
  callSettled,
  checked,
  ended,
  entered,
  escalated,
  moved,
  RecordedSession,
  replied,
  rested,
  resumed,
  settingsOf,
  startMs,
  wanted,
} from "../../support/pipeline/pipeline-events.ts"
import { smallPlan } from "../../support/pipeline/pipeline-plans.ts"
import {
  atExecutor,
  atPlanner,
  atReviewer,
  atStep,
  atVerifier,
  toReviewer,
} from "../../support/pipeline/pipeline-sessions.ts"

const open = {
  callId: "call_1",
  modelCallId: null,
  stepId: null,
  effectClass: "once",
  isRead: false,
} as const

describe("a session", () => {
  test("begins with the planner", () => {
    expect(new RecordedSession().next()).toEqual({
      kind: "enterStage",
      stage: "planner",
      attempt: 0,
      feedback: [],
    })
  })

  test("enters the stage it moved to, with what that one has to know", () => {
    const session = atReviewer().add(ended("reviewer", "cycle"), moved("reviewer", "planner", ["too big"]))
    expect(session.next()).toEqual({
      kind: "enterStage",
      stage: "planner",
      attempt: 0,
      feedback: ["too big"],
    })
  })

  test("does nothing more once it has taken more tokens than it may take", () => {
    const session = atPlanner(settingsOf({ tokensMax: 100 }))
    const useless = (turn: number, input: number) =>
      replied({ stage: "planner", turn, problems: ["no JSON"], usage: { input, output: 9 } })
    expect(session.add(useless(1, 40)).next()).toMatchObject({ kind: "askModel" })
    expect(session.add(useless(2, 200)).next()).toMatchObject({
      kind: "escalate",
      exitCode: 22,
      level: "BudgetLimit",
      status: null,
      reason: "the session has taken 258 tokens, 158 more than the 100 allowed",
      advice: "allow more: `acode resume --max-tokens 516`",
    })
    const reviewed = atReviewer(settingsOf({ tokensMax: 20 }))
    expect(
      reviewed.add(replied({ stage: "reviewer", answer: { decision: "approve", summary: "" } })).next(),
    ).toMatchObject({
      kind: "escalate",
      level: "BudgetLimit",
    })
  })

  test("repeats a stage as the next attempt at it", () => {
    const session = atPlanner().add(ended("planner", "retry"), moved("planner", "planner", ["no"]))
    expect(session.next()).toEqual({ kind: "enterStage", stage: "planner", attempt: 1, feedback: ["no"] })
    session.add(entered("planner", { attempt: 1 }), ended("planner", "retry", 1), moved("planner", "planner"))
    expect(session.next()).toMatchObject({ attempt: 2 })
  })

  test("is completed after the review, verified or not", () => {
    const done = [ended("reviewer"), moved("reviewer", "complete")]
    expect(
      atReviewer()
        .add(...done)
        .next(),
    ).toEqual({
      kind: "complete",
      end: { reason: "done and verified", exitCode: 0, unverified: false, answer: null },
    })
    expect(
      toReviewer(atVerifier([]))
        .add(...done)
        .next(),
    ).toMatchObject({ kind: "complete", end: { exitCode: 41, unverified: true } })
  })
})

describe("a session that rests", () => {
  test("does nothing", () => {
    expect(atStep().add(rested(22)).next()).toEqual({ kind: "rest" })
  })

  test("does nothing from the moment somebody paused or ended it", () => {
    const by = { by: "ann", reason: "lunch" }
    expect(atStep().add(newEvent(SessionPaused, by)).next()).toEqual({ kind: "rest" })
    expect(atStep().add(newEvent(SessionCancelled, by)).next()).toEqual({ kind: "rest" })
  })

  test("settles a call that a dead process left open when it is resumed, and not before", () => {
    const session = atStep().add(callAsked("call_1"), callBegan("call_1", "once"), rested(22))
    expect(session.next()).toEqual({ kind: "rest" })
    session.add(resumed(session.state.settings))
    expect(session.next()).toEqual({ kind: "settleCall", call: open })
  })
})

describe("a call of which nobody knows whether it took effect", () => {
  const lost = () =>
    atStep().add(
      callAsked("call_1"),
      callBegan("call_1", "once"),
      callSettled("call_1", { outcome: "interrupted", certainty: "unknown" }),
    )

  test("stops the session for a person, in the middle of its stage", () => {
    expect(lost().next()).toEqual({
      kind: "escalate",
      level: "Unrecoverable",
      stage: "executor",
      exitCode: 60,
      code: "ACODE-ORCH-004",
      reason:
        "it is unknown whether the call call_1 took effect: acode ended while it ran, or its files were changed meanwhile",
      advice: expect.stringContaining("`acode resume` continues with the present files"),
      status: null,
    })
  })

  test("is told also when another process takes over before anybody was told", () => {
    expect(lost().add(resumed(settingsOf())).next()).toMatchObject({ kind: "escalate", exitCode: 60 })
  })

  test("no longer stops it once a person let it go on", () => {
    const session = lost()
    session.add(...escalated(session.next(), session.state), resumed(settingsOf()))
    expect(session.next()).toMatchObject({ kind: "askModel", stage: "executor", turn: 1 })
  })
})

describe("a stage that takes too long", () => {
  test("is stopped before it does more", () => {
    const session = atPlanner()
    session.nowMs += 120_000
    expect(nextAction(session.state, session.nowMs - 1)).toMatchObject({ kind: "askModel" })
    expect(session.next()).toEqual({
      kind: "escalate",
      level: "TimeoutLimit",
      stage: "planner",
      exitCode: 20,
      code: "ACODE-ORCH-002",
      reason: "the planner did not finish within 120 s",
      advice:
        "give it more time: `acode resume --planner-timeout 240`; for every session: " +
        "`acode config set orchestration.planner_timeout_seconds 240`",
      status: "timeout",
    })
  })

  test("still moves on when all it had to do is done", () => {
    const session = atVerifier().add(checked("a1", "passed"))
    session.nowMs += 10_000_000
    expect(session.next()).toMatchObject({ kind: "move", to: "reviewer" })
  })

  test("is entered again with a new clock when a person lets it go on", () => {
    const session = atPlanner()
    session.nowMs += 120_000
    session.add(...escalated(session.next(), session.state))
    session.nowMs += 120_000
    session.add(resumed(settingsOf()))
    expect(session.next()).toEqual({ kind: "enterStage", stage: "planner", attempt: 1, feedback: [] })
    session.add(entered("planner", { attempt: 1 }))
    expect(session.next()).toMatchObject({ kind: "askModel" })
  })
})

describe("a step that takes too long", () => {
  const late = () => {
    const session = atStep(smallPlan(), settingsOf({ stepTimeoutMs: 3_000 }))
    session.nowMs += 3_000
    return session
  }

  test("is stopped", () => {
    expect(late().next()).toEqual({
      kind: "escalate",
      level: "TimeoutLimit",
      stage: "executor",
      exitCode: 34,
      code: "ACODE-EXEC-006",
      reason: "step s1 did not finish within 3 s",
      advice:
        "give it more time: `acode resume --executor-step-timeout 6`; for every session: " +
        "`acode config set executor.step_timeout_seconds 6`; or continue without it: `acode resume --skip-failed-step`",
      status: "timeout",
    })
  })

  test("goes on where it was, with a new clock, when a person lets it", () => {
    const session = late()
    session.add(replied({ calls: [wanted("c1", "write_file")] }))
    session.add(...escalated(session.next(), session.state), resumed(session.state.settings))
    session.add(entered("executor", { attempt: 1 }))
    expect(session.next()).toMatchObject({ kind: "callTools", calls: [{ id: "c1" }] })
  })

  test("is finished when the model said so in time", () => {
    const session = atStep().add(
      replied({ calls: [wanted("c1", "write_file"), wanted("c2", "finish_step", { summary: "so" })] }),
      callAsked("call_1", "c1"),
      callSettled("call_1", { changed: ["a"] }),
    )
    session.nowMs += 10_000_000
    expect(session.next()).toMatchObject({ kind: "finishStep", failure: null })
  })
})

describe("the deadline of a stage", () => {
  test("is its limit after it was entered", () => {
    expect(stageDeadlineMs(atPlanner().state)).toBe(startMs + 120_000)
  })

  test("is none where the stage has no limit, and where there is no stage", () => {
    expect(stageDeadlineMs(atExecutor().state)).toBeNull()
    expect(stageDeadlineMs({ ...atPlanner().state, stage: null })).toBeNull()
  })

  test("begins anew when the session is driven again", () => {
    const session = atPlanner()
    session.nowMs += 500_000
    session.add(resumed(settingsOf()))
    expect(stageDeadlineMs(session.state)).toBe(startMs + 620_000)
  })

  test("is none once the answer is there and only a person is waited for", () => {
    const review = { decision: "approve", summary: "good" }
    const session = atReviewer()
    expect(stageDeadlineMs(session.state)).not.toBeNull()
    session.add(replied({ stage: "reviewer", answer: review }))
    expect(stageDeadlineMs(session.state)).toBeNull()
  })
})

describe("the deadline of a step", () => {
  test("is its limit after it was started", () => {
    expect(stepDeadlineMs(atStep(smallPlan(), settingsOf({ stepTimeoutMs: 7 })).state)).toBe(startMs + 7)
  })

  test("is none while no step runs", () => {
    expect(stepDeadlineMs(atExecutor().state)).toBeNull()
  })

  test("is later by the time in which a person was waited for", () => {
    const session = atStep().add(callAsked("call_1"), callSettled("call_1", { waitMs: 50_000 }))
    expect(stepDeadlineMs(session.state)).toBe(startMs + 170_000)
  })
})

test("what is being done has to be over by the first of both deadlines", () => {
  const stageTimeoutMs = { planner: null, executor: 5_000, verifier: null, reviewer: null }
  expect(deadlineMs(atStep(smallPlan(), settingsOf({ stageTimeoutMs })).state)).toBe(startMs + 5_000)
  expect(deadlineMs(atStep(smallPlan(), settingsOf()).state)).toBe(startMs + 120_000)
  expect(deadlineMs(atExecutor().state)).toBeNull()
})

test("waits double from one second to half a minute", () => {
  expect([1, 2, 3, 4, 5, 6, 60].map(backoffMs)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
})
