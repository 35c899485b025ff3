import { describe, expect, test } from "bun:test"
import { eventFilter } from "../../src/cli/event-filter.ts"
import { manifest } from "../../src/domain/events.ts"
import { failureOf } from "../store/support/store-fixture.ts"

describe("a filter of events", () => {
  test("that was not given wants everything", () => {
    for (const { type } of manifest.definitions) expect(eventFilter(undefined)(type)).toBe(true)
  })

  test("wants the types it names and no others", () => {
    const isWanted = eventFilter("step.started | step.finished")
    const wanted = manifest.definitions.map(({ type }) => type).filter(isWanted)
    expect(wanted.sort()).toEqual(["step.finished", "step.started"])
  })

  test.each([
    ["step_start", "step.started"],
    ["tool_result", "tool_call.settled"],
    ["approval_request", "approval.requested"],
    ["command_execution_end", "command.finished"],
  ])("knows %s as %s", (other, type) => {
    expect(eventFilter(other)(type)).toBe(true)
    expect(eventFilter(other)("session.started")).toBe(false)
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
