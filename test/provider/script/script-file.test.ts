import { describe, expect, test } from "bun:test"
import type { Json } from "../../../src/base/canonical.ts"
import { readScript, scriptProblemText } from "../../../src/provider/script/script-file.ts"
import { nested, scriptOf } from "../provider-kit.ts"

function problemsOf(value: Json): string[] {
  const reading = readScript(value)
  return "problems" in reading ? reading.problems.map(scriptProblemText) : []
}

/** Of one reply, without the path to it. */
function replyProblems(reply: Json): string[] {
  return problemsOf({ replies: [reply] }).map(problem => problem.replace("$.replies[0]", "$"))
}

describe("a script", () => {
  test("says plans, questions and verdicts as the JSON a model would write", () => {
    const plan = { goal: "x", tasks: [] }
    const verdict = { decision: "approve", summary: "good" }
    const { replies } = scriptOf([
      { stage: "planner", questions: ["which port?"] },
      { stage: "planner", plan },
      { stage: "reviewer", verdict },
    ])
    expect(replies.map(({ stage }) => stage)).toEqual(["planner", "planner", "reviewer"])
    expect(replies.map(({ content }) => JSON.parse(content?.text ?? ""))).toEqual([
      { questions: ["which port?"] },
      plan,
      verdict,
    ])
  })

  test("calls tools, with words before them and without", () => {
    const { replies } = scriptOf([
      { stage: "executor", calls: [{ tool: "read_file", args: { path: "a" } }, { tool: "glob" }] },
      { stage: "executor", text: "now", calls: [{ id: "mine", tool: "x", args: [1] }] },
    ])
    expect(replies.map(({ content }) => content)).toEqual([
      {
        text: "",
        calls: [
          { id: null, tool: "read_file", arguments: { path: "a" } },
          { id: null, tool: "glob", arguments: {} },
        ],
      },
      { text: "now", calls: [{ id: "mine", tool: "x", arguments: [1] }] },
    ])
  })

  test("keeps faults and usage, and a delay that goes with something said", () => {
    const { replies } = scriptOf([
      { stage: "agent", fault: { kind: "rate_limit" }, usage: { input: 1, output: 2 } },
      { stage: "agent", fault: { kind: "slow", after_ms: 50 }, text: "" },
    ])
    expect(replies).toEqual([
      {
        stage: "agent",
        content: null,
        fault: { kind: "rate_limit", afterMs: 0 },
        usage: { input: 1, output: 2 },
      },
      { stage: "agent", content: { text: "", calls: [] }, fault: { kind: "slow", afterMs: 50 }, usage: null },
    ])
  })

  test("names a stage in any case", () => {
    expect(scriptOf([{ stage: "Planner", text: "x" }]).replies[0]?.stage).toBe("planner")
  })

  test("may answer with a plan or a verdict that is wrong, which a model may do too", () => {
    expect(replyProblems({ stage: "planner", plan: {} })).toEqual([])
    expect(replyProblems({ stage: "reviewer", verdict: { decision: "perhaps" } })).toEqual([])
  })
})

describe("what is wrong with a script", () => {
  test("is reported all at once, each with its place", () => {
    expect(
      problemsOf({
        version: 1,
        replies: [
          { stage: "plumber", text: "x" },
          { text: "x", mood: "good" },
          { stage: "executor", calls: [{ args: {} }, { tool: "", args: {} }] },
          "nothing",
        ],
      }),
    ).toEqual([
      "$.version: is an unknown property",
      "$.replies[0].stage: must be one of planner, executor, verifier, reviewer, agent",
      "$.replies[1].stage: is missing",
      "$.replies[1].mood: is an unknown property",
      "$.replies[2].calls[0].tool: is missing",
      "$.replies[2].calls[1].tool: must not be empty",
      "$.replies[3]: must be an object",
    ])
  })

  test("is that it is not an object, or has no replies", () => {
    for (const value of [null, 7, "replies", [], true])
      expect(problemsOf(value)).toEqual(["$: a script is an object with replies"])
    expect(problemsOf({})).toEqual(["$.replies: is missing"])
    expect(problemsOf({ replies: {} })).toEqual(["$.replies: must be a list"])
    expect(problemsOf({ replies: [] })).toEqual(["$.replies: must not be empty"])
  })

  test("is a reply that says nothing, or two things", () => {
    expect(replyProblems({ stage: "planner" })).toEqual([
      "$: needs one of plan, questions, answer, calls, text, verdict, fault",
    ])
    expect(replyProblems({ stage: "planner", plan: {}, text: "x" })).toEqual([
      "$: has plan and text; a reply has one of them",
    ])
    expect(replyProblems({ stage: "planner", plan: {}, calls: [{ tool: "x" }], text: "x" })).toEqual([
      "$: has plan and calls; a reply has one of them",
    ])
  })

  test("is a fault other than slow together with something said", () => {
    expect(replyProblems({ stage: "planner", text: "x", fault: { kind: "timeout" } })).toEqual([
      '$: has text and the fault "timeout"; only slow goes with what is said',
    ])
    expect(replyProblems({ stage: "planner", text: "x", fault: {} })).toEqual(["$.fault.kind: is missing"])
  })

  test("is a fault of another kind, or at an impossible time", () => {
    expect(replyProblems({ stage: "agent", fault: { kind: "fire", after_ms: -1 } })).toEqual([
      "$.fault.kind: must be one of rate_limit, overloaded, timeout, disconnect, garbage, slow",
      "$.fault.after_ms: must be at least 0",
    ])
    expect(replyProblems({ stage: "agent", fault: { kind: "slow", after_ms: 3_600_001 } })).toEqual([
      "$.fault.after_ms: must be at most 3600000",
    ])
    expect(replyProblems({ stage: "agent", fault: { kind: "slow", after_ms: "1s" } })).toEqual([
      "$.fault.after_ms: must be a whole number",
    ])
  })

  test("is a negative or incomplete usage", () => {
    expect(replyProblems({ stage: "agent", text: "x", usage: { input: -1 } })).toEqual([
      "$.usage.input: must be at least 0",
      "$.usage.output: is missing",
    ])
  })

  test("is an empty list of calls or questions", () => {
    expect(replyProblems({ stage: "executor", calls: [] })).toEqual(["$.calls: must not be empty"])
    expect(replyProblems({ stage: "planner", questions: [] })).toEqual(["$.questions: must not be empty"])
    expect(replyProblems({ stage: "planner", questions: [7] })).toEqual([
      "$.questions[0]: must be text in quotes",
    ])
  })

  test("is nesting that would overflow a reader, and a name that changes what an object is", () => {
    expect(replyProblems({ stage: "planner", plan: { x: nested(100_000) } })).toEqual([
      "$.plan.x: is nested more than 64 levels deep",
    ])
    const poisoned: Json = JSON.parse(
      '{"replies":[{"stage":"agent","calls":[{"tool":"x","args":{"__proto__":1}}]}]}',
    )
    expect(problemsOf(poisoned)).toEqual(["$.replies[0].calls[0].args.__proto__: is not a usable name"])
  })

  test("is quoted so that a terminal is safe from it", () => {
    const [problem = ""] = replyProblems({ stage: "agent", text: "x", fault: { kind: "\u001b[2J" } })
    expect(problem).toContain("\\x1b[2J")
    expect(problem).not.toContain("\u001b")
  })
})
