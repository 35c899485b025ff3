import { describe, expect, test } from "bun:test"
import { newStep } from "../../../src/domain/pipeline/fold-stages.ts"
import { planHash } from "../../../src/domain/plan/plan.ts"
import {
  answered,
  approved,
  asked,
  entered,
  proposed,
  replied,
  rested,
} from "../../support/pipeline/pipeline-events.ts"
import { openStep, planOf, smallPlan, taskOf } from "../../support/pipeline/pipeline-plans.ts"
import {
  atExecutor,
  atPlanner,
  atProposal,
  atReviewer,
  doStep,
  stepAt,
} from "../../support/pipeline/pipeline-sessions.ts"

const hash = planHash(smallPlan())
const granted = { answer: "granted", by: "ann", reason: null } as const

describe("a proposed plan", () => {
  test("is the newest version, and nothing of it can be done yet", () => {
    const session = atProposal()
    expect(session.state.plans).toMatchObject([
      {
        version: 1,
        seq: session.events.length,
        isApproved: false,
        question: null,
        plan: { planId: "p1", hash },
      },
    ])
    expect(session.state.steps).toEqual([])
  })

  test("that cannot be read back is an answer of the wrong shape", () => {
    const session = atPlanner().add(
      replied({ stage: "planner", answer: { tasks: [] } }),
      proposed({ tasks: [] }),
    )
    expect(session.state.plans).toEqual([])
    expect(session.state.turns).toMatchObject([
      { output: null, problems: ["the recorded plan is not valid; perhaps a secret in it was redacted"] },
    ])
  })

  test("has steps once it is approved", () => {
    const session = atProposal().add(approved(hash))
    const { task, step } = stepAt(session, 0)
    expect(session.state.plans.at(-1)?.isApproved).toBe(true)
    expect(session.state.steps).toEqual([newStep(task, step, 0)])
  })

  test("is not approved twice: what was done since stays done", () => {
    const session = atExecutor()
    doStep(session, stepAt(session, 0)).add(approved(hash))
    expect(stepAt(session, 0).status).toBe("done")
  })
})

describe("a question about a plan", () => {
  test("makes the session wait, and its first answer counts", () => {
    const session = atProposal().add(asked("plan"))
    expect(session.state.state).toBe("AWAITING_APPROVAL")
    session.add(answered("granted"), answered("refused"))
    expect(session.state).toMatchObject({
      state: "PLANNING",
      plans: [{ isApproved: true, question: { approvalId: "apr_1", answer: granted } }],
    })
  })

  test("is not answered by the answer to another one", () => {
    const session = atProposal().add(asked("plan"), answered("granted", "apr_2"))
    expect(session.state.plans.at(-1)).toMatchObject({ isApproved: false, question: { answer: null } })
  })

  test("can be answered while the session rests, which goes on resting", () => {
    const session = atProposal().add(asked("plan"), rested(10, "AWAITING_APPROVAL"), answered("granted"))
    expect(session.state.state).toBe("AWAITING_APPROVAL")
    expect(session.next()).toEqual({ kind: "rest" })
  })
})

test("a question about a review belongs to the stage, one about a call to neither", () => {
  const session = atReviewer().add(asked("review", "apr_7"), answered("granted", "apr_7"))
  expect(session.state.stage?.question).toEqual({ approvalId: "apr_7", answer: granted })
  const before = atReviewer().state
  expect(atReviewer().add(asked("action", "apr_8"), answered("granted", "apr_8")).state).toEqual(before)
})

describe("a new version of the plan", () => {
  const first = planOf([taskOf("t1", [openStep("s1", "READ_FILE"), openStep("s2", "READ_FILE")])])
  const second = planOf([
    taskOf("t0", [openStep("s1", "READ_FILE")]),
    taskOf("t1", [openStep("s1", "READ_FILE"), openStep("s2", "WRITE_FILE")], { title: "renamed" }),
  ])
  const done = () => {
    const session = atExecutor(first)
    for (const step of session.state.steps) doStep(session, step)
    return session
  }
  const told = ({ state }: ReturnType<typeof done>) =>
    state.steps.map(({ task, step, index, status }) => [index, `${task.title}/${step.id}`, status])

  test("keeps what is done and the very same, in its new place", () => {
    const session = done().add(entered("planner"), proposed(second, 2), approved(planHash(second)))
    expect(told(session)).toEqual([
      [0, "t0/s1", "pending"],
      [1, "renamed/s1", "done"],
      [2, "renamed/s2", "pending"],
    ])
  })

  test("that was refused takes nothing of that away", () => {
    const session = done().add(entered("planner"), proposed(second, 2), asked("plan"), answered("refused"))
    session.add(proposed(first, 3), approved(planHash(first)))
    expect(told(session)).toEqual([
      [0, "t1/s1", "done"],
      [1, "t1/s2", "done"],
    ])
  })
})
