import { describe, expect, test } from "bun:test"
import { eventFilter } from "../../../../src/cli/commands/history/event-filter.ts"
import { manifest } from "../../../../src/domain/events/manifest.ts"
import { failureOf } from "../../../store/support/store-fixture.ts"

const of = (type: string, data: unknown = {}) => ({ type, data })

describe("a filter of events", () => {
  test("that was not given wants everything", () => {
    for (const { type } of manifest.definitions) expect(eventFilter(undefined)(of(type))).toBe(true)
  })

  test("wants the types it names and no others", () => {
    const isWanted = eventFilter("step.started | step.finished")
    const wanted = manifest.definitions.map(({ type }) => type).filter(type => isWanted(of(type)))
    expect(wanted.sort()).toEqual(["step.finished", "step.started"])
  })

  test.each([
    ["session_end", "session.rested"],
    ["stage_start", "stage.entered"],
    ["stage_complete", "stage.finished"],
    ["stage_transition", "stage.transitioned"],
    ["stage_transition", "transition.refused"],
    ["cycle_start", "cycle.started"],
    ["progress", "stage.progressed"],
    ["step_start", "step.started"],
    ["step_complete", "step.finished"],
    ["tool_call", "tool_call.requested"],
    ["tool_result", "tool_call.settled"],
    ["model_inference", "turn.finished"],
    ["token_usage", "turn.finished"],
    ["approval_request", "approval.requested"],
    ["command_execution_end", "command.finished"],
  ])("knows %s as %s", (other, type) => {
    expect(eventFilter(other)(of(type))).toBe(true)
    expect(eventFilter(other)(of("session.undone"))).toBe(false)
  })

  test.each([
    ["verification_failed", "check.finished", { verdict: "failed" }, { verdict: "passed" }],
    ["stage_timeout", "stage.finished", { status: "timeout" }, { status: "success" }],
    ["override", "approval.answered", { via: "flag" }, { via: "prompt" }],
    ["bypass", "session.started", { agent: { skipVerify: true } }, { agent: { skipVerify: false } }],
    ["skip", "session.resumed", { skipsFailed: true }, { skipsFailed: false }],
    ["skip", "approval.answered", { answer: "skipped" }, { answer: "granted" }],
  ])("knows %s as some %s, and not as others", (other, type, wanted, unwanted) => {
    expect(eventFilter(other)(of(type, wanted))).toBe(true)
    expect(eventFilter(other)(of(type, unwanted))).toBe(false)
    expect(eventFilter(other)(of("tool_call.settled", wanted))).toBe(false)
  })

  test("names only types that exist", () => {
    const names =
      "session_start|session_end|stage_start|stage_complete|stage_transition|stage_timeout|progress"
    for (const name of names.split("|"))
      expect(
        manifest.definitions.some(({ type }) => eventFilter(name)(of(type, { status: "timeout" }))),
        name,
      ).toBe(true)
  })

  test("with a name that does not exist says what was meant", () => {
    expect(failureOf(() => eventFilter("step.finnished")).report).toMatchObject({
      kind: "usage",
      code: "ACODE-CLI-002",
      message: '--filter: there is no event "step.finnished"',
      hint: "did you mean step.finished?",
    })
    expect(failureOf(() => eventFilter("step.started|")).report.code).toBe("ACODE-CLI-002")
    expect(failureOf(() => eventFilter("x\u001b[2J")).report.message).toContain("\\x1b[2J")
  })
})
