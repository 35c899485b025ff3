import { describe, expect, test } from "bun:test"
import { activeState } from "../../../src/domain/pipeline/state.ts"
import { answered, asked, ended, moved } from "../../support/pipeline/pipeline-events.ts"
import { atExecutor, atPlanner, atProposal, atReviewer } from "../../support/pipeline/pipeline-sessions.ts"

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
