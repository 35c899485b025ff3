import { describe, expect, test } from "bun:test"
import type { ErrorCode } from "../../../src/domain/error-codes.ts"
import { commandOutcome } from "../../../src/engine/checks/run-check.ts"
import type { SettledCall } from "../../../src/gate/contract.ts"

function settled(more: Partial<SettledCall>, stdout = "", stderr = ""): SettledCall {
  return {
    callId: "cal_1",
    outcome: "failed",
    certainty: "done",
    error: null,
    cause: null,
    value: { stdout, stderr, exit_code: 1 },
    text: "",
    resultDigest: null,
    exitCode: null,
    executionId: "exe_1",
    paths: [],
    changes: [],
    uncovered: null,
    diagnostics: [],
    durationMs: 1,
    waitMs: 0,
    ...more,
  }
}

const error = (code: ErrorCode) => ({ code, message: `because of ${code}`, where: null, hint: null })

describe("the outcome of a command", () => {
  test.each([
    ["a success", { outcome: "succeeded", exitCode: 0 }, "exited"],
    ["an exit code", { exitCode: 2, error: error("ACODE-EXE-003") }, "exited"],
    ["a signal", { error: error("ACODE-EXE-003") }, "exited"],
    ["a limit it ran into", { error: error("ACODE-EXE-012") }, "exited"],
    ["a deadline", { error: error("ACODE-EXE-002") }, "timedOut"],
    ["a program that is not there", { error: error("ACODE-EXE-001") }, "notRun"],
    ["a missing sandbox", { error: error("ACODE-EXE-010") }, "notRun"],
    ["a cancellation", { error: error("ACODE-EXE-009") }, "notRun"],
    ["a refusal", { outcome: "refused", error: error("E105") }, "notRun"],
    ["a rule", { outcome: "denied", error: error("ACODE-SEC-003") }, "notRun"],
    ["the death of acode", { outcome: "interrupted" }, "notRun"],
  ] as const)("after %s is told as it is", (_what, more, ended) => {
    expect(commandOutcome(settled(more)).ended).toBe(ended)
  })

  test("has the reason in place of an output when it was not run", () => {
    expect(commandOutcome(settled({ outcome: "refused", error: error("E105"), executionId: null }))).toEqual({
      ended: "notRun",
      exitCode: null,
      outputHash: null,
      executionId: null,
      told: "because of E105",
    })
  })

  test("has the message when nothing was written", () => {
    const outcome = commandOutcome(settled({ exitCode: 1, error: error("ACODE-EXE-003") }))
    expect(outcome.told).toBe("because of ACODE-EXE-003")
  })

  test("hashes both streams apart from each other", () => {
    const hash = (out: string, err: string) =>
      commandOutcome(settled({ exitCode: 1, error: error("ACODE-EXE-003") }, out, err)).outputHash
    expect(hash("a", "b")).toBe(hash("a", "b"))
    expect(hash("a", "b")).not.toBe(hash("b", "a"))
    expect(hash("ab", "")).not.toBe(hash("a", "b"))
  })
})

describe("the end of what a command wrote", () => {
  const told = (out: string, err = "") =>
    commandOutcome(settled({ exitCode: 1, error: error("ACODE-EXE-003") }, out, err)).told
  const lines = (count: number, word: string) =>
    Array.from({ length: count }, (_, index) => `${word} ${index}`).join("\n")

  test("is both streams, each to its half", () => {
    const tail = told(lines(1_000, "out"), lines(1_000, "err"))
    expect(Buffer.byteLength(tail)).toBeLessThanOrEqual(2_049)
    expect(tail).toContain("out 999\n…\nerr ")
    expect(tail).toEndWith("err 999")
  })

  test("leaves the share of a short stream to the other", () => {
    const tail = told(lines(1_000, "out"), "short")
    expect(Buffer.byteLength(tail)).toBeGreaterThan(1_900)
    expect(tail).toEndWith("out 999\nshort")
  })

  test("begins with a whole line where there are lines", () => {
    expect(told(lines(1_000, "out")).split("\n")[1]).toMatch(/^out \d+$/)
  })

  test("is cut inside of a line that is longer than all of it, never inside of a character", () => {
    const tail = told("ü".repeat(5_000))
    expect(Buffer.byteLength(tail)).toBeLessThanOrEqual(2_048)
    expect(tail).toMatch(/^…\nü+$/)
  })

  test("has no colours and no other orders to a terminal", () => {
    expect(told("\u001b[1;31mred\u001b[0m \u001b]0;title\u0007plain \u001b]8;;http://x\u001b\\link")).toBe(
      "red plain link",
    )
  })
})
