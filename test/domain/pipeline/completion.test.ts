import { describe, expect, test } from "bun:test"
import { isUnverified, staleness } from "../../../src/domain/pipeline/completion.ts"
import { callAsked, callSettled, proposed, settingsOf } from "../../support/pipeline-events.ts"
import { smallPlan } from "../../support/pipeline-plans.ts"
import { atReviewer, atVerifier, toReviewer } from "../../support/pipeline-sessions.ts"

describe("a session is unverified", () => {
  test("when nothing was checked", () => {
    expect(isUnverified(toReviewer(atVerifier([])).state)).toBe(true)
  })

  test("when a person said that nothing need be checked", () => {
    expect(isUnverified(atReviewer(settingsOf({}, { skipVerify: true })).state)).toBe(true)
  })

  test("and not when a check ran", () => {
    expect(isUnverified(atReviewer().state)).toBe(false)
  })
})

describe("a review that approves is enough", () => {
  test("when the verification is newer than every change", () => {
    expect(staleness(atReviewer().state)).toBeNull()
  })

  test("when nothing was to be verified", () => {
    expect(staleness(toReviewer(atVerifier([])).state)).toBeNull()
  })

  test("after a call that changed nothing", () => {
    expect(staleness(atReviewer().add(callAsked("call_9"), callSettled("call_9")).state)).toBeNull()
  })
})

describe("a review that approves is not enough", () => {
  test("when a file was changed after the verification", () => {
    const session = atReviewer().add(callAsked("call_9"), callSettled("call_9", { changed: ["late.txt"] }))
    expect(staleness(session.state)).toBe("files were changed after the verification")
  })

  test("when the stages were gone through with an older plan", () => {
    const session = atReviewer().add(proposed(smallPlan(), 2))
    expect(staleness(session.state)).toBe("the planner has not succeeded with this plan")
  })

  test("when a stage did not succeed", () => {
    const { state } = atReviewer()
    const history = state.history.filter(({ stage }) => stage !== "verifier")
    expect(staleness({ ...state, history })).toBe("the verifier has not succeeded with this plan")
  })
})
