import { describe, expect, test } from "bun:test"
import type { Paint } from "../../../src/cli/output.ts"
import { type Prices, unknownPrices } from "../../../src/cli/render/usage-text.ts"
import { runRenderer } from "../../../src/cli/run/render.ts"
import { type NewEvent, newEvent } from "../../../src/domain/events/definition.ts"
import {
  EscalationRaised,
  StageProgressed,
  StepRefused,
  TransitionRefused,
} from "../../../src/domain/events/pipeline-events.ts"
import { SessionFinished } from "../../../src/domain/events/session-events.ts"
import * as made from "../../support/pipeline/pipeline-events.ts"
import { smallPlan } from "../../support/pipeline/pipeline-plans.ts"
import { atReviewer, atStep, atVerifier } from "../../support/pipeline/pipeline-sessions.ts"

const plain: Paint = { dim: text => text, red: text => text, green: text => text }
const colourful: Paint = { dim: text => text, red: text => `<r>${text}</r>`, green: text => `<g>${text}</g>` }

interface Told {
  readonly verbose?: boolean
  readonly quiet?: boolean
  readonly paint?: Paint
  readonly seen?: readonly NewEvent[]
  readonly prices?: Prices
}

function told(events: readonly NewEvent[], options: Told = {}): string {
  const { verbose = false, quiet = false, paint = plain, seen = [], prices = unknownPrices } = options
  const numbered = (all: readonly NewEvent[]) =>
    all.map(({ type, data }, index) => ({ seq: index + 1, at: "2026-01-02T03:04:05.000Z", type, data }))
  const renderer = runRenderer({ paint, verbose, quiet, prices, replies: null }, numbered(seen))
  return numbered(events)
    .flatMap(event => renderer.render("ses_00000000-12345678", event))
    .join("\n")
}

const finished = (more: Partial<NewEvent<typeof SessionFinished>["data"]> = {}) =>
  newEvent(SessionFinished, {
    state: "COMPLETED",
    reason: "done and verified",
    exitCode: 0,
    unverified: false,
    treeDigest: "tree",
    wallMs: 1,
    toolMs: 0,
    waitMs: 0,
    ...more,
  })

/** Events as they were read back, which are whole events. */
const eventsOf = (session: { readonly events: readonly unknown[] }) => session.events as readonly NewEvent[]

describe("a session as it is told while it happens", () => {
  test("goes from stage to stage, with its steps, calls, checks and its end", () => {
    const review = { decision: "approve", summary: "good", findings: [{ severity: "minor", text: "a nit" }] }
    const session = atReviewer().add(
      made.replied({ stage: "reviewer", answer: review }),
      made.ended("reviewer"),
      made.moved("reviewer", "complete"),
      finished(),
    )
    const lines = told(eventsOf(session)).split("\n")
    const plan = lines.filter(line => line.startsWith("    "))
    expect(plan.join("\n")).toContain("accepted if this exits 0: npm test")
    expect(lines.filter(line => !line.startsWith("    "))).toEqual([
      "[SESSION] get it done",
      "[PLANNER] makes a plan",
      "[PLANNER] plan version 1",
      "[PLANNER] ✓ plan approved by ann",
      "[PLANNER] ✓  (0 ms)",
      "[EXECUTOR] works on plan version 0, 1 step",
      expect.stringMatching(/^\[EXECUTOR\] step 1\/1 s1/),
      "  [tool:write_file]",
      "  [result] succeeded, changed s1.txt",
      "[EXECUTOR] ✓ step 1/1 s1 (0 ms)",
      "[EXECUTOR] ✓  (0 ms)",
      "[VERIFIER] checks 1 criterion",
      "[VERIFIER] ✓ a1 (command)",
      "[VERIFIER] ✓  (0 ms)",
      "[REVIEWER] reviews the work",
      "[REVIEWER] approve: good",
      "  · minor: a nit",
      "[REVIEWER] ✓  (0 ms)",
      "✓ COMPLETED (exit 0): done and verified",
      "tokens 20 in, 10 out in 2 requests",
      "  planner 10 in, 5 out · reviewer 10 in, 5 out",
      "session ses_00000000-12345678",
      "next: acode session show 12345678  ·  acode session undo 12345678",
    ])
  })

  test("shows of what a failed check printed what sounds like the failure, else the end of it", () => {
    const lines = Array.from({ length: 20 }, (_, index) => `line ${index}`)
    const failing = [
      "exit code 1",
      "TAP version 13",
      "ok 1 - a",
      "not ok 2 - b",
      "  expected: 3",
      "",
      "# fail 1",
    ]
    const session = atVerifier().add(
      made.checked("a1", "failed", { reason: failing.join("\n") }),
      made.checked("a2", "failed", { reason: ["exit code 2", ...lines].join("\n") }),
    )
    const text = told(eventsOf(session)).split("\n")
    const first = text.indexOf("[VERIFIER] ✗ a1 (command) — failed: exit code 1")
    expect(text.slice(first + 1, first + 5)).toEqual([
      ...["    not ok 2 - b", "      expected: 3", "    # fail 1"],
      "[VERIFIER] ✗ a2 (command) — failed: exit code 2",
    ])
    expect(text.slice(first + 5, first + 14)).toEqual(lines.slice(-8).map(line => `    ${line}`))
  })

  test("numbers cycles, and counts the steps that mend something", () => {
    const fixes = [{ taskId: "t1", stepId: "t1.fix1", description: "mend" }]
    const session = atVerifier().add(
      made.checked("a1", "failed", { reason: "exit 1" }),
      made.checked("a2", "inconclusive", { reason: "none configured" }),
      made.ended("verifier", "cycle"),
      made.cycle("verifier", "executor", fixes),
      made.moved("verifier", "executor"),
      made.entered("executor", { planVersion: 1, feedback: ["exit 1"] }),
    )
    const text = told(eventsOf(session))
    expect(text).toContain("[VERIFIER] ✗ a1 (command) — failed: exit 1")
    expect(text).toContain("[VERIFIER] ⚠ a2 (command) — inconclusive: none configured")
    expect(text).toContain("⚠ Cycle 1/3: verifier → executor")
    expect(text).toContain("[EXECUTOR] works on plan version 1, 2 steps")
  })

  test("goes on where an earlier process stopped", () => {
    const session = atStep()
    const more = [made.resumed(made.settingsOf()), made.stepEnded(session.state.steps[0] ?? never(), false)]
    const text = told(more, { seen: eventsOf(session) })
    expect(text.split("\n")).toEqual([
      "[SESSION] continues, resumed by ann: get it done",
      "[EXECUTOR] ✗ step 1/1 s1 (0 ms) — ACODE-EXEC-001: it failed",
    ])
  })

  test("counts tries as long as there is another one", () => {
    const failure = { kind: "rate_limit", message: "slow down", retryable: true, retryAfterMs: null }
    const vain = made.replied({ failure, stage: "planner" })
    const text = told([made.started(made.settingsOf({ modelRetriesMax: 2 })), vain, vain, vain])
    expect(text.match(/Retry \d\/\d/g)).toEqual(["Retry 1/2", "Retry 2/2"])
    expect(text).toContain("[PLANNER] ⚠ the model did not answer: slow down (rate_limit)")
    const useless = made.replied({ stage: "planner", problems: ["no goal", "no tasks"] })
    const long = made.replied({ failure: { ...failure, kind: "contextTooLong" }, stage: "planner" })
    const mixed = told([made.started(made.settingsOf()), vain, long, vain, long, useless, vain, useless])
    const counts = [...mixed.matchAll(/Retry (\d\/\d)/g)].map(([, count]) => count)
    expect(counts).toEqual(["1/2", "1/3", "2/2", "2/3", "1/2", "1/2", "2/2"])
    expect(told([made.started(made.settingsOf()), useless])).toContain(
      "[PLANNER] ⚠ the model's reply is not valid: no goal; no tasks — Retry 1/2",
    )
    const again = made.entered("verifier", { attempt: 2 })
    expect(told([made.started(made.settingsOf()), again])).toContain("— Retry 2/2")
    const final = made.replied({ failure: { ...failure, retryable: false } })
    expect(told([made.started(made.settingsOf()), final])).not.toContain("Retry")
  })

  test("lists what was refused at its end, and what waits for an answer first", () => {
    const error = { code: "ACODE-SEC-005", message: "outside the workspace", where: null, hint: null }
    const refused = made.callSettled("c1", { outcome: "denied", error })
    const text = told([made.callAsked("c1"), refused, made.asked("plan", "apr_00000007"), made.rested(10)])
    expect(text).toContain("[result] denied — ACODE-SEC-005: outside the workspace")
    expect(text).toContain("⚠ refused: [tool:write_file] — ACODE-SEC-005: outside the workspace")
    expect(text).toContain("next: acode approve 00000007  ·  acode resume 12345678")
    const asked = made.asked("action", "apr_00000008")
    const call = { ...asked, data: { ...asked.data, callId: "c2" } }
    const waiting = { ...error, code: "ACODE-EXEC-005" }
    const awaited = made.callSettled("c2", { outcome: "interrupted", certainty: "notDone", error: waiting })
    expect(told([made.callAsked("c2"), call, awaited, made.rested(10)])).toContain(
      "next: acode approve 00000008  ·  acode resume",
    )
    const answered = [made.asked("plan", "apr_7"), made.answered("granted", "apr_7", "fine"), made.rested(22)]
    expect(told(answered)).toContain("approval apr_7 granted by ann: fine")
    expect(told(answered)).not.toContain("acode approve")
  })

  test("says what a reader must not miss", () => {
    const text = told([
      newEvent(StageProgressed, { stage: "verifier", message: "10 tests", fraction: 0.5 }),
      newEvent(StepRefused, { taskId: "t1", stepId: "s1", modelCallId: "m", reason: "no file was changed" }),
      newEvent(TransitionRefused, { from: "reviewer", to: "complete", allowed: [], reason: "stale" }),
      newEvent(EscalationRaised, {
        level: "NoProgress",
        stage: "executor",
        reason: "r",
        advice: "a",
        exitCode: 22,
      }),
      finished({ state: "CANCELLED", exitCode: 23, unverified: true, reason: "cancelled by ann" }),
    ])
    expect(text.split("\n").slice(0, 6)).toEqual([
      "[VERIFIER] 10 tests (50 %)",
      "  ⚠ not finished: no file was changed",
      "[REVIEWER] ✗ does not move to complete: stale",
      "[EXECUTOR] ⚠ stopped: r",
      "✗ CANCELLED (exit 23): cancelled by ann",
      "session ses_00000000-12345678",
    ])
  })

  test("in silence is only its end", () => {
    const events = [...eventsOf(atReviewer()), made.rested(22)]
    expect(told(events, { quiet: true }).split("\n")).toHaveLength(4)
    expect(told(events, { quiet: true })).toStartWith("⚠ PAUSED (exit 22): it rests")
  })

  test("at length shows what the model says and what the tools answer, bounded and harmless", () => {
    const long = Array.from({ length: 25 }, (_, index) => `line ${index}`).join("\n")
    const events = [
      made.replied({ text: { kind: "inline", text: "I \u001b[2J write" } }),
      made.replied({ text: { kind: "artifact", ref: "sha256:ab", bytes: 9000 } }),
      made.callSettled("c1", { text: { kind: "inline", text: long } }),
    ]
    const text = told(events, { verbose: true })
    expect(text).toContain("    I \\x1b[2J write")
    expect(text).toContain("    (9000 bytes, sha256:ab)")
    expect(text).toContain("    line 19\n    … 5 more lines")
    expect(text).not.toContain("line 20")
    expect(told(events)).toBe("  [result] succeeded")
  })

  test("never lets foreign text act on the terminal", () => {
    const bad = "\u001b[2J\u202e"
    const error = { code: "E", message: bad, where: null, hint: null }
    const problems = [bad]
    const events = [
      made.callSettled("c1", { outcome: "failed", error, changed: [bad] }),
      made.replied({ stage: "reviewer", answer: { decision: "fix", summary: bad } }),
      made.replied({ problems }),
      made.checked(bad, "failed", { reason: bad }),
      made.answered("refused", "apr_1", bad),
      made.proposed(smallPlan({ goal: bad })),
      finished({ reason: bad }),
    ]
    const text = told(events, { verbose: true })
    expect(text).toContain("\\x1b[2J")
    expect(text).not.toContain("\u001b")
    expect(text).not.toContain("\u202e")
  })

  test("is coloured where it went well and where it did not", () => {
    const text = told([made.callSettled("c1"), made.checked("a1", "failed"), finished()], {
      paint: colourful,
    })
    expect(text).toContain("[result] <g>succeeded</g>")
    expect(text).toContain("[VERIFIER] <r>✗</r> a1")
    expect(text).toContain("<g>✓</g> COMPLETED")
  })
})

function never(): never {
  throw new Error("the session has a step")
}
