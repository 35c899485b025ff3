import { describe, expect, test } from "bun:test"
import { longerReplies } from "../../../src/domain/pipeline/escalation.ts"
import type { ModelSelection } from "../../../src/domain/pipeline-settings.ts"
import { replied, settingsOf } from "../../support/pipeline/pipeline-events.ts"
import { atPlanner } from "../../support/pipeline/pipeline-sessions.ts"

describe("what helps against answers that are cut off", () => {
  const advice = (selection: Partial<ModelSelection> | null, cutOff: number, more = {}) => {
    const model = { name: "m", rung: "native", editFormat: "whole" } as const
    const sized = { ...model, windowTokens: 32_768, outputTokensMax: 4_096 }
    const whole: ModelSelection = {
      ...{ protocol: "ollama", endpoint: "http://127.0.0.1:1", consentBy: null },
      ...{ planner: sized, executor: sized, verifier: sized, reviewer: sized },
      ...selection,
    }
    const session = atPlanner(settingsOf({}, { selection: selection === null ? null : whole }))
    for (let turn = 1; turn <= cutOff; turn++)
      session.add(replied({ stage: "planner", turn, isCutOff: true, ...more }))
    return longerReplies(session.state, "planner")
  }

  test("is a larger window where the longest answer that fits was allowed", () => {
    expect(advice({}, 3)).toBe(
      "its answers are longer than 16384 tokens, what it thinks included; that is half of its window: give the model a " +
        "larger window: `acode config set model.parameters.context_window 65536`, then `acode resume --model ollama/m`",
    )
  })

  test("is a longer answer where more would fit", () => {
    const elsewhere = { protocol: "anthropic", consentBy: "a person" } as const
    expect(advice(elsewhere, 3)).toBe(
      "its answers are longer than 4096 tokens, what it thinks included; allow it up to 16384: `acode config set " +
        "model.parameters.max_tokens 16384`, then `acode resume --model anthropic/m`",
    )
  })

  test("is nobody's business where the last answer was whole, or nobody knows what was allowed", () => {
    expect(advice({}, 0)).toBeNull()
    expect(advice({}, 2, { isCutOff: undefined })).toBeNull()
    expect(advice(null, 3)).toBeNull()
  })
})
