import { describe, expect, test } from "bun:test"
import type { AcodeFinding, StageAnswer } from "../../../src/engine/stages/contract.ts"
import {
  planVersion,
  smallPlan,
  smallTask,
  stageRun,
  stages,
  stateOf,
  stepsOf,
  turnOf,
  unmarked,
  viewOf,
} from "./support.ts"

const { reviewer } = stages

function read(text: string, findings: readonly AcodeFinding[] = []): StageAnswer {
  return reviewer.read?.(text, viewOf(stateOf(), { findings })) ?? { problems: ["it reads nothing"] }
}

const approval = '{"decision": "approve", "summary": "Good."}'

describe("what a reviewer is told", () => {
  const first = planVersion(smallPlan, {
    isApproved: false,
    question: {
      approvalId: "apr_1",
      answer: { answer: "refused", by: "ada", reason: "it needs tests" },
    },
  })
  const tested = { ...smallTask, id: "t2", title: "tests", depends_on: ["t1"] }
  const second = planVersion({ ...smallPlan, tasks: [smallTask, tested] }, { version: 2 })
  const state = stateOf({
    stage: stageRun({ stage: "reviewer" }),
    plans: [first, second],
    steps: stepsOf(second.plan).map(step => ({ ...step, status: "done", changedPaths: ["src/email.ts"] })),
    verification: {
      seq: 40,
      treeDigest: "sha256:tree",
      checks: [
        {
          seq: 9,
          hasChangedTree: false,
          runs: 1,
          paths: [],
          criterionId: "a1",
          taskId: "t1",
          kind: "command",
          verdict: "passed",
          reason: "exit code 0",
          treeDigest: "sha256:tree",
        },
        {
          seq: 9,
          hasChangedTree: false,
          runs: 1,
          paths: [],
          criterionId: "project-tests",
          taskId: null,
          kind: "command",
          verdict: "passed",
          reason: "exit code 0",
          treeDigest: "sha256:tree",
        },
      ],
    },
  })

  test("is a packet: request, plans, steps, change, verification, approvals and findings", () => {
    const view = viewOf(state, {
      diff: "--- a/src/email.ts\n+++ b/src/email.ts\n",
      findings: [{ severity: "minor", text: "refused: run curl example.com" }],
    })
    const messages = reviewer.messages(view)
    expect(messages.map(({ role }) => role)).toEqual(["system", "user"])
    expect(unmarked(messages[1]?.text ?? "")).toMatchInlineSnapshot(`
      "Review this change.

      <<<request MARK
      Validate e-mail addresses.
      MARK>>>

      <<<plan "version 1" MARK
      first plan: 1 task, 1 step
      goal: validate addresses
      t1 validator: Add a validator.
        must hold: {"command":["npm","test"],"expect_exit":0,"id":"a1","kind":"command"}
        must hold: {"id":"a2","kind":"judgement","text":"errors are clear"}
      MARK>>>

      <<<plan "version 2" MARK
      adds t2 (2 tasks, 2 steps)
      goal: validate addresses
      t1 validator: Add a validator.
        must hold: {"command":["npm","test"],"expect_exit":0,"id":"a1","kind":"command"}
        must hold: {"id":"a2","kind":"judgement","text":"errors are clear"}
      t2 tests: Add a validator.
        must hold: {"command":["npm","test"],"expect_exit":0,"id":"a1","kind":"command"}
        must hold: {"id":"a2","kind":"judgement","text":"errors are clear"}
      MARK>>>

      <<<steps MARK
      t1/s1 write it: done; changed src/email.ts
      t2/s1 write it: done; changed src/email.ts
      MARK>>>

      <<<change MARK
      --- a/src/email.ts
      +++ b/src/email.ts

      MARK>>>

      <<<verification MARK
      on tree sha256:tree
      t1/a1: passed, exit code 0
      project-tests: passed, exit code 0
      MARK>>>

      <<<approvals MARK
      plan version 1: refused by ada: it needs tests
      plan version 2: approved
      MARK>>>

      <<<findings of acode MARK
      minor: refused: run curl example.com
      MARK>>>"
    `)
  })

  test("is also what the project says about itself, as data", () => {
    const instructions = [{ path: "AGENTS.md", text: "Use tabs." }]
    const user = unmarked(reviewer.messages(viewOf(state, { instructions }))[1]?.text ?? "")
    expect(user).toContain('<<<project instructions "AGENTS.md" MARK\nUse tabs.\nMARK>>>')
  })

  test("is nothing of what the executor and its tools said", () => {
    const turns = [turnOf({ text: "SECRET THOUGHT", calls: [] })]
    const all = JSON.stringify(reviewer.messages(viewOf({ ...state, turns })))
    expect(all).not.toContain("SECRET THOUGHT")
  })

  test("is that nothing was verified where that is so", () => {
    const user = reviewer.messages(viewOf({ ...state, verification: null }))[1]?.text ?? ""
    expect(unmarked(user)).toContain("<<<verification MARK\nnothing was verified\nMARK>>>")
  })
})

describe("what a reviewer answers", () => {
  test("is a decision with a summary; findings may be left out", () => {
    expect(read(approval)).toEqual({ output: { decision: "approve", summary: "Good.", findings: [] } })
  })

  test("has findings with or without a place", () => {
    const findings = [
      { severity: "major", file: "src/a.ts", line: 3, text: "no check for null" },
      { severity: "minor", text: "a typo" },
    ]
    expect(read(JSON.stringify({ decision: "fix", summary: "Almost.", findings }))).toEqual({
      output: {
        decision: "fix",
        summary: "Almost.",
        findings: [
          { severity: "major", file: "src/a.ts", line: 3, text: "no check for null" },
          { severity: "minor", file: null, line: null, text: "a typo" },
        ],
      },
    })
  })

  test("cannot be an approval over a critical finding that acode made itself", () => {
    const findings: AcodeFinding[] = [
      { severity: "critical", text: "a test was deleted: test/a.test.ts" },
      { severity: "major", text: "a command was refused" },
    ]
    expect(read(approval, findings)).toEqual({
      problems: ['it cannot be approved: a test was deleted: test/a.test.ts. Decide "fix" or "replan"'],
    })
    expect(read('{"decision": "fix", "summary": "Put it back."}', findings).problems).toBeUndefined()
    expect(read(approval, findings.slice(1)).problems).toBeUndefined()
  })

  test("is refused in another shape, with every mistake", () => {
    expect(read('{"decision": "APPROVED", "findings": [{"severity": "bad", "text": 1}]}')).toEqual({
      problems: [
        "$.decision: must be one of approve, fix, replan",
        "$.findings[0].severity: must be one of critical, major, minor",
        "$.findings[0].text: must be text in quotes",
        "$.summary: is missing",
      ],
    })
    expect(read("LGTM").problems).toHaveLength(1)
    expect(read("{nonsense}")).toEqual({ problems: ["the JSON object in the answer cannot be read"] })
  })
})
