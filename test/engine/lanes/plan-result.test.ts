import { describe, expect, test } from "bun:test"
import type { ErrorCode } from "../../../src/domain/error-codes.ts"
import type { ConcreteStep } from "../../../src/domain/plan/plan.ts"
import { callExitCodes, called, stepResult } from "../../../src/engine/lanes/plan-result.ts"
import { callCauses, type SettledCall } from "../../../src/gate/contract.ts"

const step = (tool: string, requiresConfirmation = false): ConcreteStep => ({
  id: "s1",
  title: "s1",
  description: "",
  dependsOn: [],
  kind: "concrete",
  tool,
  arguments: {},
  precondition: "none",
  requiresConfirmation,
})

function settled(code: ErrorCode | null, change: Partial<SettledCall> = {}): SettledCall {
  const error = code === null ? null : { code, message: "m", where: "a.txt", hint: null }
  return {
    callId: "cal_1",
    outcome: error === null ? "succeeded" : "failed",
    certainty: "done",
    error,
    cause: error === null ? null : "failed",
    value: null,
    text: "",
    resultDigest: "sha256:1",
    exitCode: null,
    executionId: null,
    paths: [],
    changes: [],
    uncovered: null,
    diagnostics:
      error === null
        ? []
        : [
            { level: "error", message: "m", file_name: "a.txt", line_start: 0, code: error.code },
            { level: "warning", message: "other", file_name: "", line_start: 0, code: "W1" },
          ],
    durationMs: 4,
    waitMs: 2,
    ...change,
  }
}

describe("the code of a step", () => {
  const cases: readonly (readonly [string, boolean, ErrorCode, string])[] = [
    ["file_read", false, "ACODE-FS-002", "E301"],
    ["read_file", false, "ACODE-FS-002", "E301"],
    ["delete_file", false, "ACODE-FS-002", "ACODE-FS-002"],
    ["file_write", false, "ACODE-FS-005", "E302"],
    ["write_file", false, "ACODE-FS-005", "E302"],
    ["file_create", false, "ACODE-FS-005", "E302"],
    ["create_file", false, "ACODE-FS-005", "E302"],
    ["modify_file", false, "ACODE-FS-005", "E302"],
    ["file_read", false, "ACODE-FS-005", "ACODE-FS-005"],
    ["file_read", true, "ACODE-EXEC-005", "E105"],
    ["file_read", false, "ACODE-EXEC-005", "ACODE-EXEC-005"],
    ["file_read", true, "ACODE-FS-002", "E301"],
  ]
  for (const [tool, confirmed, code, expected] of cases)
    test(`of ${tool}${confirmed ? " with confirmation" : ""} for ${code} is ${expected}`, () => {
      const end = called(step(tool, confirmed), settled(code))
      expect([end.error?.code, ...end.diagnostics.map(each => each.code)]).toEqual([expected, expected, "W1"])
      expect(end.error).toMatchObject({ message: "m", where: "a.txt" })
    })

  test("of a step that worked is none", () => {
    const call = settled(null)
    expect(called(step("file_read", true), call)).toBe(call)
  })
})

describe("the result of a step", () => {
  test("has every key, whatever happened", () => {
    const value = { stdout: "out", stderr: "err", exit_code: 0 }
    expect(stepResult(step("run_command"), "key", settled(null, { value }))).toEqual({
      step_id: "s1",
      tool_name: "run_command",
      success: true,
      execution_id: "cal_1",
      step_key: "key",
      result_digest: "sha256:1",
      result: value,
      stdout: "out",
      stderr: "err",
      error_code: null,
      error_message: null,
      duration_ms: 4,
      diagnostic_artifacts: [],
    })
  })

  test("takes no text for output that is none", () => {
    for (const value of [null, 3, "stdout", ["stdout"], { stdout: 1 }])
      expect(stepResult(step("x"), "key", settled(null, { value }))).toMatchObject({
        stdout: null,
        stderr: null,
      })
  })
})

test("every cause has an exit code of the contract", () => {
  expect(callCauses.map(cause => [cause, callExitCodes[cause]])).toEqual([
    ["failed", 30],
    ["violation", 32],
    ["refused", 33],
    ["timeout", 34],
    ["stopped", 23],
    ["unknown", 60],
    ["awaiting", 10],
  ])
})
