import { expect, test } from "bun:test"
import { newStep, withStep } from "../../../src/domain/pipeline/fold-stages.ts"
import {
  callAsked,
  callSettled,
  replied,
  startMs,
  stepEnded,
  stepStarted,
} from "../../support/pipeline/pipeline-events.ts"
import { atExecutor, atStep, stepAt } from "../../support/pipeline/pipeline-sessions.ts"

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
