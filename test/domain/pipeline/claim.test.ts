import { describe, expect, test } from "bun:test"
import type { Json } from "../../../src/base/canonical.ts"
import { claimOf } from "../../../src/domain/pipeline/claim.ts"
import { newStep } from "../../../src/domain/pipeline/fold-stages.ts"
import type { StepState, Turn } from "../../../src/domain/pipeline/state.ts"
import { openStep, planOf, taskOf, writeStep } from "../../support/pipeline/pipeline-plans.ts"
import { atExecutor, stepAt } from "../../support/pipeline/pipeline-sessions.ts"

function stepOf(action: string, done: Partial<StepState> = {}): StepState {
  const { task, step } = stepAt(atExecutor(planOf([taskOf("t1", [openStep("s1", "READ_FILE")])])), 0)
  if (step.kind !== "open") throw new Error("the step is open")
  return { ...newStep(task, { ...step, action }, 0), status: "active", ...done }
}

function saying(args: Json, result: Turn["calls"][number]["result"] = null): Turn[] {
  const call = { id: "c1", tool: "finish_step", arguments: args, argsDigest: "", result }
  return [
    {
      turn: 1,
      seq: 1,
      atMs: 0,
      text: "",
      calls: [call],
      output: null,
      problems: [],
      isCutOff: false,
      failure: null,
    },
  ]
}

const believed = { modelCallId: "c1", problem: null, failure: null }

describe("a model that says a step is finished", () => {
  test.each([
    ["WRITE_FILE", { callCount: 1, changedPaths: ["a"] }],
    ["FIX", { callCount: 1, changedPaths: ["a"] }],
    ["RUN_COMMAND", { callCount: 1, commandCount: 1 }],
    ["READ_FILE", { callCount: 1 }],
    ["CREATE_DIRECTORY", { callCount: 1 }],
  ])("is believed when %s was really done", (action, done) => {
    expect(claimOf(stepOf(action, done), saying({ summary: "so" }))).toEqual(believed)
  })

  test("is not believed when the same answer asked for something that could not be used", () => {
    const done = stepOf("WRITE_FILE", { callCount: 1, changedPaths: ["a"] })
    const [turn] = saying({ summary: "so" })
    const problems = ["a call names no tool"]
    expect(claimOf(done, turn === undefined ? [] : [{ ...turn, problems }])).toMatchObject({
      problem: expect.stringContaining("could be used: a call names no tool."),
      failure: null,
    })
  })

  test.each([
    ["WRITE_FILE", { callCount: 3, commandCount: 2 }, "no file was changed in this step"],
    ["MODIFY_FILE", {}, "no file was changed in this step"],
    ["CREATE_FILE", {}, "no file was changed in this step"],
    ["DELETE_FILE", {}, "no file was changed in this step"],
    ["GENERATE_CODE", {}, "no file was changed in this step"],
    ["FIX", { callCount: 1 }, "no file was changed in this step"],
    ["RUN_COMMAND", { callCount: 1, changedPaths: ["a"] }, "no command was run in this step"],
    ["READ_FILE", {}, "no call was made in this step"],
    ["ANALYZE_CODE", {}, "no call was made in this step"],
    ["CREATE_DIRECTORY", {}, "no call was made in this step"],
  ])("is not believed when %s was not done", (action, done, why) => {
    const problem = `${action} is not done: ${why}. Do it, or call finish_step with status "failed".`
    expect(claimOf(stepOf(action, done), saying({ summary: "so", status: "done" }))).toEqual({
      modelCallId: "c1",
      problem,
      failure: null,
    })
  })

  test("is believed when it gives the step up, whatever was done", () => {
    expect(claimOf(stepOf("WRITE_FILE"), saying({ summary: "cannot", status: "failed" }))).toEqual({
      modelCallId: "c1",
      problem: null,
      failure: { code: "ACODE-EXEC-001", message: "cannot" },
    })
    expect(claimOf(stepOf("FIX"), saying({ status: "failed" }))?.failure?.message).toBe(
      "the model gave up the step",
    )
  })

  test("has to say one of two things", () => {
    const claim = claimOf(stepOf("READ_FILE", { callCount: 1 }), saying({ summary: "so", status: "nearly" }))
    expect(claim?.problem).toBe('status is "done" or "failed", not "nearly"')
  })

  test.each([[null], [[]], ["done"], [{ status: 1 }]])("with the arguments %j says that it is done", args => {
    expect(claimOf(stepOf("READ_FILE", { callCount: 1 }), saying(args))).toEqual(believed)
  })
})

describe("nothing is claimed", () => {
  test("before the first turn, and by a turn without finish_step", () => {
    expect(claimOf(stepOf("READ_FILE"), [])).toBeNull()
    const [turn] = saying({})
    expect(claimOf(stepOf("READ_FILE"), turn === undefined ? [] : [{ ...turn, calls: [] }])).toBeNull()
  })

  test("by a claim that was refused already", () => {
    const refused = { outcome: "refused", certainty: "notDone", text: "no", digest: "no" } as const
    expect(claimOf(stepOf("READ_FILE"), saying({}, refused))).toBeNull()
  })
})

test("a concrete step needs no more than its call", () => {
  const session = atExecutor(planOf([taskOf("t1", [writeStep("s1")])]))
  expect(claimOf(stepAt(session, 0), saying({}))).toEqual(believed)
})
