import { describe, expect, test } from "bun:test"
import { planHash } from "../../../src/domain/plan/plan.ts"
import {
  answered,
  approved,
  asked,
  ended,
  entered,
  escalated,
  moved,
  proposed,
  replied,
  rested,
  resumed,
  settingsOf,
} from "../../support/pipeline/pipeline-events.ts"
import { smallPlan } from "../../support/pipeline/pipeline-plans.ts"
import { atPlanner, atProposal } from "../../support/pipeline/pipeline-sessions.ts"

const toExecutor = {
  kind: "move",
  from: "planner",
  to: "executor",
  status: "success",
  reason: "plan version 1 is approved",
  feedback: [],
  fixes: [],
} as const

const planObject = { tasks: [], goal: "g", intent: "MUTATE" }

describe("the planner", () => {
  test("asks for a plan, and proposes the one it gets", () => {
    const session = atPlanner()
    expect(session.next()).toEqual({
      kind: "askModel",
      stage: "planner",
      step: null,
      turn: 1,
      waitMs: 0,
      waitAtLeastMs: 0,
    })
    session.add(replied({ stage: "planner", answer: smallPlan() }))
    expect(session.next()).toMatchObject({ kind: "proposePlan", version: 1, turn: { output: smallPlan() } })
  })

  test("ends the session when it answers the question itself, and not with a plan beside the answer", () => {
    const session = atPlanner().add(replied({ stage: "planner", answer: { answer: "In src." } }))
    expect(session.next()).toMatchObject({ kind: "move", from: "planner", to: "complete", status: "success" })
    session.add(ended("planner"), moved("planner", "complete"))
    expect(session.next()).toEqual({
      kind: "complete",
      end: {
        answer: "In src.",
        exitCode: 0,
        unverified: true,
        reason: "answered; the answer is the model's own and was not verified",
      },
    })
    const both = atPlanner().add(replied({ stage: "planner", answer: { answer: "no", ...planObject } }))
    expect(both.next()).toMatchObject({ kind: "proposePlan" })
  })

  test("gives up after three answers that are no plan", () => {
    const session = atPlanner()
    for (const turn of [1, 2, 3]) session.add(replied({ stage: "planner", turn, problems: [`bad ${turn}`] }))
    expect(session.next()).toEqual({
      kind: "escalate",
      level: "StageRetryLimit",
      stage: "planner",
      exitCode: 22,
      code: "ACODE-ORCH-004",
      reason: "the model returned no valid plan in 3 tries: bad 3",
      advice:
        "describe the goal more exactly, or use another model (`acode models list`) with `acode resume` and --model",
      status: "failed",
    })
  })

  test("asks again for a plan that cannot be read back from what was recorded", () => {
    const session = atPlanner().add(replied({ stage: "planner", answer: {} }), proposed({}))
    expect(session.next()).toMatchObject({ kind: "askModel", turn: 2 })
  })

  test("stops with the plan when no more was asked for, and goes on from there", () => {
    const session = atProposal(smallPlan(), settingsOf({}, { planOnly: true }))
    expect(session.next()).toMatchObject({ kind: "escalate", exitCode: 0, status: null })
    session.add(...escalated(session.next(), session.state), resumed(settingsOf()))
    expect(session.next()).toMatchObject({ kind: "askAboutPlan" })
  })
})

describe("the plan gate", () => {
  test("asks a person, and waits for the answer", () => {
    const session = atProposal()
    expect(session.next()).toMatchObject({ kind: "askAboutPlan", plan: { version: 1, isApproved: false } })
    expect(session.add(asked("plan")).next()).toEqual({ kind: "awaitAnswer", approvalId: "apr_1" })
  })

  test("waits still after a rest in which nobody answered", () => {
    const session = atProposal().add(asked("plan"), rested(10, "AWAITING_APPROVAL"), resumed(settingsOf()))
    expect(session.next()).toEqual({ kind: "awaitAnswer", approvalId: "apr_1" })
    expect(session.state.state).toBe("AWAITING_APPROVAL")
  })

  test("has no deadline", () => {
    const session = atProposal().add(asked("plan"))
    session.nowMs += 10_000_000
    expect(session.next()).toMatchObject({ kind: "awaitAnswer" })
    expect(session.add(answered("granted")).next()).toEqual(toExecutor)
  })

  test("lets an approved plan pass", () => {
    expect(
      atProposal()
        .add(approved(planHash(smallPlan())))
        .next(),
    ).toEqual(toExecutor)
  })

  test("lets a plan pass whose approval was cut off by a crash behind the answer", () => {
    const session = atProposal().add(asked("plan"), answered("granted"), resumed(settingsOf()))
    expect(session.next()).toEqual(toExecutor)
  })

  test("does not take the approval of another plan", () => {
    expect(atProposal().add(approved("sha256:other")).next()).toMatchObject({ kind: "askAboutPlan" })
  })

  test("ends the session when the person says so", () => {
    expect(atProposal().add(asked("plan"), answered("stopped")).next()).toEqual({
      kind: "cancel",
      answer: { answer: "stopped", by: "ann", reason: null },
    })
  })

  test.each([["refused"], ["skipped"]] as const)("sends a plan that was %s back with the reason", answer => {
    expect(
      atProposal()
        .add(asked("plan"), answered(answer, "apr_1", "too risky"))
        .next(),
    ).toEqual({
      kind: "move",
      from: "planner",
      to: "planner",
      status: "retry",
      reason: "ann refused the plan",
      feedback: ["too risky"],
      fixes: [],
    })
  })

  test("stops after the third refusal, and asks for another plan when a person lets it go on", () => {
    const session = atPlanner()
    for (const attempt of [0, 1, 2]) {
      if (attempt > 0) session.add(ended("planner", "retry", attempt - 1), moved("planner", "planner"))
      if (attempt > 0) session.add(entered("planner", { attempt }))
      session.add(proposed(smallPlan(), attempt + 1), asked("plan", `apr_${attempt}`))
      session.add(answered("refused", `apr_${attempt}`, "ugly"))
    }
    expect(session.next()).toEqual({
      kind: "escalate",
      level: "StageRetryLimit",
      stage: "planner",
      exitCode: 33,
      code: "ACODE-ORCH-004",
      reason: "ann refused 3 plans, the last one because: ugly",
      advice: "`acode resume` asks for another plan; or start a new session with another request",
      status: "failed",
    })
    session.add(...escalated(session.next(), session.state), resumed(settingsOf()))
    expect(session.next()).toMatchObject({ kind: "enterStage", stage: "planner", attempt: 3 })
    expect(session.add(entered("planner", { attempt: 3 })).next()).toMatchObject({ kind: "askModel" })
  })
})
