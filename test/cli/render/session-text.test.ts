import { describe, expect, test } from "bun:test"
import { sessionLines } from "../../../src/cli/render/session-text.ts"
import { unknownPrices } from "../../../src/cli/render/usage-text.ts"
import type { NewEvent } from "../../../src/domain/events/definition.ts"
import { sessionView } from "../../../src/domain/session/session-view.ts"
import { changing, event } from "../../store/support/session-events.ts"
import * as made from "../../support/pipeline/pipeline-events.ts"
import { atVerifier } from "../../support/pipeline/pipeline-sessions.ts"

function linesOf(...events: readonly NewEvent[]): string {
  const at = "2026-01-02T03:04:05.000Z"
  const recorded = events.map(({ type, data }, index) => ({ seq: index + 1, at, type, data }))
  return sessionLines(sessionView("ses_1", recorded), unknownPrices).join("\n")
}

const begun = [
  event.sessionStarted({ stepCount: 2 }),
  event.stepStarted({ tool: "file_write", title: "write it" }),
  event.callRequested("cal_00000001", { tool: "file_write" }),
]

describe("a session as people read it", () => {
  test("says how it ended, what each step did and who was asked", () => {
    const text = linesOf(
      ...begun,
      event.approvalRequested("apr_00000001", "ses_1", { callId: "cal_00000001" }),
      event.approvalAnswered("apr_00000001", { answer: "granted", by: "ada" }),
      event.callStarted("cal_00000001"),
      event.callSettled("cal_00000001", changing("src/a.ts")),
      event.stepFinished({ callId: "cal_00000001", durationMs: 12 }),
      event.stepStarted({ stepId: "s2", index: 1, title: "" }),
      event.stepFinished({
        stepId: "s2",
        index: 1,
        success: false,
        code: "E101",
        message: "b.ts is not there",
      }),
      event.sessionFinished({ state: "FAILED", reason: "step s2 failed", exitCode: 30 }),
      event.sessionUndone(),
    )
    expect(text).toMatchInlineSnapshot(`
      "[SESSION] ses_1 (plan)
        goal     tidy up
        state    FAILED, exit 30: step s2 failed
        plan     plan-1 sha256:1111111111111111111111111111111111111111111111111111111111111111
        started  2026-01-02T03:04:05.000Z, ended 2026-01-02T03:04:05.000Z
        undone   2026-01-02T03:04:05.000Z
      [STEP 1/2] ✓ s1: write it — succeeded (12 ms)
        [tool:file_write] evidence cal_00000001
        [approval] 00000001 level 2, granted by ada
        [result] succeeded
          changed src/a.ts
      [STEP 2/2] ✗ s2 — failed (1 ms)
        ✗ E101: b.ts is not there"
    `)
  })

  test("says exactly what is known of an interrupted step", () => {
    const text = linesOf(
      ...begun,
      event.callStarted("cal_00000001", { effectClass: "once" }),
      event.callSettled("cal_00000001", {
        outcome: "interrupted",
        certainty: "unknown",
        error: { code: "ACODE-EXE-013", message: "acode ended in the middle", where: null, hint: null },
      }),
      event.stepFinished({ success: false, callId: "cal_00000001", code: "ACODE-EXE-013", message: "x" }),
      event.sessionFinished({ state: "FAILED", reason: "interrupted", exitCode: 60, unverified: true }),
    )
    expect(text).toContain("[STEP 1/2] ⚠ s1: write it — interrupted (1 ms)")
    expect(text).toContain("  [result] interrupted; its effect may or may not have taken place")
    expect(text).toContain("  ⚠ inspect what it touched before you continue")
    expect(text.match(/ACODE-EXE-013/g)).toHaveLength(1)
  })

  test("says that nothing happened where that is known", () => {
    const settled = event.callSettled("cal_00000001", { outcome: "interrupted", certainty: "notDone" })
    const text = linesOf(...begun, settled)
    expect(text).toContain("interrupted; its effect did not take place")
    expect(text).not.toContain("inspect what it touched")
  })

  test("shows calls outside steps, and open ones", () => {
    const text = linesOf(event.sessionStarted(), event.callRequested("cal_9", { tool: "glob" }))
    expect(text).toContain("[tool:glob] evidence cal_9")
    expect(text).toContain("[result] open")
  })

  test("shows twenty changes and counts the others", () => {
    const paths = Array.from({ length: 25 }, (_, index) => `f${index}`)
    const text = linesOf(...begun, event.callSettled("cal_00000001", changing(...paths)))
    expect(text).toContain("    changed f19\n    5 more; --json shows all")
    const changes = { kind: "artifact" as const, ref: "sha256:ab", bytes: 1, count: 900 }
    expect(linesOf(...begun, event.callSettled("cal_00000001", { changes }))).toContain(
      "900 changes in sha256:ab",
    )
  })

  test("names what was made and what was removed", () => {
    const value = [
      { path: "new.ts", before: null, after: "1" },
      { path: "old.ts", before: "1", after: null },
    ]
    const text = linesOf(...begun, event.callSettled("cal_00000001", { changes: { kind: "inline", value } }))
    expect(text).toContain("    created new.ts\n    deleted old.ts")
  })

  test("quotes what a terminal would act on", () => {
    const bad = "\u001b[2J\u202e"
    const text = linesOf(
      event.sessionStarted({ goal: bad, planId: bad }),
      event.stepStarted({ title: bad }),
      event.callRequested("cal_1", { tool: bad }),
      event.approvalRequested("apr_1", "ses_1", { callId: "cal_1" }),
      event.approvalAnswered("apr_1", { by: bad, reason: bad }),
      event.stepFinished({ success: false, code: "E101", message: bad }),
      event.sessionFinished({ reason: bad }),
    )
    expect(text).not.toContain("\u001b")
    expect(text).not.toContain("\u202e")
  })
})

describe("an agent session as people read it", () => {
  const session = atVerifier().add(
    made.checked("a1", "failed", { reason: "exit 1" }),
    made.ended("verifier", "cycle"),
    made.cycle("verifier", "executor", [{ taskId: "t1", stepId: "t1.fix1", description: "mend" }]),
    made.moved("verifier", "executor"),
    made.entered("executor", { attempt: 1 }),
  )
  const text = sessionLines(sessionView("ses_1", session.events), unknownPrices).join("\n")

  test("shows its plans, stages, checks and ways back", () => {
    expect(text).toContain("[PLAN 1] sha256:")
    expect(text).toContain(", approved by ann")
    expect(text).toContain("[PLANNER] ✓ success (0 ms)")
    expect(text).toContain("[VERIFIER] ⚠ cycle (0 ms)")
    expect(text).toContain("[EXECUTOR] … open, Retry 1")
    expect(text).toContain("[CHECK 1] ✗ a1 (command) failed — exit 1")
    expect(text).toContain("⚠ Cycle 1/3: verifier → executor")
  })

  test("counts the steps that mend something", () => {
    expect(text).toMatch(/\[STEP 1\/2\] ✓ s1/)
  })

  test("that goes on has no end any more", () => {
    const resting = [...session.events, { ...made.rested(22), seq: 99, at: "2026-01-02T03:04:05.000Z" }]
    expect(sessionView("ses_1", resting)).toMatchObject({ state: "PAUSED", exitCode: 22 })
    const resumed = [
      ...resting,
      { ...made.resumed(made.settingsOf()), seq: 100, at: "2026-01-02T03:04:05.000Z" },
    ]
    expect(sessionView("ses_1", resumed)).toMatchObject({ state: "EXECUTING", exitCode: null, reason: null })
  })

  test("of another lane has no stages", () => {
    expect(sessionView("ses_1", []).pipeline).toBeNull()
  })
})
