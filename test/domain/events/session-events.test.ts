import { describe, expect, test } from "bun:test"
import {
  lanes,
  PlanApproved,
  SessionFinished,
  SessionRested,
  SessionStarted,
  SessionUndone,
  StepFinished,
  StepStarted,
  sessionStates,
} from "../../../src/domain/events/session-events.ts"

const rested = { state: "PAUSED", reason: "why", exitCode: 22, unverified: false }
const events = {
  started: {
    lane: "plan",
    goal: "g",
    planId: "p",
    planHash: "sha256:x",
    approvalId: "apr_1",
    plan: null,
    stepCount: 1,
    policyVersion: "v",
    agent: null,
    treeDigest: null,
    outputs: [],
    worktreeId: null,
    repoSha: null,
    owner: { bootId: "b", pid: 4, startTicks: "1" },
  },
  finished: { ...rested, state: "COMPLETED", treeDigest: "t", wallMs: 1, toolMs: 1, waitMs: 0 },
  undone: { restored: ["a"], removed: [], foreign: [], blocked: [{ path: "b", reason: "r" }], by: "ada" },
  approved: {
    approvalId: "apr_1",
    planId: "p",
    planHash: "sha256:x",
    approver: "ada",
    stepCount: 1,
    expiresAt: "2026-01-02T03:04:05.678Z",
  },
  stepStarted: { taskId: "t", stepId: "s", index: 0, title: "", tool: "file_read", stepKey: "k" },
  stepFinished: {
    taskId: "t",
    stepId: "s",
    index: 0,
    success: false,
    callId: null,
    code: "E101",
    message: "m",
    diagnostics: [],
    durationMs: 0,
    waitMs: 0,
  },
}

describe("the events of a session", () => {
  for (const [name, definition, data] of [
    ["its start", SessionStarted, events.started],
    ["its rest", SessionRested, rested],
    ["its end", SessionFinished, events.finished],
    ["its undoing", SessionUndone, events.undone],
    ["the approval of a plan", PlanApproved, events.approved],
    ["the start of a step", StepStarted, events.stepStarted],
    ["the end of a step", StepFinished, events.stepFinished],
  ] as const)
    test(`${name} carries exactly what was declared`, () => {
      expect(definition.data.safeParse(data).success).toBe(true)
      expect(definition.data.safeParse({ ...data, more: 1 }).success).toBe(false)
      const [first = ""] = Object.keys(data)
      expect(definition.data.safeParse({ ...data, [first]: undefined }).success).toBe(false)
    })

  test("know eight states and three lanes, and no other", () => {
    expect(sessionStates).toHaveLength(8)
    for (const state of sessionStates)
      expect(SessionRested.data.safeParse({ ...rested, state }).success).toBe(true)
    expect(SessionRested.data.safeParse({ ...rested, state: "Running" }).success).toBe(false)
    for (const lane of lanes)
      expect(SessionStarted.data.safeParse({ ...events.started, lane }).success).toBe(true)
    expect(SessionStarted.data.safeParse({ ...events.started, lane: "fast" }).success).toBe(false)
  })

  test("durations are whole and not negative, times are times", () => {
    expect(SessionFinished.data.safeParse({ ...events.finished, wallMs: -1 }).success).toBe(false)
    expect(StepFinished.data.safeParse({ ...events.stepFinished, waitMs: 0.5 }).success).toBe(false)
    expect(PlanApproved.data.safeParse({ ...events.approved, expiresAt: "soon" }).success).toBe(false)
  })
})
