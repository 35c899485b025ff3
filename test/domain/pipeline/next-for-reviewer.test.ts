import { describe, expect, test } from "bun:test"
import type { Json } from "../../../src/base/canonical.ts"
import { Judgement, readReview } from "../../../src/domain/pipeline/review.ts"
import {
  answered,
  asked,
  callAsked,
  callSettled,
  cycle,
  entered,
  escalated,
  replied,
  resumed,
  settingsOf,
} from "../../support/pipeline/pipeline-events.ts"
import { atReviewer } from "../../support/pipeline/pipeline-sessions.ts"

const says = (answer: Json) => replied({ stage: "reviewer", answer })
const approve = says({ decision: "approve", summary: "good" })
const fix = says({
  decision: "fix",
  summary: "not yet",
  findings: [
    { severity: "major", file: "a.ts", text: "it leaks" },
    { severity: "minor", text: "no tests" },
  ],
})
const replan = says({ decision: "replan", summary: "wrong way" })
const toComplete = {
  kind: "move",
  from: "reviewer",
  to: "complete",
  status: "success",
  reason: "good",
  feedback: [],
  fixes: [],
} as const

describe("the reviewer", () => {
  test("asks for a review, and a second time for one that can be read", () => {
    const session = atReviewer()
    expect(session.next()).toEqual({
      kind: "askModel",
      stage: "reviewer",
      step: null,
      turn: 1,
      waitMs: 0,
      waitAtLeastMs: 0,
    })
    session.add(says({ decision: "perhaps" }))
    expect(session.next()).toMatchObject({ kind: "askModel", turn: 2 })
    session.add(replied({ stage: "reviewer", turn: 2, problems: ["no JSON"] }))
    expect(session.next()).toMatchObject({
      kind: "escalate",
      level: "StageRetryLimit",
      exitCode: 22,
      reason: "the model returned no review in 2 tries: no JSON",
    })
  })

  test("ends the session with an approval", () => {
    expect(atReviewer().add(approve).next()).toEqual(toComplete)
  })

  test("sends a fix to the executor, with a step of its own", () => {
    const feedback = ["not yet", "major a.ts: it leaks", "minor: no tests"]
    expect(atReviewer().add(fix).next()).toEqual({
      kind: "move",
      from: "reviewer",
      to: "executor",
      status: "cycle",
      reason: "the review asks for a fix: not yet",
      feedback,
      fixes: [{ taskId: "t1", stepId: "t1.fix1", description: `The review found: ${feedback.join("; ")}` }],
    })
  })

  test("sends the whole thing back to the planner", () => {
    expect(atReviewer().add(replan).next()).toEqual({
      kind: "move",
      from: "reviewer",
      to: "planner",
      status: "cycle",
      reason: "the review asks for another plan: wrong way",
      feedback: ["wrong way"],
      fixes: [],
    })
  })
})

describe("a review that does not approve", () => {
  test.each([
    ["fix", fix, "executor"],
    ["replan", replan, "planner"],
  ] as const)("may ask for a %s as often as the limit says, each kind on its own", (_, reply, to) => {
    const session = atReviewer(settingsOf({ cyclesMax: 1 })).add(reply)
    const other = to === "executor" ? "planner" : "executor"
    expect(session.add(cycle("reviewer", other), reply).next()).toMatchObject({ kind: "move", to })
    session.add(cycle("reviewer", to), reply)
    expect(session.next()).toMatchObject({
      kind: "escalate",
      level: "CycleLimit",
      exitCode: 21,
      status: "failed",
    })
  })

  test("ends the session where no cycle may be taken", () => {
    const exits = [fix, replan].map(reply =>
      atReviewer(settingsOf({ cyclesMax: 0 }))
        .add(reply)
        .next(),
    )
    expect(exits).toMatchObject([
      { kind: "escalate", level: "StageFailed", exitCode: 50 },
      { kind: "escalate", level: "StageFailed", exitCode: 50 },
    ])
  })

  test("is made anew when a person lets the session go on", () => {
    const session = atReviewer(settingsOf({ cyclesMax: 0 })).add(fix)
    session.add(...escalated(session.next(), session.state), resumed(settingsOf()))
    expect(session.next()).toEqual({ kind: "enterStage", stage: "reviewer", attempt: 1, feedback: [] })
    expect(session.add(entered("reviewer", { attempt: 1 })).next()).toMatchObject({
      kind: "askModel",
      turn: 1,
    })
  })
})

describe("an approval after which a file was changed", () => {
  const stale = (cyclesMax: number) =>
    atReviewer(settingsOf({ cyclesMax })).add(
      callAsked("c"),
      callSettled("c", { changed: ["late"] }),
      approve,
    )

  test("is stale: the work goes back and is verified again", () => {
    expect(stale(3).next()).toEqual({
      kind: "move",
      from: "reviewer",
      to: "executor",
      status: "cycle",
      reason: "stale: files were changed after the verification",
      feedback: [],
      fixes: [],
    })
  })

  test("rests when no cycle is left for that", () => {
    expect(stale(0).next()).toMatchObject({ kind: "escalate", exitCode: 40 })
    expect(stale(1).add(cycle("reviewer", "executor"), approve).next()).toMatchObject({ exitCode: 21 })
  })
})

describe("a person who has to accept the review", () => {
  const waiting = () => atReviewer(settingsOf({}, { requireReviewApproval: true })).add(approve)

  test("is asked, and waited for without a deadline", () => {
    const session = waiting()
    expect(session.next()).toEqual({ kind: "askAboutReview", summary: "good" })
    session.add(asked("review"))
    session.nowMs += 10_000_000
    expect(session.next()).toEqual({ kind: "awaitAnswer", approvalId: "apr_1" })
  })

  test("accepts it", () => {
    const session = waiting().add(asked("review"), answered("granted"))
    expect(session.next()).toEqual({ ...toComplete, reason: "good (approved by ann)" })
  })

  test("ends the session", () => {
    expect(waiting().add(asked("review"), answered("stopped")).next()).toMatchObject({ kind: "cancel" })
  })

  test("sends it back with what is missing", () => {
    expect(
      waiting()
        .add(asked("review"), answered("refused", "apr_1", "no docs"))
        .next(),
    ).toMatchObject({
      kind: "move",
      to: "executor",
      feedback: ["no docs"],
      fixes: [{ stepId: "t1.fix1", description: "The review found: no docs" }],
    })
  })
})

describe("a review", () => {
  test("may leave its findings out", () => {
    expect(readReview({ decision: "approve", summary: "good" })).toEqual({
      decision: "approve",
      summary: "good",
      findings: [],
    })
  })

  test("keeps what it found and where", () => {
    const findings = [{ severity: "major", file: "a.ts", line: 3, text: "it leaks" }]
    expect(readReview({ decision: "fix", summary: "not yet", findings })?.findings).toEqual([
      { severity: "major", file: "a.ts", line: 3, text: "it leaks" },
    ])
  })

  test.each([
    ["another decision", { decision: "maybe", summary: "" }],
    ["no summary", { decision: "approve" }],
    ["a key nobody knows", { decision: "approve", summary: "", mood: "fine" }],
    ["no object", ["approve"]],
  ])("with %s is none", (_, value) => {
    expect(readReview(value)).toBeNull()
  })
})

test("a judgement names a verdict for each criterion", () => {
  const criteria = [{ id: "a5", verdict: "inconclusive", reason: "cannot be seen" }]
  expect(Judgement().safeParse({ criteria }).success).toBe(true)
  expect(Judgement().safeParse({ criteria: [{ id: "a5", verdict: "yes", reason: "" }] }).success).toBe(false)
})
