import { describe, expect, test } from "bun:test"
import { requestedCall, sessionView, settledCall } from "../../../src/domain/session/session-view.ts"
import { event } from "../../store/support/session-events.ts"

const asked = requestedCall({
  id: "cal_1",
  tool: "file_write",
  canonicalTool: "write_file",
  taskId: "t1",
  stepId: "s1",
  stepKey: null,
  requestedAt: "2026-01-02T03:04:05.000Z",
})
const later = "2026-01-02T03:04:09.000Z"
const change = { path: "a.txt", before: null, after: "sha256:1" }

describe("the view of a call", () => {
  test("that was only asked for says nothing about an effect", () => {
    expect(asked).toMatchObject({
      outcome: "open",
      certainty: null,
      effectClass: null,
      changes: [],
      settledAt: null,
    })
  })

  test("that is settled has its outcome and what it changed", () => {
    const changes = { kind: "inline" as const, value: [change] }
    const { data } = event.callSettled("cal_1", {
      paths: ["a.txt"],
      exitCode: 0,
      executionId: "exe_1",
      changes,
    })
    expect(settledCall(asked, data, later)).toMatchObject({
      id: "cal_1",
      tool: "file_write",
      outcome: "succeeded",
      certainty: "done",
      exitCode: 0,
      executionId: "exe_1",
      paths: ["a.txt"],
      changeCount: 1,
      changes: [change],
      changesArtifact: null,
      settledAt: later,
    })
  })

  test("with very many changes names where they are and how many", () => {
    const changes = { kind: "artifact" as const, ref: "sha256:abc", bytes: 9_000, count: 400 }
    const { data } = event.callSettled("cal_1", { changes })
    expect(settledCall(asked, data, later)).toMatchObject({
      changeCount: 400,
      changes: [],
      changesArtifact: "sha256:abc",
    })
  })

  test("that was refused has its error", () => {
    const error = { code: "ACODE-EXEC-005", message: "ada refused", where: null, hint: null }
    const { data } = event.callSettled("cal_1", { outcome: "refused", certainty: "notDone", error })
    expect(settledCall(asked, data, later)).toMatchObject({ outcome: "refused", certainty: "notDone", error })
  })

  test("carries neither what it gave back nor its diagnostics, which are evidence", () => {
    const { data } = event.callSettled("cal_1")
    expect(Object.keys(settledCall(asked, data, later)).sort()).toEqual(Object.keys(asked).sort())
  })

  test("takes class and approval from its intent; an intent without a request is passed over", () => {
    const events = [
      event.callRequested("cal_1"),
      event.callStarted("cal_1", { effectClass: "replace", approvalId: "apr_1" }),
      event.callStarted("cal_9"),
      event.callSettled("cal_9"),
    ].map(({ type, data }, index) => ({ seq: index + 1, at: later, type, data }))
    expect(sessionView("ses_1", events).calls).toMatchObject([
      { id: "cal_1", effectClass: "replace", approvalId: "apr_1", startedAt: later, outcome: "open" },
    ])
  })
})
