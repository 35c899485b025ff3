import { describe, expect, test } from "bun:test"
import { failedChecks, isGoingInCircles, isSameFailure } from "../../../src/domain/pipeline/progress.ts"
import type { Turn, Verification } from "../../../src/domain/pipeline/state.ts"

function turnOf(text: string, ...calls: readonly (readonly [string, string])[]): Turn {
  return {
    turn: 1,
    seq: 1,
    atMs: 0,
    text,
    calls: calls.map(([argsDigest, digest]) => ({
      id: "c",
      tool: "read_file",
      arguments: {},
      argsDigest,
      result: { outcome: "succeeded", certainty: "done", text: "", digest },
    })),
    output: null,
    problems: [],
    isCutOff: false,
    failure: null,
  }
}

const [a, b] = [turnOf("", ["a", "1"]), turnOf("", ["b", "1"])]

describe("turns go round in circles", () => {
  test.each([
    ["the same call with the same result three times", [a, a, a]],
    ["whatever was before", [b, b, a, a, a]],
    ["two calls by turns, three times each", [a, b, a, b, a, b]],
    ["the same text without a call", [turnOf("hm"), turnOf("hm"), turnOf("hm")]],
    ["the same call, talking differently", [turnOf("x", ["a", "1"]), turnOf("y", ["a", "1"]), a]],
  ])("with %s", (_, turns) => {
    expect(isGoingInCircles(turns)).toBe(true)
  })

  test.each([
    ["nothing", []],
    ["the same call only twice", [a, a]],
    ["another result", [a, a, turnOf("", ["a", "2"])]],
    ["another call between", [a, a, b, a]],
    ["two calls by turns, not yet three times each", [a, b, a, b, a]],
    ["different texts", [turnOf("x"), turnOf("y"), turnOf("z")]],
  ])("not with %s", (_, turns) => {
    expect(isGoingInCircles(turns)).toBe(false)
  })
})

function verificationOf(treeDigest: string, ...failures: readonly string[]): Verification {
  const checks = ["a1", "a2"].map(criterionId => ({
    criterionId,
    taskId: "t1",
    kind: "command",
    reason: "",
    treeDigest,
    seq: 1,
    hasChangedTree: false,
    runs: 1,
    paths: [],
    verdict: failures.includes(criterionId) ? ("failed" as const) : ("passed" as const),
  }))
  return { seq: 1, treeDigest, checks }
}

describe("a verification fails like the one before", () => {
  test("when the same criteria fail on the same tree", () => {
    expect(isSameFailure(verificationOf("x", "a1"), verificationOf("x", "a1"))).toBe(true)
  })

  test("and not when the tree, the criteria or the one before are others", () => {
    expect(isSameFailure(verificationOf("y", "a1"), verificationOf("x", "a1"))).toBe(false)
    expect(isSameFailure(verificationOf("x", "a1", "a2"), verificationOf("x", "a1"))).toBe(false)
    expect(isSameFailure(verificationOf("x", "a1"), null)).toBe(false)
    expect(isSameFailure(null, verificationOf("x", "a1"))).toBe(false)
  })

  test("where only what failed is a failure", () => {
    expect(failedChecks(verificationOf("x", "a2")).map(({ criterionId }) => criterionId)).toEqual(["a2"])
    expect(failedChecks(null)).toEqual([])
  })
})
