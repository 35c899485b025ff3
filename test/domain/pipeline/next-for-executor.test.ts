import { describe, expect, test } from "bun:test"
import {
  callAsked,
  callSettled,
  entered,
  escalated,
  replied,
  resumed,
  settingsOf,
  stepEnded,
  stepStarted,
  wanted,
} from "../../support/pipeline/pipeline-events.ts"
import { openStep, planOf, smallPlan, taskOf, writeStep } from "../../support/pipeline/pipeline-plans.ts"
import { atExecutor, atStep, doStep, stepAt } from "../../support/pipeline/pipeline-sessions.ts"

const chain = planOf([
  taskOf("t2", [openStep("s1", "READ_FILE")], { depends_on: ["t1"] }),
  taskOf("t1", [openStep("s2", "READ_FILE", ["s1"]), openStep("s1", "READ_FILE")]),
  taskOf("t3", [openStep("s1", "READ_FILE")]),
])
const concrete = planOf([taskOf("t1", [writeStep("s1")])])
const finish = (status = "done") => wanted("f1", "finish_step", { summary: "so", status })

function started(session: ReturnType<typeof atExecutor>): string | null {
  const action = session.next()
  return action.kind === "startStep" ? `${action.step.task.id}/${action.step.step.id}` : null
}

describe("the steps of a plan", () => {
  test("are taken up in the order of what depends on what", () => {
    const session = atExecutor(chain)
    const order = session.state.steps.map(step => {
      const next = started(session)
      doStep(session, step)
      return next
    })
    expect(order).toEqual(["t1/s1", "t1/s2", "t2/s1", "t3/s1"])
    expect(session.next()).toEqual({
      kind: "move",
      from: "executor",
      to: "verifier",
      status: "success",
      reason: "all 4 steps are done",
      feedback: [],
      fixes: [],
    })
  })

  test("that wait for a failed one stay undone while the others are done", () => {
    const session = atExecutor(chain)
    session.add(stepStarted(stepAt(session, 0)), stepEnded(stepAt(session, 0), false))
    expect(started(session)).toBe("t3/s1")
    doStep(session, stepAt(session, 3))
    expect(session.next()).toEqual({
      kind: "escalate",
      level: "StageFailed",
      stage: "executor",
      exitCode: 30,
      code: "ACODE-EXEC-001",
      reason: "step s1 failed, and 2 steps wait for it: it failed",
      advice: "fix the cause, then `acode resume`; or continue without it: `acode resume --skip-failed-step`",
      status: "failed",
    })
  })

  test("that failed are taken up again, or passed over, as the person says who lets it go on", () => {
    const stuck = () => {
      const session = atStep(chain)
      session.add(stepEnded(stepAt(session, 0), false))
      doStep(session, stepAt(session, 3))
      return session.add(...escalated(session.next(), session.state))
    }
    const again = stuck().add(resumed(settingsOf()), entered("executor", { attempt: 1 }))
    expect(started(again)).toBe("t1/s1")
    const without = stuck().add(resumed(settingsOf(), true), entered("executor", { attempt: 1 }))
    expect(started(without)).toBe("t1/s2")
  })

  test.each([
    ["refused", "ACODE-EXEC-005", 33],
    ["denied", "ACODE-SEC-005", 32],
    ["denied", "ACODE-SEC-003", 32],
    ["failed", "ACODE-EXE-003", 30],
  ] as const)("that failed after a call was %s with %s exit with %d", (outcome, code, exitCode) => {
    const error = { code, message: "no", where: null, hint: null }
    const session = atStep().add(callAsked("call_1"), callSettled("call_1", { outcome, error }))
    session.add(stepEnded(stepAt(session, 0), false))
    expect(session.next()).toMatchObject({ kind: "escalate", exitCode })
  })
})

describe("a concrete step", () => {
  test("makes its call once, and is finished by it", () => {
    const session = atStep(concrete)
    expect(session.next()).toMatchObject({ kind: "callStep", step: { step: { id: "s1" } } })
    session.add(callAsked("call_1"), callSettled("call_1", { changed: ["s1.txt"] }))
    expect(session.next()).toMatchObject({ kind: "finishStep", failure: null })
  })

  test("fails with its call", () => {
    const error = { code: "ACODE-FS-008", message: "no room", where: null, hint: null }
    const session = atStep(concrete).add(
      callAsked("call_1"),
      callSettled("call_1", { outcome: "failed", error }),
    )
    expect(session.next()).toMatchObject({
      kind: "finishStep",
      failure: { code: "ACODE-FS-008", message: "no room" },
    })
  })

  test.each([
    ["notDone", "callStep"],
    ["partly", "callStep"],
    ["done", "finishStep"],
  ] as const)("whose call was cut off and is %s goes on with %s", (certainty, kind) => {
    const session = atStep(concrete).add(callAsked("call_1"))
    session.add(callSettled("call_1", { outcome: "interrupted", certainty }))
    expect(session.next().kind).toBe(kind)
  })
})

describe("an open step", () => {
  test("asks the model, makes the calls it wants, and asks again", () => {
    const session = atStep()
    expect(session.next()).toMatchObject({ kind: "askModel", stage: "executor", turn: 1, waitMs: 0 })
    session.add(replied({ calls: [wanted("c1", "glob"), wanted("c2", "read_file")] }))
    session.add(callAsked("call_2", "c2"), callSettled("call_2"))
    expect(session.next()).toMatchObject({ kind: "callTools", calls: [{ id: "c1" }] })
    session.add(callAsked("call_1", "c1"), callSettled("call_1"))
    expect(session.next()).toMatchObject({ kind: "askModel", turn: 2 })
  })

  test("makes the calls of a turn before it looks at the claim in it", () => {
    const session = atStep().add(replied({ calls: [finish(), wanted("c1", "write_file")] }))
    expect(session.next()).toMatchObject({ kind: "callTools", calls: [{ id: "c1" }] })
    session.add(callAsked("call_1", "c1"), callSettled("call_1", { changed: ["a"] }))
    expect(session.next()).toMatchObject({ kind: "finishStep", failure: null })
  })

  test("is not finished by a claim alone", () => {
    const session = atStep().add(replied({ calls: [finish()] }))
    expect(session.next()).toMatchObject({ kind: "refuseStep", modelCallId: "f1" })
  })

  test("fails when the model gives it up", () => {
    expect(
      atStep()
        .add(replied({ calls: [finish("failed")] }))
        .next(),
    ).toMatchObject({
      kind: "finishStep",
      failure: { code: "ACODE-EXEC-001", message: "so" },
    })
  })
})

describe("a step that does not end", () => {
  const talkative = (turnsMax: number, says: (turn: number) => string) => {
    const session = atStep(smallPlan(), settingsOf({ turnsMax }))
    for (let turn = 1; turn <= turnsMax; turn++)
      session.add(replied({ turn, text: { kind: "inline", text: says(turn) } }))
    return session
  }

  test("stops at the turn limit", () => {
    expect(talkative(4, String).next()).toEqual({
      kind: "escalate",
      level: "TurnLimit",
      stage: "executor",
      exitCode: 31,
      code: "ACODE-EXEC-003",
      reason: "step s1 is not finished after 4 turns",
      advice:
        "allow it more: `acode resume --max-turns 8`; or continue without it: `acode resume --skip-failed-step`",
      status: "failed",
    })
  })

  test("has as many turns again, and remembers the old ones, when a person lets it go on", () => {
    const session = talkative(4, String)
    session.add(...escalated(session.next(), session.state), resumed(session.state.settings))
    expect(session.next()).toEqual({ kind: "enterStage", stage: "executor", attempt: 1, feedback: [] })
    session.add(entered("executor", { attempt: 1 }))
    expect(session.next()).toMatchObject({ kind: "askModel", turn: 5 })
    expect(session.state.turns).toHaveLength(4)
    for (const turn of [5, 6, 7, 8]) session.add(replied({ turn, text: { kind: "inline", text: `${turn}` } }))
    expect(session.next()).toMatchObject({ kind: "escalate", exitCode: 31 })
  })

  test("says what is wrong with the answers that come again and again", () => {
    const session = atStep(smallPlan(), settingsOf({ turnsMax: 9 }))
    for (const turn of [1, 2, 3]) session.add(replied({ turn, problems: ["it was cut off"] }))
    expect(session.next()).toMatchObject({ reason: "step s1 makes no progress: it was cut off" })
  })

  test("stops earlier when it goes round in circles, and may try again", () => {
    const session = talkative(3, () => "the same")
    session.add(resumed(settingsOf({ turnsMax: 9 })))
    const reason = "step s1 makes no progress: the same answer without a call"
    expect(session.next()).toMatchObject({ kind: "escalate", level: "NoProgress", exitCode: 22, reason })
    session.add(...escalated(session.next(), session.state), resumed(session.state.settings))
    session.add(entered("executor", { attempt: 1 }))
    expect(session.next()).toMatchObject({ kind: "askModel", turn: 4 })
  })
})
