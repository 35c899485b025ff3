import { describe, expect, test } from "bun:test"
import { newStep, withStep } from "../../../src/domain/pipeline/fold-stages.ts"
import {
  callAsked,
  callSettled,
  checked,
  cycle,
  ended,
  entered,
  moved,
  replied,
  startMs,
  stepEnded,
  stepStarted,
} from "../../support/pipeline/pipeline-events.ts"
import {
  atExecutor,
  atPlanner,
  atReviewer,
  atStep,
  atVerifier,
  stepAt,
} from "../../support/pipeline/pipeline-sessions.ts"

const a1 = { id: "a1", kind: "command", taskId: "t1" }

describe("a stage that is entered", () => {
  test("is the present one, and the move to it is made", () => {
    const session = atVerifier([a1])
    expect(session.state.moved).toBeNull()
    expect(session.state.stage).toEqual({
      stage: "verifier",
      attempt: 0,
      enteredAtMs: startMs,
      enteredSeq: session.events.length,
      tokensBefore: session.state.tokens,
      feedback: [],
      checks: [a1],
      question: null,
    })
  })

  test("begins without turns, but for the executor in the middle of a step", () => {
    const planner = atPlanner().add(replied({ stage: "planner" }), entered("planner", { attempt: 1 }))
    expect(planner.state.turns).toEqual([])
    expect(atStep().add(replied(), entered("executor", { attempt: 1 })).state.turns).toHaveLength(1)
  })
})

describe("a stage that ends", () => {
  test("stands in the history and is entered again unless a move follows", () => {
    const session = atPlanner().add(
      entered("planner", { feedback: ["smaller"] }),
      ended("planner", "timeout", 4),
    )
    const { stage, moved: next, history } = session.state
    expect([stage, next]).toEqual([null, { to: "planner", feedback: ["smaller"], isRetry: true }])
    expect(history).toEqual([{ stage: "planner", attempt: 4, status: "timeout", seq: session.events.length }])
    session.add(moved("planner", "executor"))
    expect(session.state.moved).toEqual({ to: "executor", feedback: [], isRetry: false })
  })
})

describe("a cycle", () => {
  test("is counted by its edge", () => {
    const session = atReviewer().add(cycle("verifier", "executor"), cycle("reviewer", "planner"))
    expect(session.add(cycle("verifier", "executor")).state.cycles).toEqual({
      "verifier→executor": 2,
      "reviewer→executor": 0,
      "reviewer→planner": 1,
    })
  })

  test("leaves finished steps finished and adds one for each task to be mended, behind all others", () => {
    const session = atVerifier()
    const before = stepAt(session, 0)
    session.add(
      cycle("verifier", "executor", [
        { taskId: "t1", stepId: "t1.fix1", description: "mend it" },
        { taskId: "gone", stepId: "gone.fix1", description: "nobody knows this task" },
      ]),
    )
    expect(before.status).toBe("done")
    const fix = {
      kind: "open",
      id: "t1.fix1",
      title: "fix what was found",
      description: "mend it",
      action: "FIX",
      dependsOn: [],
    } as const
    expect(session.state.steps).toEqual([before, newStep(before.task, fix, 1)])
  })
})

describe("a verification", () => {
  test("is what was checked since the verifier was entered", () => {
    const session = atVerifier([a1]).add(checked("a1", "passed", { treeDigest: "x" }))
    const check = {
      criterionId: "a1",
      taskId: "t1",
      verdict: "passed",
      reason: "it passed",
      treeDigest: "x",
    } as const
    const verification = { seq: session.events.length, treeDigest: "x", checks: [check] }
    expect(session.state).toMatchObject({ verification, lastVerification: null })
    session.add(entered("verifier"))
    expect(session.state).toMatchObject({ verification: null, lastVerification: verification })
  })

  test("after a rest has none before it to be compared with", () => {
    const session = atVerifier([a1]).add(checked("a1", "failed"), ended("verifier", "failed"))
    session.add(entered("verifier", { attempt: 1 }))
    expect([session.state.verification, session.state.lastVerification]).toEqual([null, null])
  })

  test("is kept while later stages run", () => {
    expect(atReviewer().state.verification?.checks).toHaveLength(1)
    expect(atExecutor().state.verification).toBeNull()
  })
})

test("a step begins with nothing done, and counts how often it began", () => {
  const session = atStep().add(
    callAsked("call_1"),
    callSettled("call_1", { changed: ["a"], executionId: "exe_1" }),
  )
  const step = stepAt(session, 0)
  session.nowMs += 5
  session.add(replied(), stepStarted(step))
  expect(stepAt(session, 0)).toEqual({
    ...newStep(step.task, step.step, 0),
    status: "active",
    attempts: 2,
    startedAtMs: startMs + 5,
  })
  expect(session.state.turns).toEqual([])
})

test("a step ends done or failed, and its turns with it", () => {
  const endings = [true, false].map(success => {
    const session = atStep().add(replied())
    session.add(stepEnded(stepAt(session, 0), success))
    return [stepAt(session, 0).status, session.state.turns.length]
  })
  expect(endings).toEqual([
    ["done", 0],
    ["failed", 0],
  ])
})

test("only the step that is meant changes", () => {
  const { state } = atExecutor()
  expect(withStep(state, 7, step => ({ ...step, status: "done" }))).toEqual(state)
})
