import { describe, expect, test } from "bun:test"
import { fixId } from "../../../src/domain/pipeline/next-for-checks.ts"
import {
  checked,
  cycle,
  ended,
  entered,
  escalated,
  moved,
  replied,
  resumed,
  settingsOf,
} from "../../support/pipeline/pipeline-events.ts"
import { openStep, planOf, taskOf } from "../../support/pipeline/pipeline-plans.ts"
import { atVerifier, doStep, stepAt, toVerifier } from "../../support/pipeline/pipeline-sessions.ts"

const a1 = { id: "a1", kind: "command", taskId: "t1" }
const a2 = { id: "a1", kind: "file_exists", taskId: "t2" }
const judged = { id: "a5", kind: "judgement", taskId: "t1" }
const twoTasks = planOf([
  taskOf("t1", [openStep("s1", "WRITE_FILE")]),
  taskOf("t2", [openStep("s1", "WRITE_FILE")]),
])
const fix = { taskId: "t1", stepId: "t1.fix1", description: "mend it" }

/** The verification failed, the fix was done, and the verifier is entered again. */
function onceMore(session: ReturnType<typeof atVerifier>, treeDigest: string) {
  session.add(ended("verifier", "cycle"), cycle("verifier", "executor", [fix]), moved("verifier", "executor"))
  session.add(entered("executor"))
  doStep(session, stepAt(session, session.state.steps.length - 1))
  return toVerifier(session, [a1]).add(checked("a1", "failed", { treeDigest }))
}

describe("the verifier", () => {
  test("runs what acode can check before it asks a model", () => {
    const session = atVerifier([a1, judged])
    expect(session.next()).toEqual({ kind: "runChecks", checks: [a1] })
    session.add(checked("a1", "passed"))
    expect(session.next()).toEqual({
      kind: "askModel",
      stage: "verifier",
      step: null,
      turn: 1,
      waitMs: 0,
      waitAtLeastMs: 0,
    })
    session.add(replied({ stage: "verifier", answer: { criteria: [] } }))
    expect(session.next()).toMatchObject({
      kind: "judge",
      checks: [judged],
      turn: { output: { criteria: [] } },
    })
  })

  test("asks nobody's judgement about what a program has found wrong", () => {
    const session = atVerifier([a1, judged]).add(checked("a1", "failed"))
    expect(session.next()).toMatchObject({ kind: "move", to: "executor", status: "cycle" })
  })

  test("after a crash runs only the checks that have no verdict, criteria of two tasks apart", () => {
    const session = atVerifier([a1, a2], settingsOf(), twoTasks).add(checked("a1", "passed"))
    expect(session.next()).toEqual({ kind: "runChecks", checks: [a2] })
  })

  test("leaves judgement undecided when the model gives none", () => {
    const session = atVerifier([judged])
    for (const turn of [1, 2, 3]) session.add(replied({ stage: "verifier", turn, problems: ["no JSON"] }))
    expect(session.next()).toEqual({ kind: "judge", turn: null, checks: [judged] })
  })

  test("moves on when all checks passed, or when there are none", () => {
    const move = {
      kind: "move",
      from: "verifier",
      to: "reviewer",
      status: "success",
      reason: "the check passed",
      feedback: [],
      fixes: [],
    } as const
    expect(atVerifier([a1]).add(checked("a1", "passed")).next()).toEqual(move)
    expect(atVerifier([]).next()).toEqual({ ...move, reason: "there is nothing to check" })
  })

  test("never passes what nobody can say, and checks it again after a person looked", () => {
    const session = atVerifier([a1]).add(checked("a1", "inconclusive"))
    expect(session.next()).toEqual({
      kind: "escalate",
      level: "StageFailed",
      stage: "verifier",
      exitCode: 41,
      code: "ACODE-ORCH-001",
      reason:
        "the steps are finished, but not verified, because no check gave a verdict: a1: it inconclusive",
      advice: "make the checks possible or check it yourself, then `acode resume`",
      status: "failed",
    })
    session.add(...escalated(session.next(), session.state), resumed(settingsOf()))
    expect(session.next()).toEqual({ kind: "enterStage", stage: "verifier", attempt: 1, feedback: [] })
    session.add(entered("verifier", { attempt: 1, checks: [a1] }))
    expect(session.next()).toEqual({ kind: "runChecks", checks: [a1] })
  })
})

describe("a check that passed on a tree that is no longer there", () => {
  const own = { id: "own", kind: "command", taskId: "t1" }
  const look = { id: "look", kind: "file_exists", taskId: "t1" }
  const [on, to] = [(treeDigest: string) => ({ treeDigest }), (treeAfter: string) => ({ treeAfter })]

  test("is made again, with the one that changed the tree, and never once more", () => {
    const session = atVerifier([a1, own])
    session.add(checked("a1", "passed", on("0")), checked("own", "passed", { ...on("0"), ...to("1") }))
    expect(session.next()).toEqual({ kind: "runChecks", checks: [a1, own] })
    session.add(checked("a1", "passed", on("1")))
    expect(session.next()).toEqual({ kind: "runChecks", checks: [own] })
    session.add(checked("own", "passed", { ...on("1"), ...to("2") }))
    expect(session.next()).toMatchObject({
      kind: "escalate",
      exitCode: 41,
      reason: expect.stringMatching(/finished, but not verified: .* again while t1\/own ran/),
    })
  })

  test("is enough where the second time nothing changes", () => {
    const session = atVerifier([a1, own])
    session.add(checked("a1", "passed", { ...on("0"), ...to("1") }), checked("own", "passed", on("1")))
    expect(session.next()).toEqual({ kind: "runChecks", checks: [a1] })
    expect(session.add(checked("a1", "passed", on("1"))).next()).toMatchObject({ to: "reviewer" })
  })

  test("is not made again where another one failed: that has to be mended first", () => {
    const session = atVerifier([a1, own])
    session.add(checked("a1", "passed", { ...on("0"), ...to("1") }), checked("own", "failed", on("1")))
    expect(session.next()).toMatchObject({ kind: "move", to: "executor" })
  })

  test("is looked at after every command, because not all that a command does shows in the tree", () => {
    const session = atVerifier([look, a1])
    expect(session.next()).toEqual({ kind: "runChecks", checks: [a1, look] })
    session.add(checked("look", "passed", { kind: "file_exists" }), checked("a1", "passed"))
    expect(session.next()).toEqual({ kind: "runChecks", checks: [look] })
    session.add(checked("look", "passed", { kind: "file_exists" }))
    expect(session.next()).toMatchObject({ to: "reviewer" })
  })
})

describe("a verification that failed", () => {
  test("goes back with one new step for each task that failed", () => {
    const session = atVerifier([a1, a2, { ...a1, id: "own", taskId: "t2" }], settingsOf(), twoTasks)
    session.add(checked("a1", "failed"), checked("a1", "failed", { taskId: "t2" }))
    session.add(checked("own", "failed", { taskId: "t2" }))
    expect(session.next()).toEqual({
      kind: "move",
      from: "verifier",
      to: "executor",
      status: "cycle",
      reason: "verification failed: a1: it failed; a1: it failed; own: it failed",
      feedback: ["a1: it failed", "a1: it failed", "own: it failed"],
      fixes: [
        { taskId: "t1", stepId: "t1.fix1", description: "Make these checks pass: a1: it failed" },
        {
          taskId: "t2",
          stepId: "t2.fix1",
          description: "Make these checks pass: a1: it failed; own: it failed",
        },
      ],
    })
  })

  test("of no task in particular is mended with the last one", () => {
    const session = atVerifier([{ ...a1, taskId: null }], settingsOf(), twoTasks)
    session.add(checked("a1", "failed", { taskId: null }))
    expect(session.next()).toMatchObject({ fixes: [{ taskId: "t2", stepId: "t2.fix1" }] })
  })

  test("may go back exactly as often as the limit says", () => {
    let session = atVerifier([a1], settingsOf({ cyclesMax: 2 })).add(
      checked("a1", "failed", { treeDigest: "0" }),
    )
    expect(session.next()).toMatchObject({ kind: "move", to: "executor" })
    session = onceMore(session, "1")
    expect(session.next()).toMatchObject({ kind: "move", to: "executor" })
    session = onceMore(session, "2")
    expect(session.next()).toEqual({
      kind: "escalate",
      level: "CycleLimit",
      stage: "verifier",
      exitCode: 21,
      code: "ACODE-ORCH-003",
      reason: "verification failed: a1: it failed (after 2 cycles)",
      advice: "fix it by hand, then `acode resume`, or allow more: `acode resume --max-cycles 5`",
      status: "failed",
    })
  })

  test("rests again at the same limit, and goes back at a higher one", () => {
    const rest = (cyclesMax: number) => {
      const first = atVerifier([a1], settingsOf({ cyclesMax: 1 })).add(
        checked("a1", "failed", { treeDigest: "0" }),
      )
      const session = onceMore(first, "1")
      session.add(...escalated(session.next(), session.state), resumed(settingsOf({ cyclesMax })))
      return session.add(
        entered("verifier", { attempt: 1, checks: [a1] }),
        checked("a1", "failed", { treeDigest: "1" }),
      )
    }
    expect(rest(1).next()).toMatchObject({ kind: "escalate", exitCode: 21 })
    expect(rest(2).next()).toMatchObject({ kind: "move", to: "executor" })
  })

  test("ends the session at once where no cycle may be taken", () => {
    expect(
      atVerifier([a1], settingsOf({ cyclesMax: 0 }))
        .add(checked("a1", "failed"))
        .next(),
    ).toMatchObject({
      kind: "escalate",
      level: "StageFailed",
      exitCode: 40,
    })
  })

  test("never goes back an eleventh time, and does not advise it", () => {
    const session = atVerifier([a1], settingsOf({ cyclesMax: 99 })).add(checked("a1", "failed"))
    for (let count = 0; count < 10; count++) session.add(cycle("verifier", "executor"))
    expect(session.next()).toMatchObject({ exitCode: 21, advice: "fix it by hand, then `acode resume`" })
  })

  test("exactly like the one before stands still; after a person looked it is tried again", () => {
    const first = atVerifier([a1]).add(checked("a1", "failed", { treeDigest: "0" }))
    const session = onceMore(first, "0")
    expect(session.next()).toMatchObject({
      kind: "escalate",
      level: "NoProgress",
      exitCode: 22,
      reason: "verification failed: a1: it failed, on exactly the same tree as before",
    })
    session.add(...escalated(session.next(), session.state), resumed(settingsOf()))
    session.add(
      entered("verifier", { attempt: 1, checks: [a1] }),
      checked("a1", "failed", { treeDigest: "0" }),
    )
    expect(session.next()).toMatchObject({ kind: "move", to: "executor", fixes: [{ stepId: "t1.fix2" }] })
  })
})

test("a step that mends has the first name that is free", () => {
  const session = atVerifier()
  expect(fixId(session.state, "t1")).toBe("t1.fix1")
  session.add(cycle("verifier", "executor", [fix]))
  expect(fixId(session.state, "t1")).toBe("t1.fix2")
  const named = planOf([taskOf("t1", [openStep("t1.fix2", "READ_FILE"), openStep("s", "READ_FILE")])])
  const other = atVerifier([], settingsOf(), named)
  expect(fixId(other.state, "t1")).toBe("t1.fix1")
  other.add(cycle("verifier", "executor", [fix]))
  expect(fixId(other.state, "t1")).toBe("t1.fix3")
})
