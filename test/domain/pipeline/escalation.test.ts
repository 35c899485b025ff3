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
    code: "ACODE-ORCH-004",
    status: "failed",
  })
  expect(escalate("planner", "TimeoutLimit", 20, { ...told, status: "timeout" }).status).toBe("timeout")
})

test.each([
  ["TimeoutLimit", 20, "ACODE-ORCH-002"],
  ["TimeoutLimit", 34, "ACODE-EXEC-006"],
  ["CycleLimit", 21, "ACODE-ORCH-003"],
  ["StageFailed", 40, "ACODE-ORCH-001"],
  ["StageFailed", 33, "ACODE-EXEC-005"],
  ["Unrecoverable", 60, "ACODE-ORCH-004"],
  ["StageFailed", 0, null],
] as const)("%s with exit code %d has the code %p", (level, exitCode, code) => {
  expect(escalate("executor", level, exitCode, { reason: "", advice: "" }).code).toBe(code)
})

test("an escalation may leave its stage open", () => {
  expect(
    escalate("executor", "Unrecoverable", 60, { reason: "", advice: "", status: null }).status,
  ).toBeNull()
})
