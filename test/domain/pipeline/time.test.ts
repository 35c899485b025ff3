import { describe, expect, test } from "bun:test"
import {
  backoffMs,
  deadlineMs,
  stageDeadlineMs,
  stepDeadlineMs,
} from "../../../src/domain/pipeline/limits.ts"
import {
  callAsked,
  callSettled,
  replied,
  resumed,
  settingsOf,
  startMs,
} from "../../support/pipeline/pipeline-events.ts"
import { smallPlan } from "../../support/pipeline/pipeline-plans.ts"
import { atExecutor, atPlanner, atReviewer, atStep } from "../../support/pipeline/pipeline-sessions.ts"

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
