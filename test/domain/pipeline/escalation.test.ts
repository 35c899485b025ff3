import { expect, test } from "bun:test"
import { escalate } from "../../../src/domain/pipeline/escalation.ts"

test("an escalation ends its stage as failed unless it says how", () => {
  const told = { reason: "it is stuck", advice: "help it" }
  expect(escalate("verifier", "NoProgress", 22, told)).toEqual({
    kind: "escalate",
    level: "NoProgress",
    stage: "verifier",
    reason: "it is stuck",
    advice: "help it",
    exitCode: 22,
    status: "failed",
  })
  expect(escalate("planner", "TimeoutLimit", 20, { ...told, status: "timeout" }).status).toBe("timeout")
})

test("an escalation may leave its stage open", () => {
  expect(
    escalate("executor", "Unrecoverable", 60, { reason: "", advice: "", status: null }).status,
  ).toBeNull()
})
