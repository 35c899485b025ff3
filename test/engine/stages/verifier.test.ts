import { describe, expect, test } from "bun:test"
import type { PipelineState } from "../../../src/domain/pipeline/state.ts"
import type { StageAnswer } from "../../../src/engine/stages/contract.ts"
import { judgedChecks } from "../../../src/engine/stages/verifier.ts"
import {
  planVersion,
  smallPlan,
  smallTask,
  stageRun,
  stages,
  stateOf,
  turnOf,
  unmarked,
  viewOf,
} from "./support.ts"

const { verifier } = stages

const checks = [
  { id: "a1", kind: "command", taskId: "t1" },
  { id: "a2", kind: "judgement", taskId: "t1" },
]

function verifying(more: Partial<PipelineState> = {}): PipelineState {
  return stateOf({
    plans: [planVersion(smallPlan)],
    stage: stageRun({ stage: "verifier", checks }),
    verification: {
      seq: 9,
      treeDigest: "tree",
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
          treeDigest: "tree",
        },
      ],
    },
    ...more,
  })
}

function read(text: string, state = verifying()): StageAnswer {
  return verifier.read?.(text, viewOf(state)) ?? { problems: ["it reads nothing"] }
}

const verdict = (id: string, said = "passed") => ({ id, verdict: said, reason: "seen" })

describe("what a verifier is told", () => {
  test("is the request, what only judgement decides, the change and the results of the other checks", () => {
    const messages = verifier.messages(viewOf(verifying(), { diff: "+export function isEmail() {}\n" }))
    expect(messages.map(({ role }) => role)).toEqual(["system", "user"])
    expect(unmarked(messages[1]?.text ?? "")).toMatchInlineSnapshot(`
      "Judge these criteria.

      <<<request MARK
      Validate e-mail addresses.
      MARK>>>

      <<<criteria MARK
      a2: errors are clear (task: validator)
      MARK>>>

      <<<change MARK
      +export function isEmail() {}

      MARK>>>

      <<<results of checks MARK
      a1: passed, exit code 0
      MARK>>>"
    `)
  })

  test("is also what the project says about itself, as data", () => {
    const instructions = [{ path: "AGENTS.md", text: "Errors name the file." }]
    const user = unmarked(verifier.messages(viewOf(verifying(), { instructions }))[1]?.text ?? "")
    expect(user).toContain('<<<project instructions "AGENTS.md" MARK\nErrors name the file.\nMARK>>>')
  })

  test("is that nothing was changed or run where that is so", () => {
    const user = unmarked(verifier.messages(viewOf(verifying({ verification: null })))[1]?.text ?? "")
    expect(user).toContain("<<<change MARK\nnothing was changed\nMARK>>>")
    expect(user).toContain("<<<results of checks MARK\nno check was run\nMARK>>>")
  })

  test("has the problems of the try before", () => {
    const turns = [turnOf({ text: "fine", problems: ["there is no JSON object"] })]
    expect(verifier.messages(viewOf(verifying({ turns }))).slice(2)).toMatchObject([
      { role: "assistant", text: "fine" },
      { role: "user" },
    ])
  })
})

describe("what a verifier answers", () => {
  test("is one verdict for each criterion it was asked about", () => {
    const output = { criteria: [verdict("a2", "failed")] }
    expect(read(JSON.stringify(output))).toEqual({ output })
  })

  test.each([
    [[], ["the verdict for a2 is missing"]],
    [[verdict("a1"), verdict("a2")], ['"a1" is not one of the criteria']],
    [[verdict("a2"), verdict("a2", "failed")], ["a2 has more than one verdict"]],
    [[verdict("A2")], ["the verdict for a2 is missing", '"A2" is not one of the criteria']],
  ])("is refused when it is about other criteria: %j", (criteria, problems) => {
    expect(read(JSON.stringify({ criteria }))).toEqual({ problems })
  })

  test("is refused in another shape, with every mistake", () => {
    expect(read('{"criteria": [{"id": "a2", "verdict": "ok"}], "note": 1}')).toEqual({
      problems: [
        "$.criteria[0].reason: is missing",
        "$.criteria[0].verdict: must be one of passed, failed, inconclusive",
        "$.note: is an unknown property",
      ],
    })
  })

  test("names the task as well where two tasks use one id", () => {
    const tasks = [smallTask, { ...smallTask, id: "t2", steps: smallTask.steps }]
    const both = ["t1", "t2"].map(taskId => ({ id: "a2", kind: "judgement", taskId }))
    const state = verifying({
      plans: [planVersion({ ...smallPlan, tasks })],
      stage: stageRun({ stage: "verifier", checks: both }),
    })
    const output = { criteria: [verdict("t1/a2"), verdict("t2/a2", "failed")] }
    expect(verifier.messages(viewOf(state))[1]?.text).toContain("t2/a2: errors are clear")
    expect(read(JSON.stringify(output), state)).toEqual({ output })
    expect(judgedChecks(output, both)).toEqual([
      { check: { id: "a2", kind: "judgement", taskId: "t1" }, verdict: "passed", reason: "seen" },
      { check: { id: "a2", kind: "judgement", taskId: "t2" }, verdict: "failed", reason: "seen" },
    ])
  })

  test("leaves a criterion undecided that it does not speak of", () => {
    const [, judged] = checks
    if (judged === undefined) throw new Error("there is no such check")
    const undecided = { check: judged, verdict: "inconclusive" as const, reason: "the model gave no verdict" }
    expect(judgedChecks(null, [judged])).toEqual([undecided])
    expect(judgedChecks({ criteria: [] }, [judged])).toEqual([undecided])
  })
})
