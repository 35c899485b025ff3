import { describe, expect, test } from "bun:test"
import { newEvent } from "../../../src/domain/events/definition.ts"
import { ModelRequested } from "../../../src/domain/events/turn-events.ts"
import { tokenScaleOf } from "../../../src/domain/pipeline/token-scale.ts"
import { noUsage, usedMore, wholeUsage } from "../../../src/domain/pipeline/token-usage.ts"
import type { ModelSelection } from "../../../src/domain/pipeline-settings.ts"
import type { Stage } from "../../../src/domain/stage.ts"
import { replied, resumed, settingsOf } from "../../support/pipeline/pipeline-events.ts"
import { atStep } from "../../support/pipeline/pipeline-sessions.ts"

function selectionOf(executor: string, others: string): ModelSelection {
  const model = (name: string) => ({
    ...({ name, rung: "native", editFormat: "whole", windowTokens: 8_192, outputTokensMax: 4_096 } as const),
  })
  return {
    protocol: "openai",
    endpoint: "http://127.0.0.1:1",
    consentBy: null,
    planner: model(others),
    executor: model(executor),
    verifier: model(others),
    reviewer: model(others),
  }
}

const goingOn = (executor: string, others: string) =>
  resumed(settingsOf({}, { selection: selectionOf(executor, others) }))

const asked = (estimatedTokens: number, stage: Stage = "executor") =>
  newEvent(ModelRequested, {
    stage,
    stepId: null,
    turn: 1,
    replyIndex: 0,
    messageCount: 2,
    requestDigest: "",
    estimatedTokens,
    model: "m",
    endpoint: "http://127.0.0.1:1",
  })

const counted = (input: number) => replied({ usage: { input, output: 1 } })

describe("how a server counts", () => {
  const scaleAfter = (estimatedTokens: number, input: number) =>
    tokenScaleOf(atStep().add(asked(estimatedTokens), counted(input)).state, "executor")

  test("corrects the estimate, within reason", () => {
    expect(scaleAfter(1_000, 1_500)).toBe(1.5)
    expect(scaleAfter(1_000, 10)).toBe(0.7)
    expect(scaleAfter(1_000, 90_000)).toBe(3)
  })

  test("is not learnt from a short request, nor from one that was not counted", () => {
    expect(scaleAfter(100, 150)).toBe(1)
    expect(scaleAfter(1_000, 0)).toBe(1)
  })

  test("is not learnt from a request that was too long", () => {
    const failure = { kind: "contextTooLong", message: "", retryable: true, retryAfterMs: null }
    const { state } = atStep().add(asked(1_000), replied({ failure, usage: { input: 0, output: 0 } }))
    expect(tokenScaleOf(state, "executor")).toBe(1)
  })

  test("is a matter of the model, whichever stages it works for", () => {
    const session = atStep().add(goingOn("a", "b"), asked(1_000), counted(2_000))
    const scales = () => (["planner", "executor"] as const).map(stage => tokenScaleOf(session.state, stage))
    expect(scales()).toEqual([1, 2])
    session.add(goingOn("b", "a"))
    expect(scales()).toEqual([2, 1])
    session.add(asked(1_000), counted(1_500), goingOn("b", "b"))
    expect(scales()).toEqual([1.5, 1.5])
  })
})

describe("what the models of a session took", () => {
  test("is counted by stage, each request once", () => {
    const once = usedMore(noUsage, "planner", { input: 10, output: 3 })
    const twice = usedMore(once, "planner", { input: 5, output: 0 })
    expect(twice).toEqual({ ...noUsage, planner: { requests: 2, input: 15, output: 3 } })
    expect(noUsage.planner.requests).toBe(0)
  })

  test("is the same together, whoever took it", () => {
    const used = usedMore(usedMore(noUsage, "executor", { input: 7, output: 1 }), "reviewer", {
      input: 2,
      output: 2,
    })
    expect(wholeUsage(used)).toEqual({ requests: 2, input: 9, output: 3 })
    expect(wholeUsage(noUsage)).toEqual({ requests: 0, input: 0, output: 0 })
  })
})
