import { expect, test } from "bun:test"
import { endOf } from "../../../../src/provider/protocols/anthropic/reply.ts"

test.each([
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["tool_use", "calls"],
  ["max_tokens", "length"],
  ["refusal", "refused"],
] as const)("%s ends a reply as %s", (reason, end) => {
  expect(endOf(reason)).toEqual({ kind: "end", reason: end })
})

test.each([
  ["pause_turn", "truncated", true],
  ["model_context_window_exceeded", "contextTooLong", false],
  ["made_up", "malformed", true],
  ["", "malformed", true],
  ["END_TURN", "malformed", true],
] as const)("%p is no end but a failure", (reason, kind, retryable) => {
  expect(endOf(reason)).toMatchObject({ kind: "failure", failure: { kind, retryable } })
})

test("a reason that is unknown is reported in one short line", () => {
  const end = endOf(`a\nb${"x".repeat(1_000)}`)
  expect(end.kind === "failure" && end.failure.message.length < 130).toBe(true)
  expect(end.kind === "failure" && end.failure.message.includes("\n")).toBe(false)
})
