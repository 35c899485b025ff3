import { describe, expect, test } from "bun:test"
import * as events from "../../../src/domain/events/pipeline-events.ts"
import * as made from "../../support/pipeline/pipeline-events.ts"
import { smallPlan } from "../../support/pipeline/pipeline-plans.ts"

const settings = made.settingsOf()

describe("an event of the pipeline", () => {
  test.each([
    [events.SessionResumed, made.resumed(settings)],
    [events.StageEntered, made.entered("verifier", { checks: [{ id: "a", kind: "command", taskId: null }] })],
    [events.StageFinished, made.ended("planner", "timeout", 2)],
    [events.StageTransitioned, made.moved("reviewer", "complete")],
    [
      events.CycleStarted,
      made.cycle("verifier", "executor", [{ taskId: "t", stepId: "t.fix1", description: "" }]),
    ],
    [events.PlanProposed, made.proposed(smallPlan())],
    [events.CheckFinished, made.checked("a1", "inconclusive")],
  ])("$type has the declared shape", (definition, event) => {
    expect(definition.data.safeParse(JSON.parse(JSON.stringify(event.data))).success).toBe(true)
  })

  test.each([
    ["a stage there is not", events.StageEntered, { ...made.entered("planner").data, stage: "tester" }],
    [
      "a move to nowhere",
      events.StageTransitioned,
      { ...made.moved("planner", "executor").data, to: "done" },
    ],
    [
      "a cycle to the end",
      events.CycleStarted,
      { ...made.cycle("reviewer", "planner").data, to: "complete" },
    ],
    ["a verdict there is not", events.CheckFinished, { ...made.checked("a1", "passed").data, verdict: "ok" }],
    ["a negative count", events.StageFinished, { ...made.ended("planner").data, attempt: -1 }],
  ])("with %s is refused", (_, definition, data) => {
    expect(definition.data.safeParse(data).success).toBe(false)
  })
})
