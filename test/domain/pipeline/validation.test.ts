import { describe, expect, test } from "bun:test"
import { type NewEvent, newEvent } from "../../../src/domain/events/definition.ts"
import { SessionPaused } from "../../../src/domain/events/pipeline-events.ts"
import { SessionFinished, SessionUndone } from "../../../src/domain/events/session-events.ts"
import type { PipelineEvent } from "../../../src/domain/pipeline/recorded-event.ts"
import { sessionProblems } from "../../../src/domain/pipeline/validation.ts"
import * as made from "../../support/pipeline/pipeline-events.ts"
import { openStep, planOf, taskOf } from "../../support/pipeline/pipeline-plans.ts"
import {
  atExecutor,
  atReviewer,
  atStep,
  atVerifier,
  doStep,
  toReviewer,
} from "../../support/pipeline/pipeline-sessions.ts"

const finished = (more: Partial<NewEvent<typeof SessionFinished>["data"]> = {}) =>
  newEvent(SessionFinished, {
    state: "COMPLETED",
    reason: "",
    exitCode: 0,
    unverified: false,
    treeDigest: "tree",
    wallMs: 0,
    toolMs: 0,
    waitMs: 0,
    ...more,
  })
const undone = newEvent(SessionUndone, { restored: [], removed: [], foreign: [], blocked: [], by: "ann" })
const approvedReview = [made.ended("reviewer"), made.moved("reviewer", "complete")]

const whatIsWrong = (events: readonly PipelineEvent[]) =>
  sessionProblems(events, made.contents).map(({ what }) => what)

describe("a session is valid", () => {
  test("when it went through all stages, with what was undone after it", () => {
    const session = atReviewer().add(...approvedReview, finished(), undone)
    expect(whatIsWrong(session.events)).toEqual([])
  })

  test("in the middle of its work, and when it rests and goes on", () => {
    expect(whatIsWrong(atStep().events)).toEqual([])
    const paused = newEvent(SessionPaused, { by: "ann", reason: "" })
    const session = atStep().add(paused, made.rested(22), made.resumed(made.settingsOf()), made.replied())
    expect(whatIsWrong(session.events)).toEqual([])
  })

  test("when it went back as often as it may", () => {
    const session = atVerifier().add(made.checked("a1", "failed"))
    session.add(
      made.ended("verifier", "cycle"),
      made.cycle("verifier", "executor"),
      made.moved("verifier", "executor"),
      made.entered("executor"),
    )
    expect(whatIsWrong(session.events)).toEqual([])
  })

  test("when it was cancelled before anything was done", () => {
    const session = atExecutor().add(finished({ state: "CANCELLED", exitCode: 23, treeDigest: null }))
    expect(whatIsWrong(session.events)).toEqual([])
  })

  test("when it skipped its verification and says so", () => {
    const session = atVerifier([], made.settingsOf({}, { skipVerify: true }))
    toReviewer(session).add(...approvedReview, finished({ unverified: true, treeDigest: "other" }))
    expect(whatIsWrong(session.events)).toEqual([])
  })

  test("when it is of another lane and numbered without a gap", () => {
    const events = new made.RecordedSession().events.map(event => ({
      ...event,
      data: made.started(null).data,
    }))
    expect(whatIsWrong(events)).toEqual([])
    expect(whatIsWrong([])).toEqual([])
  })
})

describe("the answer to a question", () => {
  const plan = planOf([taskOf("t1", [openStep("s1", "READ_FILE")])], "QUERY")
  const answered = () => {
    const session = atExecutor(plan)
    for (const step of session.state.steps) session.add(made.stepStarted(step), made.stepEnded(step))
    return session.add(made.ended("executor"), made.moved("executor", "complete"))
  }

  test("ends a session without verification and review, and is never recorded as verified", () => {
    expect(whatIsWrong(answered().add(finished({ unverified: true, treeDigest: "t" })).events)).toEqual([])
    expect(whatIsWrong(answered().add(finished({ treeDigest: "t" })).events)).toEqual([
      "an answer is recorded as verified",
    ])
  })

  test("ends no session whose plan changes something, and none that has changed a file", () => {
    const ended = (session: made.RecordedSession) =>
      session.add(made.ended("executor"), made.moved("executor", "complete"))
    expect(whatIsWrong(ended(atExecutor()).events)).toEqual([
      "executor moves to complete, and the request is not a question",
    ])
    const session = atExecutor(plan)
    for (const step of session.state.steps) doStep(session, step)
    expect(whatIsWrong(ended(session).events)).toEqual([
      "executor moves to complete, and the request is not a question",
    ])
  })
})

describe("a session is not valid", () => {
  test("with a gap, with an event of another one, or without its beginning", () => {
    const { events } = atStep()
    expect(sessionProblems(events.toSpliced(2, 1), made.contents)[0]).toEqual({
      seq: 4,
      what: "it has number 4 instead of 3",
    })
    expect(whatIsWrong(events.with(1, { ...(events[1] ?? never()), stream: "ses_2" }))).toEqual([
      "it belongs to ses_2",
    ])
    expect(whatIsWrong(events.slice(1))).toContain("a session begins with session.started")
    const twice = atStep().add(made.started(made.settingsOf()))
    expect(whatIsWrong(twice.events)).toEqual(["the session starts a second time"])
  })

  test("with a move that does not exist, or out of another stage than the one that ended", () => {
    const session = atExecutor().add(made.ended("executor"), made.moved("executor", "reviewer"))
    expect(whatIsWrong(session.events)).toEqual([
      "executor moves to reviewer; it may move to verifier, executor, complete",
    ])
    const other = atExecutor().add(made.ended("executor"), made.moved("verifier", "reviewer"))
    expect(whatIsWrong(other.events)).toEqual(["verifier moves to reviewer and is not the stage that ended"])
  })

  test("with a stage that is entered where another one comes, or before one has ended", () => {
    const session = new made.RecordedSession().add(made.entered("executor"))
    expect(whatIsWrong(session.events)).toEqual(["the executor is entered instead of the planner"])
    const nested = atExecutor().add(made.entered("verifier"))
    expect(whatIsWrong(nested.events)).toEqual(["the verifier is entered before the executor has ended"])
  })

  test("with more cycles than it may take, or one that leads nowhere", () => {
    const limited = made.settingsOf({ cyclesMax: 0 })
    const session = atVerifier([], limited).add(
      made.ended("verifier", "cycle"),
      made.cycle("verifier", "executor"),
    )
    expect(whatIsWrong(session.events)).toEqual(["cycle 1 from verifier to executor of 0"])
    const odd = atExecutor().add(made.cycle("executor", "planner"))
    expect(whatIsWrong(odd.events)).toEqual(["executor cannot go back to planner"])
  })

  test("that works while it rests, or after its end", () => {
    const session = atStep().add(made.rested(22), made.replied())
    expect(whatIsWrong(session.events)).toEqual(["turn.finished while the session rests"])
    const ended = atReviewer().add(...approvedReview, finished(), made.replied())
    expect(whatIsWrong(ended.events)).toEqual(["turn.finished after the session has ended"])
  })

  test("that is said to be done without a verification", () => {
    const session = atExecutor().add(made.ended("executor"), finished())
    expect(whatIsWrong(session.events)).toEqual([
      "it is recorded as done, but the verifier has not succeeded with this plan",
      "it is recorded as done without a review that approves",
      "it is recorded as done with another tree than the one that was verified",
    ])
  })

  test("that is said to be done after a change, or with a tree nobody verified", () => {
    const changed = atReviewer().add(made.callAsked("late"), made.callSettled("late", { changed: ["a.ts"] }))
    expect(whatIsWrong(changed.add(...approvedReview, finished()).events)).toEqual([
      "it is recorded as done, but files were changed after the verification",
    ])
    const other = atReviewer().add(...approvedReview, finished({ treeDigest: "another" }))
    expect(whatIsWrong(other.events)).toEqual([
      "it is recorded as done with another tree than the one that was verified",
    ])
  })

  test("that ends with an open call, or with 0 although it is not done", () => {
    const session = atStep().add(made.callAsked("open"), finished({ state: "FAILED", exitCode: 0 }))
    expect(whatIsWrong(session.events)).toEqual([
      "the session ends while the call open is open",
      "it exits 0 but is not done",
    ])
  })
})

function never(): never {
  throw new Error("the session has a second event")
}
