import { describe, expect, test } from "bun:test"
import { escalate, longerReplies } from "../../../src/domain/pipeline/escalation.ts"
import type { ModelSelection } from "../../../src/domain/pipeline-settings.ts"
import { replied, settingsOf } from "../../support/pipeline/pipeline-events.ts"
import { atPlanner } from "../../support/pipeline/pipeline-sessions.ts"

test("an escalation ends its stage as failed unless it says how", () => {
  const told = { reason: "it is stuck", advice: "help it" }
  expect(escalate("verifier", "NoProgress", "needsPerson", told)).toEqual({
    kind: "escalate",
    level: "NoProgress",
    stage: "verifier",
    reason: "it is stuck",
    advice: "help it",
    exitCode: 22,
    code: "ACODE-ORCH-004",
    status: "failed",
  })
  expect(escalate("planner", "TimeoutLimit", "stageTimeout", { ...told, status: "timeout" }).status).toBe(
    "timeout",
  )
})

test.each([
  ["TimeoutLimit", "stageTimeout", "ACODE-ORCH-002"],
  ["TimeoutLimit", "stepTimeout", "ACODE-EXEC-006"],
  ["CycleLimit", "cycleLimit", "ACODE-ORCH-003"],
  ["StageFailed", "verificationFailed", "ACODE-ORCH-001"],
  ["StageFailed", "denied", "ACODE-EXEC-005"],
  ["Unrecoverable", "undecided", "ACODE-ORCH-004"],
  ["StageFailed", "done", null],
] as const)("%s with exit %s has the code %p", (level, exit, code) => {
  expect(escalate("executor", level, exit, { reason: "", advice: "" }).code).toBe(code)
})

test("an escalation may leave its stage open", () => {
  expect(
    escalate("executor", "Unrecoverable", "undecided", { reason: "", advice: "", status: null }).status,
  ).toBeNull()
})

describe("what helps against answers that are cut off", () => {
  const advice = (selection: Partial<ModelSelection> | null, cutOff: number, more = {}) => {
    const model = { name: "m", rung: "native", editFormat: "whole" } as const
    const sized = { ...model, windowTokens: 32_768, outputTokensMax: 4_096 }
    const whole: ModelSelection = {
      protocol: "ollama",
      endpoint: "http://127.0.0.1:1",
      consentBy: null,
      planner: sized,
      executor: sized,
      verifier: sized,
      reviewer: sized,
      ...selection,
    }
    const session = atPlanner(settingsOf({}, { selection: selection === null ? null : whole }))
    for (let turn = 1; turn <= cutOff; turn++)
      session.add(replied({ stage: "planner", turn, isCutOff: true, ...more }))
    return longerReplies(session.state, "planner")
  }

  test("is a larger window where the longest answer that fits was allowed", () => {
    expect(advice({}, 3)).toBe(
      "its answers, thinking included, are longer than 16384 tokens; this is half of its window: give the model a " +
        "larger window: `acode config set model.parameters.context_window 65536`, then `acode resume --model ollama/m`",
    )
  })

  test("is a longer answer where more would fit", () => {
    const elsewhere = { protocol: "anthropic", consentBy: "a person" } as const
    expect(advice(elsewhere, 3)).toBe(
      "its answers, thinking included, are longer than 4096 tokens; allow it up to 16384: `acode config set " +
        "model.parameters.max_tokens 16384`, then `acode resume --model anthropic/m`",
    )
  })

  test("is nobody's business where the last answer was whole, or nobody knows what was allowed", () => {
    expect(advice({}, 0)).toBeNull()
    expect(advice({}, 2, { isCutOff: undefined })).toBeNull()
    expect(advice(null, 3)).toBeNull()
  })
})
