import { describe, expect, test } from "bun:test"
import { statusLines, statusOf } from "../../../../src/cli/commands/work/status-view.ts"
import type { PipelineState } from "../../../../src/domain/pipeline/state.ts"
import type { ApprovalSummary, SessionSummary } from "../../../../src/store/session/contract.ts"
import { cycle, entered, replied, rested } from "../../../support/pipeline/pipeline-events.ts"
import { atPlanner, atStep, atVerifier } from "../../../support/pipeline/pipeline-sessions.ts"

const summary: SessionSummary = {
  id: "ses_00000000-12345678",
  lane: "agent",
  goal: "get it done",
  planId: null,
  planHash: null,
  state: "EXECUTING",
  reason: null,
  exitCode: null,
  stepCount: 3,
  stepsDone: 1,
  startedAt: "2026-01-02T03:04:05.000Z",
  endedAt: null,
  owner: { bootId: "b", pid: 1, startTicks: "1" },
  undoneAt: null,
  partlyUndoneAt: null,
}
// as: only these two fields of an open question are looked at.
const question = { id: "apr_00000000-00000007", operation: "run plan version 1" } as ApprovalSummary

function textOf(
  state: PipelineState | null,
  more: Partial<SessionSummary> = {},
  isDriven = false,
  open = false,
) {
  const view = statusOf({ ...summary, ...more }, state, {
    isDriven,
    hasChanges: false,
    openApprovals: open ? [question] : [],
    lastAsked: null,
  })
  return statusLines(view).join("\n")
}

describe("where a session stands", () => {
  test("while somebody works on it: stage, step and what can be done to it", () => {
    const session = atStep().add(replied({ turn: 4 }))
    expect(textOf(session.state, {}, true).split("\n")).toEqual([
      "[SESSION] ses_00000000-12345678 (agent)",
      "  goal    get it done",
      "  state   EXECUTING, running",
      "  stage   executor, plan version 1, turn 4",
      "  steps   0/1, at s1",
      "  next    acode pause 12345678  ·  acode cancel 12345678",
    ])
  })

  test("after its process died: it can be resumed", () => {
    const text = textOf(atStep().state)
    expect(text).toContain("EXECUTING, its process is gone")
    expect(text).toContain("  next    acode resume 12345678")
  })

  test("when it waits for an answer: which one, and how to give it", () => {
    const state = atPlanner().add(rested(10, "AWAITING_APPROVAL")).state
    const text = textOf(state, { exitCode: 10, reason: "waiting" }, false, true)
    expect(text).toContain("  state   AWAITING_APPROVAL (exit 10): waiting")
    expect(text).toContain("⚠ waits for approval 00000007: run plan version 1")
    expect(text).toContain("  next    acode approve 00000007  ·  acode resume 12345678")
  })

  test("counts the ways back it took, and the tries of its stage", () => {
    const session = atVerifier().add(cycle("verifier", "executor"), entered("verifier", { attempt: 2 }))
    const text = textOf(session.state)
    expect(text).toContain("  cycle   1/3 verifier→executor")
    expect(text).toContain("  stage   verifier, Retry 2, plan version 1")
  })

  test("of another lane is what its record says, and has no stage", () => {
    const view = statusOf(
      { ...summary, lane: "plan", state: "FAILED", exitCode: 30, reason: "step s1" },
      null,
      {
        isDriven: false,
        hasChanges: true,
        openApprovals: [],
        lastAsked: null,
      },
    )
    expect(view).toMatchObject({ stage: null, stepsDone: 1, stepCount: 3, cyclesMax: null, exitCode: 30 })
    expect(view.next).toEqual(["acode session show 12345678", "acode session undo 12345678"])
  })

  test("of a plan run that works names nothing that would be refused", () => {
    const running = { ...summary, lane: "plan" as const }
    const next = (open: readonly ApprovalSummary[]) =>
      statusOf(running, null, { isDriven: true, hasChanges: false, openApprovals: open, lastAsked: null })
        .next
    expect(next([])).toEqual(["acode session show 12345678"])
    expect(next([question])).toEqual(["acode approve 00000007", "acode session show 12345678"])
  })

  test("shows nothing that a terminal would act on", () => {
    const text = textOf(null, { goal: "\u001b[2J", reason: "\u202e" })
    expect(text).toContain("\\x1b[2J")
    expect(text).not.toContain("\u001b")
    expect(text).not.toContain("\u202e")
  })
})
