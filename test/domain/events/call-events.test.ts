import { describe, expect, test } from "bun:test"
import {
  ApprovalAnswered,
  ApprovalRequested,
  RecordedChanges,
  ToolCallRequested,
  ToolCallSettled,
  ToolCallStarted,
} from "../../../src/domain/events/call-events.ts"
import { newEvent } from "../../../src/domain/events/definition.ts"

const requested = {
  callId: "cal_1",
  tool: "file_read",
  canonicalTool: "read_file",
  arguments: { kind: "inline" as const, value: { path: "a" } },
  argsDigest: "d",
  origin: { planId: null, planHash: null, taskId: null, stepId: null, stepKey: null, modelCallId: null },
}
const started = {
  callId: "cal_1",
  effectClass: "replace" as const,
  targets: [{ path: "a", before: null, after: "ff" }],
  checkpointId: "cal_1",
  approvalId: null,
  decision: { decision: "allow" as const, rule: "r", reason: "why", level: 2 },
  confinement: null,
}
const settled = {
  callId: "cal_1",
  outcome: "succeeded" as const,
  certainty: "done" as const,
  error: null,
  result: null,
  text: null,
  resultDigest: null,
  exitCode: null,
  executionId: null,
  paths: ["a"],
  changes: { kind: "inline" as const, value: [] },
  diagnostics: [],
  durationMs: 1,
  waitMs: 0,
}
const question = {
  approvalId: "apr_1",
  sessionId: "ses_1",
  callId: "cal_1",
  stepId: null,
  kind: "action" as const,
  category: "FILE_WRITE" as const,
  level: 2,
  operation: "write a",
  files: ["a"],
  reason: "why",
  rule: "r",
  preview: { kind: "inline" as const, text: "" },
  subjectHash: "sha256:x",
  expiresAt: null,
  options: ["approve"],
}
const answer = {
  approvalId: "apr_1",
  answer: "granted" as const,
  by: "ada",
  via: "prompt" as const,
  reason: null,
  expiresAt: "2026-01-02T03:04:05.678Z",
}

describe("the events of a call", () => {
  test("carry exactly what was declared", () => {
    expect(newEvent(ToolCallRequested, requested).data).toEqual(requested)
    for (const [definition, data] of [
      [ToolCallRequested, requested],
      [ToolCallStarted, started],
      [ToolCallSettled, settled],
      [ApprovalRequested, question],
      [ApprovalAnswered, answer],
    ] as const) {
      expect(definition.data.safeParse(data).success).toBe(true)
      expect(definition.data.safeParse({ ...data, more: 1 }).success).toBe(false)
      expect(definition.data.safeParse({}).success).toBe(false)
    }
  })

  test("know four classes of effects, five outcomes and four certainties", () => {
    const isStart = (effectClass: string) =>
      ToolCallStarted.data.safeParse({ ...started, effectClass }).success
    expect(["read", "replace", "run", "once", "maybe"].map(isStart)).toEqual([true, true, true, true, false])
    const isEnd = (more: object) => ToolCallSettled.data.safeParse({ ...settled, ...more }).success
    expect(isEnd({ outcome: "interrupted", certainty: "partly" })).toBe(true)
    expect(isEnd({ outcome: "vanished" })).toBe(false)
    expect(isEnd({ certainty: "probably" })).toBe(false)
    expect(isEnd({ durationMs: -1 })).toBe(false)
  })

  test("an answer ends at a time, and a question may stay open for good", () => {
    expect(ApprovalRequested.data.safeParse({ ...question, expiresAt: "tomorrow" }).success).toBe(false)
    expect(ApprovalAnswered.data.safeParse({ ...answer, expiresAt: null }).success).toBe(false)
    expect(ApprovalAnswered.data.safeParse({ ...answer, answer: "maybe" }).success).toBe(false)
  })

  test("many changes are an artifact that says how many", () => {
    const recorded = { kind: "artifact", ref: "sha256:x", bytes: 3, count: 200 }
    expect(RecordedChanges().safeParse(recorded).success).toBe(true)
    expect(RecordedChanges().safeParse({ ...recorded, count: undefined }).success).toBe(false)
  })
})
