import { expect, test } from "bun:test"
import { manifest } from "../../src/domain/events.ts"

test("every event of the product is in the manifest, past tense and once", () => {
  expect(manifest.definitions.map(({ type, version }) => `${type}@${version}`)).toEqual([
    "command.started@1",
    "command.finished@1",
    "history.pruned@1",
    "session.started@1",
    "session.rested@1",
    "session.finished@1",
    "session.undone@1",
    "plan.approved@1",
    "step.started@1",
    "step.finished@1",
    "tool_call.requested@1",
    "tool_call.started@1",
    "tool_call.settled@1",
    "approval.requested@1",
    "approval.answered@1",
    "session.resumed@1",
    "session.paused@1",
    "session.cancelled@1",
    "control.requested@1",
    "stage.entered@1",
    "stage.progressed@1",
    "stage.finished@1",
    "stage.transitioned@1",
    "transition.refused@1",
    "cycle.started@1",
    "plan.proposed@1",
    "model.requested@1",
    "context.trimmed@1",
    "turn.finished@1",
    "step.refused@1",
    "check.finished@1",
    "escalation.raised@1",
  ])
  for (const { type, summary } of manifest.definitions) {
    expect(type).toMatch(/(ed|undone)$/)
    expect(summary).toMatch(/^[A-Z].+\.$/)
  }
})
